"""Types of SQL columns as types."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from sglc.importers.core.constants import one_of_constants
from sglc.importers.core.fault import SourceFault
from sglc.types.type import AliasType, Bool, Dec, Float, Int, Json, Named, Str, Type, matching

_DAY = (
    r"([0-9]{3}[1-9]|[0-9]{2}[1-9][0-9]|[0-9][1-9][0-9]{2}|[1-9][0-9]{3})-"
    r"((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
    r"|([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29"
)
_TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_ZONE = r"(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
DATE = AliasType("date", matching(_DAY), "a day such as 2024-02-29")
TIME = AliasType("time", matching(_TIME), "a time such as 07:30:00")
TIMESTAMPTZ = AliasType(
    "timestamptz", matching(f"({_DAY})T{_TIME}{_ZONE}"), "a moment such as 2024-02-29T07:30:00Z"
)
UUID = AliasType("uuid", matching(_UUID), "a UUID in small letters")

MAX_PRECISION = 60
MAX_SCALE = 10
"""Digits after the point of a decimal of the language."""

_INTEGERS: dict[str, tuple[int, int] | None] = {
    "TINYINT": (-(2**7), 2**7 - 1),
    "SMALLINT": (-(2**15), 2**15 - 1),
    "INT2": (-(2**15), 2**15 - 1),
    "MEDIUMINT": (-(2**23), 2**23 - 1),
    "INTEGER": None,
    "INT": None,
    "INT4": None,
    "BIGINT": None,
    "INT8": None,
    "SERIAL": None,
    "BIGSERIAL": None,
    "SMALLSERIAL": (1, 2**15 - 1),
}
_UNSIGNED = {"TINYINT": 2**8 - 1, "SMALLINT": 2**16 - 1, "MEDIUMINT": 2**24 - 1}
_SIZED_TEXTS = frozenset(
    {
        "VARCHAR",
        "CHARACTER VARYING",
        "CHAR VARYING",
        "CHAR",
        "CHARACTER",
        "NCHAR",
        "NVARCHAR",
        "VARCHAR2",
        "NVARCHAR2",
        "NATIONAL CHARACTER",
        "NATIONAL CHARACTER VARYING",
        "NATIONAL CHAR",
        "NATIVE CHARACTER",
        "VARYING CHARACTER",
        "NATIONAL CHAR VARYING",
        "BPCHAR",
    }
)
_TEXTS = frozenset({"TEXT", "CLOB", "NCLOB", "CHARACTER LARGE OBJECT", "STRING"})
_FLOATS = frozenset({"REAL", "FLOAT", "DOUBLE", "DOUBLE PRECISION", "FLOAT4", "FLOAT8"})
_DECIMALS = frozenset({"NUMERIC", "DECIMAL", "DEC", "NUMBER"})
_WITH_ZONE = frozenset({"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ"})
_REFUSED = {
    "BLOB": "bytes have no JSON",
    "BYTEA": "bytes have no JSON",
    "BINARY": "bytes have no JSON",
    "VARBINARY": "bytes have no JSON",
    "MONEY": "how it is written depends on the database",
    "INTERVAL": "how it is written depends on the database",
    "XML": "XML has no type here",
    "BIT": "bits have no JSON",
    "INET": "how it is written depends on the database",
    "ANY": "it may hold anything",
    "GEOMETRY": "shapes have no JSON",
}
SERIALS = frozenset({"SERIAL", "BIGSERIAL", "SMALLSERIAL"})
"""Types whose values the database counts up itself."""


@dataclass(frozen=True, slots=True)
class Written:
    """The type of a column as it is written: its words in capitals, and what stands in parentheses."""

    words: str
    arguments: tuple[str | int, ...]
    behind: str
    """Words behind the parentheses."""
    start: int
    end: int

    @property
    def name(self) -> str:
        """The type as it is written, for messages."""
        return f"{self.words} {self.behind}".strip()


def column_type(written: Written) -> tuple[Type, AliasType | None]:
    """The type, and its declaration where it is a declared one. Raises SourceFault."""
    name, arguments = written.name, written.arguments
    unsigned = name.endswith(" UNSIGNED") or name.startswith("UNSIGNED ")
    if unsigned:
        name = re.sub(r"\bUNSIGNED\b", "", name).strip()
    if name == "BIG INT":
        name = "BIGINT"
    if name in _INTEGERS:
        if len(arguments) > 1 or any(isinstance(argument, str) for argument in arguments):
            raise _bad_arguments(written)
        return _integer(name, unsigned), None  # a width of display says nothing of the value
    if unsigned and name not in _DECIMALS | _FLOATS:
        raise _unknown(written)
    if name in _DECIMALS:
        return _decimal(written, unsigned), None
    if name in _FLOATS:
        if arguments and (name != "FLOAT" or not isinstance(arguments[0], int) or len(arguments) > 1):
            raise _bad_arguments(written)
        return Float(minimum=Decimal(0) if unsigned else None), None
    if name in _SIZED_TEXTS:
        return _text(written, name), None
    if name in _TEXTS:
        if arguments:
            raise _bad_arguments(written)
        return Str(), None
    if name in ("BOOLEAN", "BOOL"):
        return Bool(), None
    if name in ("JSON", "JSONB"):
        return Json(), None
    if name == "ENUM":
        return _enumeration(written), None
    found = _moment(written, name)
    if found is None:
        reason = _REFUSED.get(name.split(" ")[0])
        if reason is not None:
            raise SourceFault(written.start, written.end, f"{name} cannot be a type: {reason}")
        raise _unknown(written)
    return Named(found.name), found


def _integer(name: str, unsigned: bool) -> Int:
    if unsigned:
        return Int(0, _UNSIGNED.get(name))
    bounds = _INTEGERS[name]
    return Int(*bounds) if bounds is not None else Int()


def _decimal(written: Written, unsigned: bool) -> Type:
    low = Decimal(0) if unsigned else None
    if not written.arguments:
        return Dec(low)
    numbers = [argument for argument in written.arguments if isinstance(argument, int)]
    if len(numbers) != len(written.arguments) or len(numbers) > 2:
        raise _bad_arguments(written)
    precision, scale = numbers[0], numbers[1] if len(numbers) == 2 else 0
    if not 1 <= precision <= MAX_PRECISION or not 0 <= scale <= precision:
        raise SourceFault(
            written.start,
            written.end,
            f"digits are 1 to {MAX_PRECISION} in all, and not more behind the point",
        )
    if scale > MAX_SCALE:
        raise SourceFault(
            written.start, written.end, f"a decimal has at most {MAX_SCALE} digits behind the point"
        )
    if not scale:
        most = 10**precision - 1
        return Int(0 if unsigned else -most, most)
    largest = Decimal(f"{'9' * (precision - scale) or '0'}.{'9' * scale}")
    return Dec(-largest if low is None else low, largest, Decimal(1).scaleb(-scale))


def _text(written: Written, name: str) -> Str:
    if not written.arguments:
        # Without a length it is one character in standard SQL, any text in SQLite.
        if name.endswith(("VARYING", "VARCHAR")) or name in ("VARCHAR2", "NVARCHAR2", "BPCHAR"):
            return Str()
        raise SourceFault(written.start, written.end, f"{name} needs a length", f"write {name}(1)")
    if len(written.arguments) > 1 or not isinstance(written.arguments[0], int):
        raise _bad_arguments(written)
    return Str(max_chars=written.arguments[0])


def _enumeration(written: Written) -> Type:
    texts = [argument for argument in written.arguments if isinstance(argument, str)]
    if not texts or len(texts) != len(written.arguments):
        raise _bad_arguments(written)
    return one_of_constants(texts, written.start, written.end)


def _moment(written: Written, name: str) -> AliasType | None:
    """Dates, times and moments as standard SQL writes them."""
    digits = written.arguments[0] if written.arguments else 0
    if not isinstance(digits, int) or len(written.arguments) > 1 or digits > 9:
        return None
    fraction = rf"(\.[0-9]{{1,{digits}}})?" if digits else ""
    if name == "DATE" and not written.arguments:
        return DATE
    if name == "UUID" and not written.arguments:
        return UUID
    if name in ("TIME", "TIME WITHOUT TIME ZONE"):
        return AliasType(f"time{digits or ''}", matching(_TIME + fraction), "a time such as 07:30:00")
    if name in ("TIMESTAMP", "DATETIME", "TIMESTAMP WITHOUT TIME ZONE"):
        pattern = f"({_DAY}) {_TIME}{fraction}"
        return AliasType(
            f"timestamp{digits or ''}", matching(pattern), "a moment such as 2024-02-29 07:30:00"
        )
    if name in _WITH_ZONE:
        pattern = f"({_DAY})T{_TIME}{fraction}{_ZONE}"
        return AliasType(
            f"timestamptz{digits or ''}", matching(pattern), "a moment such as 2024-02-29T07:30:00Z"
        )
    return None


def _bad_arguments(written: Written) -> SourceFault:
    return SourceFault(
        written.start, written.end, f"what stands in the parentheses of {written.words} is not understood"
    )


def _unknown(written: Written) -> SourceFault:
    return SourceFault(
        written.start,
        written.end,
        f"{written.name} is no type of a column that is known",
        "known are INTEGER, NUMERIC(p, s), REAL, TEXT, VARCHAR(n), BOOLEAN, DATE, TIME, TIMESTAMP, JSON, …",
    )
