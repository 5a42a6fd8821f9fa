"""Regular expressions as small programs of one machine, which tree-sitter's scanner has in C."""

from __future__ import annotations

from sglc.highlight.core.regexes import (
    Char,
    Choice,
    Group,
    Item,
    Look,
    Place,
    Regex,
    Repeat,
    Sequence,
    Set,
    read,
)
from sglc.immutable import value


@value
class Instruction:
    """`kind` is "char" (its code is `first`), "set", "split" (go on at `first`, else at `second`), "jump"
    (to `first`), "ahead" (the program behind it up to "match" has to match, if `flag`, or must not; go on
    at `first`), "border", "end" of the line, or "match".
    """

    kind: str
    first: int = 0
    second: int = 0
    flag: bool = False
    """Whether a set is negated, or what is ahead wanted."""
    items: tuple[Item, ...] = ()


def program(regex: str) -> list[Instruction]:
    """The program of a regular expression; raises ValueError for what it has no instruction for."""
    return [*_program(read(regex), 0), Instruction("match")]


def _program(regex: Regex, start: int) -> list[Instruction]:
    """The instructions of a part that begins at `start`."""
    match regex:
        case Char(code):
            return [Instruction("char", code)]
        case Set(negated, items):
            return [Instruction("set", flag=negated, items=items)]
        case Sequence(parts):
            made: list[Instruction] = []
            for part in parts:
                made += _program(part, start + len(made))
            return made
        case Choice(arms):
            return _choice(arms, start)
        case Repeat(least, most, inner):
            return _repeat(least, most, inner, start)
        case Group(_, inner):
            return _program(inner, start)
        case Look(False, wanted, inner):
            body = [*_program(inner, start + 1), Instruction("match")]
            return [Instruction("ahead", start + 1 + len(body), flag=wanted), *body]
        case Place("b"):
            return [Instruction("border")]
        case Place("$"):
            return [Instruction("end")]
    raise ValueError(f"there is no instruction for {regex}")


def _choice(arms: tuple[Regex, ...], start: int) -> list[Instruction]:
    if len(arms) == 1:
        return _program(arms[0], start)
    first = _program(arms[0], start + 1)
    other = start + 1 + len(first) + 1
    rest = _choice(arms[1:], other)
    return [Instruction("split", start + 1, other), *first, Instruction("jump", other + len(rest)), *rest]


def _repeat(least: int, most: int | None, inner: Regex, start: int) -> list[Instruction]:
    made: list[Instruction] = []
    for _ in range(least):
        made += _program(inner, start + len(made))
    if most is None:
        place = start + len(made)
        body = _program(inner, place + 1)
        return [
            *made,
            Instruction("split", place + 1, place + len(body) + 2),
            *body,
            Instruction("jump", place),
        ]
    for _ in range(most - least):
        place = start + len(made)
        body = _program(inner, place + 1)
        made += [Instruction("split", place + 1, place + len(body) + 1), *body]
    return made
