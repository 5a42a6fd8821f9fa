from enum import Enum

import sglc


class Desk(Enum):
    billing = 1
    repairs = 2


@sglc.fn
def route(message: str) -> tuple[Desk, bool]:
    """
    user: | Which desk? ${message}
    assistant: | ?{desk: select Desk by contrast}
    if desk.p(desk.top) > 0.8:
        return (desk.top, true)
    elif desk.top == billing:
        return (repairs, false)
    else:
        return (desk.top, false)
    """
