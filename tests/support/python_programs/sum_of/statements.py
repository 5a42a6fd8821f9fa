import sglc


@sglc.sgl_function
def sum_of(s, a: int, b: int) -> int:
    s += s.user(f"What is {a} + {b}?")
    with s.assistant():
        with s.forget():
            s += "First: " + s.gen("guess", type="int in 0..2000") + "\n"
        s.think(max_tokens=60, temperature=0.6)
        s += "So the answer is " + s.gen("answer", type="int in 0..2000")
        s.ensure(s["answer"] >= s["guess"] - 100, f"{s['answer']} is too far from {s['guess']}", retry=2)
    return s["answer"]
