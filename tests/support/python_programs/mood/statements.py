from typing import Literal

import sglc


@sglc.sgl_function
def mood(s, of: str) -> Literal["good", "bad"]:
    s += s.user(of)
    s += s.assistant("Mood: " + s.gen("word", choices=["good", "bad"], temperature=0.5))
    return "good" if s["word"] == "good" else "bad"


@sglc.sgl_function
def moods(s, mails: list[str]) -> dict[str, int]:
    all = [mood(mail) for mail in mails]
    good = 0
    for word in all:
        if word == "good":
            good += 1
    return {"good": good, "all": len(all)}
