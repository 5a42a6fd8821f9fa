"""JSON as users give it: exact decimals, and one kind of refusal for everything that is not JSON."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any


class NotJson(ValueError):
    """Text that is not JSON; the message says where."""


def read_json(text: str) -> Any:
    """JSON with exact decimals; raises NotJson for anything else, including NaN and bottomless nesting."""

    def refuse(name: str) -> Any:
        raise NotJson(f"{name} is not JSON")

    try:
        return json.loads(text, parse_float=Decimal, parse_constant=refuse)
    except json.JSONDecodeError as problem:
        raise NotJson(f"{problem.msg} at line {problem.lineno}, column {problem.colno}") from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    except NotJson:
        raise
    except ValueError:
        raise NotJson("a number in it is too long") from None
