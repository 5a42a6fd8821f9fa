import sglc


@sglc.fn
def rules(tone: str) -> None:
    """| Be ${tone}.
    | Answer in one line."""


@sglc.fn(within=80)
def answer(question: str, tone: str = "kind") -> str:
    """
    user:
        part rules(tone)
        | ${question}
    assistant: | ?{line: str max 100 chars}
    return line
    """
