"""Automata of the texts and numbers for which a condition holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from decimal import Decimal
from math import ceil, floor

from sglc.automata.charset import ALL
from sglc.automata.dfa.minimize import minimal_dfa
from sglc.automata.dfa.nfa_union import concatenate
from sglc.automata.dfa.operations import (
    all_words,
    build,
    difference,
    intersect,
    literal,
    union,
    without,
    words,
)
from sglc.automata.number.decimal import MAX_DIVISOR, decimal_range, integer_range
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import CharDfa
from sglc.types.arithmetic import Number, is_number
from sglc.types.condition import (
    All,
    Among,
    Compared,
    Condition,
    Divided,
    Either,
    Known,
    Matches,
    Not,
    TextAt,
    conjuncts,
    known,
    listed,
)
from sglc.types.language.scalars import number_dfa
from sglc.types.type import Dec, Int
from sglc.types.values import GivenError, Value

MOST_LENGTH = 4096
"""Longest length of a text that is compared inside an `or` or `not`."""


def whole_bounds(operator: str, bound: object) -> tuple[int | None, int | None]:
    """The smallest and largest integer for which a comparison holds; 1 and 0 where there is none."""
    if isinstance(bound, bool) or not isinstance(bound, int | float | Decimal):
        return 1, 0
    match operator:
        case ">=":
            return ceil(bound), None
        case ">":
            return floor(bound) + 1, None
        case "<=":
            return None, floor(bound)
        case "<":
            return None, ceil(bound) - 1
    return (int(bound), int(bound)) if bound == int(bound) else (1, 0)


def _combined(condition: Condition, base: CharDfa, atom: Callable[[Condition], CharDfa]) -> CharDfa:
    """The words of `base` for which a condition holds; `atom` gives those of its atoms."""
    match condition:
        case Not(part=part):
            return difference(base, _combined(part, base, atom))
        case All(parts=parts):
            dfa = base
            for part in parts:
                dfa = intersect(dfa, _combined(part, base, atom))
            return dfa
        case Either(parts=parts):
            dfa = words(())
            for part in parts:
                dfa = union(dfa, _combined(part, base, atom))
            return dfa
    return intersect(base, atom(condition))


def text_dfa(condition: Condition) -> CharDfa:
    """Texts for which a condition holds."""
    everything = all_words()

    def atom(part: Condition) -> CharDfa:
        match part:
            case Compared(subject=about, operator=operator, bound=bound) if about.length:
                return _length_dfa(operator, known(bound))
            case Compared(operator=operator, bound=bound):
                same = _texts([known(bound)])
                return same if operator == "==" else difference(everything, same)
            case Among(values=values):
                return _texts(listed(known(values)))
            case TextAt(place=place, text=text):
                return _place_dfa(place, known(text))
            case Matches(pattern=pattern):
                return compile_regex(pattern)
        raise AssertionError(part)

    return _combined(condition, everything, atom)


def _texts(values: Iterable[Value]) -> CharDfa:
    return words([value for value in values if isinstance(value, str)])


def _place_dfa(place: str, text: object) -> CharDfa:
    if not isinstance(text, str):
        return words(())
    everything = all_words()
    if not text:
        return everything
    here = literal(text)
    match place:
        case "start":
            return concatenate(here, everything)
        case "end":
            return concatenate(everything, here)
    return difference(everything, without([text], (), ALL))


def _length_dfa(operator: str, bound: object) -> CharDfa:
    if operator == "!=":
        return difference(all_words(), _length_dfa("==", bound))
    low, high = whole_bounds(operator, bound)
    low = max(0, low or 0)
    last = low if high is None else high
    if last < low:
        return words(())
    if last > MOST_LENGTH:
        raise GivenError(f"a length beyond {MOST_LENGTH} is compared inside an `or` or `not`")
    edges = [[(ALL, min(at + 1, last))] if at < last or high is None else [] for at in range(last + 1)]
    return build(edges, range(low, last + 1))


def number_words(type: Int | Dec, condition: Condition) -> CharDfa:
    """The numbers of a type for which a condition holds."""
    rest: list[Condition] = []
    low, high = type.minimum, type.maximum
    for part in conjuncts(condition):
        match part:
            case Compared(operator=">=" | "<=" as operator, bound=Known(bound)) if is_number(bound):
                # Simple bounds: one automaton for all of them.
                limit = _limit(type, operator, bound)
                if operator == ">=":
                    low = limit if low is None else max(low, limit)
                else:
                    high = limit if high is None else min(high, limit)
            case Compared(operator="<" | ">" as operator, bound=Known(bound)) if isinstance(
                type, Int
            ) and is_number(bound):
                least, most = whole_bounds(operator, bound)
                low = low if least is None else least if low is None else max(low, least)
                high = high if most is None else most if high is None else min(high, most)
            case _:
                rest.append(part)
    base = number_dfa(type)
    if low is not None and high is not None and low > high:
        return words(())
    if (low, high) != (type.minimum, type.maximum):
        # Bounds of an Int are whole: see `_limit`.
        within = replace(type, minimum=low, maximum=high, multiple_of=None)  # type: ignore[arg-type]
        base = intersect(base, number_dfa(within))
    if not rest or not base.edges:
        return base
    return _combined(All(tuple(rest)), base, lambda part: _number_atom(type, base, part))


def _limit(type: Int | Dec, operator: str, bound: Number) -> Decimal | int:
    if isinstance(type, Int):
        return ceil(bound) if operator == ">=" else floor(bound)
    return Decimal(bound)


def _number_atom(type: Int | Dec, base: CharDfa, part: Condition) -> CharDfa:
    match part:
        case Compared(operator=operator, bound=bound):
            limit = known(bound)
            if not is_number(limit):
                return base if operator == "!=" else words(())
            return _compared_numbers(type, base, operator, limit)
        case Among(values=values):
            dfa = words(())
            if isinstance(type, Int):
                return words([str(int(v)) for v in listed(known(values)) if is_number(v) and v == int(v)])
            for value in dict.fromkeys(v for v in listed(known(values)) if is_number(v)):
                dfa = union(dfa, decimal_range(Decimal(value), Decimal(value)))
            return dfa
        case Divided(step=step, rest=rest):
            return _remainder_dfa(known(step), known(rest))
    raise AssertionError(part)


def _compared_numbers(type: Int | Dec, base: CharDfa, operator: str, limit: Number) -> CharDfa:
    """Numbers of `base` that compare so with a number."""
    if operator in ("!=", "<", ">"):
        opposite = {"!=": "==", "<": ">=", ">": "<="}[operator]
        return difference(base, _compared_numbers(type, base, opposite, limit))
    if isinstance(type, Int):
        low, high = whole_bounds(operator, limit)
        if low is not None and high is not None and low > high:
            return words(())
        low = type.minimum if low is None else low
        high = type.maximum if high is None else high
        if low is not None and high is not None and low > high:
            return words(())
        return integer_range(low, high)
    exact = Decimal(limit)
    least = exact if operator in (">=", "==") else type.minimum
    most = exact if operator in ("<=", "==") else type.maximum
    if least is not None and most is not None and least > most:
        return words(())
    return decimal_range(least, most)


def _remainder_dfa(step: object, rest: object) -> CharDfa:
    """Integers whose remainder by `step` is `rest`; it has the sign of `step`."""
    if not isinstance(step, int) or isinstance(step, bool):
        raise GivenError("a condition takes the remainder by another number than an integer")
    size = abs(step)
    if size > MAX_DIVISOR:
        raise GivenError(f"a condition divides by {size}, at most {MAX_DIVISOR} is possible")
    if not is_number(rest) or rest not in (range(step) if step > 0 else range(0, step, -1)):
        return words(())
    wanted = int(rest) % size
    # States: the start, after the sign, then a pair of remainder and sign.
    blocks = (*(((0x30 + digit, 0x30 + digit),) for digit in range(10)), ((0x2D, 0x2D),))
    table: list[dict[int, int]] = [{digit: 2 + digit % size for digit in range(10)} | {10: 1}]
    table.append({digit: 2 + size + digit % size for digit in range(10)})
    for sign in (0, 1):
        for value in range(size):
            table.append({d: 2 + sign * size + (value * 10 + d) % size for d in range(10)})
    accepting = {2 + wanted, 2 + size + -wanted % size}
    return minimal_dfa(table, accepting, blocks)
