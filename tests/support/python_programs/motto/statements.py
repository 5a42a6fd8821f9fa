import sglc


@sglc.sgl_function
def motto(s, of: str) -> str:
    s += s.user(f"Write a motto for {of}.")
    tries = s.fork(3)
    for t in tries:
        t += t.assistant(t.gen("line", min_chars=5, max_chars=60, temperature=0.9))
        t.finish(len(t["line"]))
    shortest = min(tries, key=lambda t: t.value)
    s.adopt(shortest)
    return shortest.line
