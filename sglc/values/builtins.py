"""Built-in functions and methods, under the names of the checker's table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from typing import TypeVar

from sglc.types.arithmetic import DECIMALS, NUMBER_DIGITS, Number, absolute, number_fault
from sglc.types.equality import key_of
from sglc.types.type import TypeTable
from sglc.types.values import Parsed, RecordValue
from sglc.values.kinds import TEXT_LIMIT, MachineValue, ValueFault, as_kind, kind, wrong_kind
from sglc.values.operators import BINARY, contains, occurrences, same
from sglc.values.text import display

N = TypeVar("N", bound=Number)
Function = Callable[[list[object], TypeTable], object]

"""What a built-in does with its arguments, the receiver of a method first."""


def _items(value: object) -> Iterable[object]:
    """What can be gone over: items of a list, tuple or range, keys of a map, characters of a text."""
    if isinstance(value, list | tuple | range | dict | str):
        return value
    raise wrong_kind(value)


def _text(value: object) -> str:
    return as_kind(value, str)


def _size(arguments: list[object], table: TypeTable) -> int:
    value = arguments[0]
    if isinstance(value, str | list | tuple | dict | range):
        return len(value)
    raise ValueFault(f"{kind(value)} has no length")


def _sum(arguments: list[object], table: TypeTable) -> object:
    total: object = 0
    for item in _items(arguments[0]):
        total = BINARY["+"](total, item)
    return total


def _best(symbol: str, items: list[object], keys: list[object] | None) -> object:
    """The first item that no other beats."""
    if not items:
        raise ValueFault(f"an empty list has no {'largest' if symbol == '>' else 'smallest'} item")
    keys = items if keys is None else keys
    better = BINARY[symbol]
    best = 0
    for index in range(1, len(items)):
        if better(keys[index], keys[best]):
            best = index
    return items[best]


def _extreme(symbol: str) -> Function:
    def pick(arguments: list[object], table: TypeTable) -> object:
        items = list(_items(arguments[0])) if len(arguments) == 1 else arguments
        return _best(symbol, items, None)

    return pick


class _Key:
    """Orders values as the language's `<` does."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value

    def __lt__(self, other: _Key) -> bool:
        return bool(BINARY["<"](self.value, other.value))


def _sort(items: list[object], keys: list[object] | None) -> list[object]:
    order = sorted(range(len(items)), key=lambda i: _Key((items if keys is None else keys)[i]))
    return [items[i] for i in order]


def _groups(items: list[object], keys: list[object]) -> list[object]:
    """Pairs of a key and the items that have it, in the order in which the keys occur."""
    found: dict[object, tuple[object, list[object]]] = {}
    try:
        for item, key in zip(items, keys, strict=True):
            found.setdefault(key_of(key), (key, []))[1].append(item)
    except RecursionError:
        raise ValueFault("a key is nested too deeply") from None
    return list(found.values())


def _to_int(arguments: list[object], table: TypeTable) -> int:
    value = arguments[0]
    try:
        if isinstance(value, str):
            text = value.strip()
            if len(text) > 1000:
                raise ValueFault("the text is too long for a number")
            value = text.replace("_", "x")
        elif not isinstance(value, int | float | Decimal):
            raise wrong_kind(value)
        return _numbered(int(value))
    except (ValueError, OverflowError, TypeError):
        raise ValueFault(f"{_shown(value)} is no integer") from None


def _to_decimal(arguments: list[object], table: TypeTable) -> Decimal:
    value = arguments[0]
    try:
        if isinstance(value, float):
            result = Decimal(repr(value))
        elif isinstance(value, str):
            result = Decimal(value.strip().replace("_", "x"))
        elif isinstance(value, int | Decimal):
            result = Decimal(value)
        else:
            raise wrong_kind(value)
    except (InvalidOperation, TypeError, ValueError):
        raise ValueFault(f"{_shown(value)} is no decimal number") from None
    if not result.is_finite():
        raise ValueFault(f"{_shown(value)} is no decimal number")
    return _numbered(result)


def _numbered(value: N) -> N:
    if (fault := number_fault(value)) is not None:
        raise ValueFault(f"{_shown(value)} is no number of the language: {fault}")
    return value


