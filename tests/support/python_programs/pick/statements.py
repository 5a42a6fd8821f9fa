import sglc


@sglc.sgl_function
def pick(s, least: int, taken: list[int], words: list[str]) -> tuple[int, str]:
    s += s.user(f"A multiple of six above {least}, please.")
    with s.assistant():
        s += s.gen("n", type="int in 0..99", where=lambda n: n > least and n % 3 == 0 and n not in taken)
        s += "\n" + s.choose("word", words, temperature=0.5)
    return (s["n"], s["word"])
