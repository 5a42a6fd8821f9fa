from typing import Literal

import sglc

Kind = Literal["question", "answer", "other"]


@sglc.sgl_function(pure=True)
def is_long(text: str) -> str:
    words = text.split(" ")
    if len(words) > 3 and not (text.startswith("A") or "?" in text):
        return "long"
    return words[0].upper() + ", ".join(word.lower() for word in words[1:3] if word != "")


@sglc.sgl_function
def label(s, text: str) -> str:
    s += s.user(f"What is this? {text}")
    s += s.assistant(s.gen("kind", type=Kind))
    match s["kind"]:
        case "question":
            return "ask"
        case "answer" | "other":
            return is_long(text)
