from typing import Literal

import sglc


@sglc.fn
def mood(of: str) -> Literal["good", "bad"]:
    """
    user: | ${of}
    assistant: | Mood: ?{word: choose ["good", "bad"] temp 0.5}
    return "good" if word == "good" else "bad"
    """


@sglc.fn
def moods(mails: list[str]) -> dict[str, int]:
    """
    let all = [mood(mail) for mail in mails]
    var good = 0
    for word in all:
        if word == "good": good += 1
    return {"good": good, "all": len(all)}
    """
