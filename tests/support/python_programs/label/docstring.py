import sglc


@sglc.fn(pure=True)
def is_long(text: str) -> str:
    """
    let words = text.split(" ")
    if len(words) > 3 and not (text.starts_with("A") or "?" in text): return "long"
    return words[0].upper() + ", ".join([word.lower() for word in words[1:3] if word != ""])
    """


@sglc.fn
def label(text: str) -> str:
    """
    user: | What is this? ${text}
    assistant: | ?{kind: "question" | "answer" | "other"}
    match kind:
        case "question": return "ask"
        case "answer" | "other": return is_long(text)
    """
