from enum import Enum

import sglc


class Desk(Enum):
    billing = 1
    repairs = 2


@sglc.sgl_function
def route(s, message: str) -> tuple[Desk, bool]:
    s += s.user("Which desk? " + message)
    s += s.assistant(s.select("desk", Desk, by="contrast"))
    if s["desk"].p(s["desk"]) > 0.8:
        return (s["desk"], True)
    elif s["desk"] == Desk.billing:
        return (Desk.repairs, False)
    else:
        return (s["desk"], False)