def _to_float(arguments: list[object], table: TypeTable) -> float:
    value = arguments[0]
    try:
        if not isinstance(value, str | int | float | Decimal):
            raise wrong_kind(value)
        result = float(value.replace("_", "x") if isinstance(value, str) else value)
    except (ValueError, OverflowError, TypeError):
        raise ValueFault(f"{_shown(value)} is no number") from None
    if not math.isfinite(result):
        raise ValueFault(f"{_shown(value)} is no finite number")
    return result


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else text[:37] + "…"


def _round(arguments: list[object], table: TypeTable) -> object:
    value = arguments[0]
    digits = arguments[1] if len(arguments) > 1 else None
    if not isinstance(value, int | float | Decimal):
        raise wrong_kind(value)
    if digits is not None and not isinstance(digits, int):
        raise wrong_kind(digits)
    if isinstance(value, int):
        if digits is None or digits >= 0:
            return value
        return _numbered(round(value, max(digits, -NUMBER_DIGITS)))
    if digits is None:
        if isinstance(value, Decimal):
            return int(value.to_integral_value(ROUND_HALF_EVEN))
        return round(value)
    digits = max(-30, min(30, digits))
    if isinstance(value, Decimal):
        try:
            return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN, DECIMALS)
        except InvalidOperation:
            return value
    return round(value, digits)


def _absolute(arguments: list[object], table: TypeTable) -> object:
    value = arguments[0]
    if isinstance(value, int | float | Decimal):
        return absolute(value)
    raise wrong_kind(value)


FUNCTIONS: Mapping[str, Function] = {
    "len": _size,
    "trust": lambda a, t: a[0],
    "sum": _sum,
    "min": _extreme("<"),
    "max": _extreme(">"),
    "sorted": lambda a, t: _sort(list(_items(a[0])), None),
    "reversed": lambda a, t: list(_items(a[0]))[::-1],
    "str": lambda a, t: display(a[0], t),
    "int": _to_int,
    "decimal": _to_decimal,
    "float": _to_float,
    "round": _round,
    "abs": _absolute,
    "any": lambda a, t: any(_items(a[0])),
    "all": lambda a, t: all(_items(a[0])),
    "zip": lambda a, t: [tuple(pair) for pair in zip(_items(a[0]), _items(a[1]), strict=False)],
    "enumerate": lambda a, t: [(index, item) for index, item in enumerate(_items(a[0]))],
    "keys": lambda a, t: list(_items(a[0])),
    "values": lambda a, t: list(as_kind(a[0], dict).values()),
}


def _join(parts: list[str], separator: str) -> str:
    if sum(map(len, parts)) + len(separator) * len(parts) > TEXT_LIMIT:
        raise ValueFault(f"a text grew beyond {TEXT_LIMIT} characters")
    return separator.join(parts)


def _replace(arguments: list[object], table: TypeTable) -> str:
    text, old, new = map(_text, arguments)
    if text.count(old) * max(0, len(new) - len(old)) + len(text) > TEXT_LIMIT:
        raise ValueFault(f"a text grew beyond {TEXT_LIMIT} characters")
    return text.replace(old, new)


def _split(arguments: list[object], table: TypeTable) -> list[str]:
    text = _text(arguments[0])
    separator = arguments[1] if len(arguments) > 1 else None
    if separator is None:
        return text.split()
    separator = _text(separator)
    if not separator:
        raise ValueFault("the separator of `split` is empty")
    return text.split(separator)


def _title(arguments: list[object], table: TypeTable) -> str:
    return " ".join(word[:1].upper() + word[1:].lower() for word in _text(arguments[0]).split(" "))


def _part(arguments: list[object], table: TypeTable) -> object:
    """What a rule of its grammar wrote of a text: see `PartSymbol` of the checker.

    The text of a grammar with parameters knows its grammar, the values of the parameters put in.
    """
    from sglc.types.grammar_text import parameters_of, part_type, parts_of  # loads all of grammars

    text, grammar, rule = map(_text, arguments[:3])
    if isinstance(text, Parsed) and parameters_of(grammar):
        grammar = text.grammar
    try:
        # With the values of a run a grammar may have lost a rule: an empty list leaves none of its texts.
        known = part_type(grammar, rule)
        found = [Parsed(part, known[0]) for part in parts_of(text, grammar, rule)] if known else []
    except ValueError as fault:
        raise ValueFault(f"`{rule}` of {_shown(text)} is not known: {fault}") from None
    if arguments[3] == "many":
        return found
    return found[0] if found else None


