import sglc


@sglc.sgl_function
def rules(s, tone: str) -> None:
    s += f"Be {tone}.\n"
    s += "Answer in one line.\n"


@sglc.sgl_function(within=80)
def answer(s, question: str, tone: str = "kind") -> str:
    with s.user():
        rules(s, tone)
        s += question
    s += s.assistant(s.gen("line", max_chars=100))
    return s["line"]
