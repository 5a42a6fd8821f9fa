"""Regular expressions as small programs, for places that have no lookaround: tree-sitter's scanner, Emacs.

An instruction is a tuple: `("char", code)`, `("set", negated, items)` with items `(first, last)` and classes `w`
and `d`, `("any",)`, `("split", first, second)`, `("jump", to)`, `("ahead", wanted, to)` whose program follows it up
to `("match",)`, `("border",)` for the end of a word, `("end",)` for the end of a line, `("match",)`.
"""

from __future__ import annotations

import re
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as reader  # type: ignore[attr-defined]

Instruction = tuple[object, ...]


def program(regex: str) -> list[Instruction]:
    """The program of a regular expression; raises ValueError for what it has no instruction for."""
    made: list[Instruction] = []
    _sequence(reader.parse(regex, re.MULTILINE), made)
    made.append(("match",))
    return made


def _sequence(parsed: object, made: list[Instruction]) -> None:
    for kind, argument in parsed:  # type: ignore[attr-defined]
        _part(kind, argument, made)


def _part(kind: object, argument: object, made: list[Instruction]) -> None:
    if kind is kinds.LITERAL:
        made.append(("char", argument))
    elif kind is kinds.NOT_LITERAL:
        made.append(("set", True, ((argument, argument),)))
    elif kind is kinds.ANY:
        made.append(("any",))
    elif kind is kinds.IN:
        made.append(_set(argument))
    elif kind is kinds.SUBPATTERN:
        _sequence(argument[3], made)  # type: ignore[index]
    elif kind is kinds.BRANCH:
        _branch(argument[1], made)  # type: ignore[index]
    elif kind is kinds.MAX_REPEAT:
        _repeat(argument, made)
    elif kind in (kinds.ASSERT, kinds.ASSERT_NOT) and argument[0] == 1:  # type: ignore[index]
        place = len(made)
        made.append(())
        _sequence(argument[1], made)  # type: ignore[index]
        made.append(("match",))
        made[place] = ("ahead", kind is kinds.ASSERT, len(made))
    elif kind is kinds.AT and argument is kinds.AT_BOUNDARY:
        made.append(("border",))
    elif kind is kinds.AT and argument is kinds.AT_END:
        made.append(("end",))
    else:
        raise ValueError(f"there is no instruction for {kind} {argument}")


def _set(argument: object) -> Instruction:
    negated, items = False, []
    for kind, value in argument:  # type: ignore[attr-defined]
        if kind is kinds.NEGATE:
            negated = True
        elif kind is kinds.LITERAL:
            items.append((value, value))
        elif kind is kinds.RANGE:
            items.append(value)
        else:
            name = str(value).rpartition("_")[2].lower()
            negated_class = "_NOT_" in str(value)
            items.append((name[0].upper() if negated_class else name[0],))
    return ("set", negated, tuple(items))


def _branch(arms: list[object], made: list[Instruction]) -> None:
    ends = []
    for number, arm in enumerate(arms):
        if number < len(arms) - 1:
            place = len(made)
            made.append(())
            _sequence(arm, made)
            ends.append(len(made))
            made.append(())
            made[place] = ("split", place + 1, len(made))
        else:
            _sequence(arm, made)
    for place in ends:
        made[place] = ("jump", len(made))


def _repeat(argument: object, made: list[Instruction]) -> None:
    least, most, inner = argument  # type: ignore[misc]
    for _ in range(least):
        _sequence(inner, made)
    if most is kinds.MAXREPEAT:
        place = len(made)
        made.append(())
        _sequence(inner, made)
        made.append(("jump", place))
        made[place] = ("split", place + 1, len(made))
    else:
        for _ in range(most - least):
            place = len(made)
            made.append(())
            _sequence(inner, made)
            made[place] = ("split", place + 1, len(made))
