import re
from typing import Literal

import sglc

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["n"],
    "additionalProperties": False,
}


@sglc.sgl_function
def shout(s, text: str) -> str:
    s += text + " " + s.select("loud", ["YES", "NO"], by="mean")
    return s["loud"]


@sglc.sgl_function(within=900, using="small")
def options(s, text: str) -> str:
    with s.user():
        s += text
    with s.assistant():
        s += s.gen("data", json_schema=SCHEMA) + "\n"
        s += (
            s.gen("free", stop=[".", "!"], max_tokens=40, temperature=0.9, top_k=40, min_p=0.1, seed=7)
            + ".\n"
        )
        s += s.gen("kinds", type=Literal["a", "b", "c"], n=2, distinct=True, temperature=1.0) + "\n"
        with s.using("big"):
            s += s.gen(
                "deep",
                max_chars=30,
                where=lambda it: it.startswith("A"),
                temperature=0.7,
                decode="smc(4)",
            )
            s += "\n"
        with s.par():
            first = shout(text)
            second = shout(s["free"])
        last = s.gen(type=bool, using="big")
    assert last and re.fullmatch("[A-Z ]+", first), "no"
    return first + second
