"""What a module of Pydantic models needs besides the models: imports, and validators that `Field` lacks."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FROM_PYDANTIC = (
    "AfterValidator",
    "BaseModel",
    "BeforeValidator",
    "ConfigDict",
    "Field",
    "JsonValue",
    "PlainSerializer",
    "StrictBool",
    "StrictFloat",
    "StrictInt",
    "StrictStr",
)
_HELPERS = {
    r"Digits\b": '''\
def decimal(value: object) -> object:
    """A decimal from a number, or from a text with all its digits."""
    match value:
        case bool():
            pass
        case int() | Decimal():
            return Decimal(value)
        case float():
            return Decimal(repr(value))
        case str() if re.fullmatch(r"-?[0-9]+(\\.[0-9]+)?", value):
            return Decimal(value)
    raise ValueError("a number is due")


def plain(value: Decimal) -> int | float | str:
    """A number where a float holds the decimal exactly, else a text with all its digits."""
    if value == value.to_integral_value() and value.adjusted() < 18:
        return int(value)
    nearest = float(value)
    return nearest if Decimal(repr(nearest)) == value else f"{value:f}"


Digits = Annotated[Decimal, BeforeValidator(decimal), PlainSerializer(plain, when_used="json")]''',
    r"exactly\(": '''\
def exactly(number: str) -> Callable[[object], object]:
    """One decimal, as a number."""

    def check(value: object) -> object:
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            if Decimal(repr(value) if isinstance(value, float) else value) == Decimal(number):
                return Decimal(number)
        raise ValueError(f"{number} is due")

    return check''',
    r"only\(": '''\
def only(wanted: bool | int) -> Callable[[object], object]:
    """One boolean or integer: `Literal[True]` alone takes 1 too."""

    def check(value: object) -> object:
        if isinstance(value, bool) == isinstance(wanted, bool) and value == wanted:
            return wanted
        raise ValueError(f"{wanted} is due")

    return check''',
    r"multiple_of\(": '''\
def multiple_of(step: str) -> Callable[[Decimal], Decimal]:
    """An exact multiple, whatever the digits."""
    below, above = Decimal(step).as_integer_ratio()

    def check(value: Decimal) -> Decimal:
        top, bottom = value.as_integer_ratio()
        if top * above % (bottom * below):
            raise ValueError(f"no multiple of {step}")
        return value

    return check''',
    r"matching\(": '''\
def matching(*patterns: str) -> Callable[[str], str]:
    """Each pattern matches the whole text."""

    def check(text: str) -> str:
        for pattern in patterns:
            if not re.fullmatch(pattern, text):
                raise ValueError(f"it does not match {pattern}")
        return text

    return check''',
    r"without\(": '''\
def without(*patterns: str) -> Callable[[str], str]:
    """No pattern matches anywhere in the text."""

    def check(text: str) -> str:
        for pattern in patterns:
            if re.search(pattern, text):
                raise ValueError(f"it has {pattern}")
        return text

    return check''',
}
_CONFIG = """\
CONFIG = ConfigDict(extra="forbid", serialize_by_alias=True, protected_namespaces=())"""


def module_text(classes: Sequence[str]) -> str:
    """The module of these declarations, with what they use."""
    body = "\n\n\n".join(classes)
    if "model_config = CONFIG" in body:
        body = f"{_CONFIG}\n\n\n{body}"
    needed = [text for name, text in _HELPERS.items() if re.search(rf"\b{name}", body)]
    body = "\n\n\n".join((*needed, body))
    return "\n".join((*_imports(body), "\n", body, ""))


def _imports(body: str) -> list[str]:
    def uses(name: str) -> bool:
        return re.search(rf"\b{name}\b", body) is not None

    lines = ["from __future__ import annotations", ""]
    lines += ["import re"] if uses(r"re\.\w+") else []
    lines += ["from collections.abc import Callable"] if uses("Callable") else []
    lines += ["from decimal import Decimal"] if uses("Decimal") else []
    lines += ["from enum import Enum"] if uses("Enum") else []
    typing = [name for name in ("Annotated", "Literal") if uses(name)]
    lines += [f"from typing import {', '.join(typing)}"] if typing else []
    pydantic = [name for name in _FROM_PYDANTIC if uses(name)]
    lines += ["", f"from pydantic import {', '.join(pydantic)}"] if pydantic else []
    lines += ["from typing_extensions import TypeAliasType"] if uses("TypeAliasType") else []
    return lines