STRING: Mapping[str, Function] = {
    "upper": lambda a, t: _text(a[0]).upper(),
    "lower": lambda a, t: _text(a[0]).lower(),
    "title": _title,
    "strip": lambda a, t: _text(a[0]).strip(),
    "split": _split,
    "join": lambda a, t: _join([display(x, t) for x in _items(a[1])], _text(a[0])),
    "replace": _replace,
    "starts_with": lambda a, t: _text(a[0]).startswith(_text(a[1])),
    "ends_with": lambda a, t: _text(a[0]).endswith(_text(a[1])),
    "contains": lambda a, t: contains(a[0], a[1]),
    "find": lambda a, t: _text(a[0]).find(_text(a[1])),
    "count": lambda a, t: _text(a[0]).count(_text(a[1])),
    "lines": lambda a, t: _text(a[0]).splitlines(),
    "words": lambda a, t: _text(a[0]).split(),
    "part of": _part,
}


def _sequence(value: object) -> Sequence[object]:
    if isinstance(value, list | range | tuple):
        return value
    raise wrong_kind(value)


def _keys_of(arguments: list[object]) -> list[object] | None:
    if len(arguments) == 1 or arguments[1] is None:
        return None
    return list(_items(arguments[1]))


def _first(arguments: list[object], table: TypeTable) -> object:
    items = _sequence(arguments[0])
    if not items:
        raise ValueFault("an empty list has no first item")
    return items[0]


def _last(arguments: list[object], table: TypeTable) -> object:
    items = _sequence(arguments[0])
    if not items:
        raise ValueFault("an empty list has no last item")
    return items[-1]


def _by_id(arguments: list[object], table: TypeTable) -> object:
    for item in _items(arguments[0]):
        if isinstance(item, RecordValue) and same(item.fields.get("id"), arguments[1]):
            return item
    raise ValueFault(f"no item has the id {_shown(arguments[1])}")


LIST: Mapping[str, Function] = {
    "max": lambda a, t: _best(">", list(_items(a[0])), _keys_of(a)),
    "min": lambda a, t: _best("<", list(_items(a[0])), _keys_of(a)),
    "sort": lambda a, t: _sort(list(_items(a[0])), _keys_of(a)),
    "group": lambda a, t: _groups(list(_items(a[0])), list(_items(a[1]))),
    "first": _first,
    "last": _last,
    "by_id": _by_id,
    "contains": lambda a, t: contains(a[0], a[1]),
    "count": lambda a, t: occurrences(_sequence(a[0]), a[1]),
    "join": lambda a, t: _join([display(x, t) for x in _items(a[0])], _text(a[1])),
}


def _get(arguments: list[object], table: TypeTable) -> object:
    """The entry of a map, else the third argument, else null."""
    entries, key = as_kind(arguments[0], dict), arguments[1]
    if contains(entries, key):
        found: object = entries[key]
        return found
    return arguments[2] if len(arguments) > 2 else None


MAP: Mapping[str, Function] = {
    "get": _get,
    "keys": lambda a, t: list(_items(a[0])),
    "values": lambda a, t: list(as_kind(a[0], dict).values()),
    "contains": lambda a, t: contains(a[0], a[1]),
}


def call_function(name: str, arguments: list[object], table: TypeTable) -> object:
    """The result of a built-in function. Raises ValueFault; TypeError for kinds no checked program gives."""
    function = FUNCTIONS.get(name)
    if function is None:
        raise ValueFault(f"there is no built-in function `{name}`")
    return function(arguments, table)


def call_method(name: str, arguments: list[object], table: TypeTable) -> object:
    """The result of a method; the receiver is the first argument. Raises as `call_function`."""
    receiver = arguments[0]
    methods: Mapping[str, Function] = {}
    if isinstance(receiver, str):
        methods = STRING
    elif isinstance(receiver, list | range | tuple):
        methods = LIST
    elif isinstance(receiver, dict):
        methods = MAP
    elif isinstance(receiver, MachineValue) and name in receiver.methods:
        return receiver.methods[name](arguments)
    method = methods.get(name)
    if method is None:
        raise ValueFault(f"{kind(receiver)} has no method `{name}`")
    return method(arguments, table)
