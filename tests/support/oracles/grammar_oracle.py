"""What a grammar means, in the plainest code: where a match of each part may end, by least fixed point.

For grammars of characters (no patterns, nothing ignored). It shares nothing with the code under test.
"""

from __future__ import annotations

from sglc.cfg.model.grammar import (
    Alternatives,
    Characters,
    Difference,
    Expression,
    Grammar,
    Literal,
    Named,
    Reference,
    Repeat,
    Sequence,
    Words,
)


def accepts(grammar: Grammar, text: str) -> bool:
    """Whether a text is one of the grammar."""
    known: dict[tuple[str, int], frozenset[int]] = {}
    changed = True
    while changed:
        changed = False
        for name, rule in grammar.rules.items():
            for start in range(len(text) + 1):
                found = _ends(rule.body, text, start, known)
                if found != known.get((name, start), frozenset()):
                    known[name, start] = found
                    changed = True
    return len(text) in known.get((grammar.start, 0), frozenset())


def _ends(
    item: Expression, text: str, start: int, known: dict[tuple[str, int], frozenset[int]]
) -> frozenset[int]:
    def after(part: Expression, places: frozenset[int]) -> frozenset[int]:
        return frozenset(end for place in places for end in _ends(part, text, place, known))

    match item:
        case Literal(written, ignore_case):
            piece = text[start : start + len(written)]
            same = piece.lower() == written.lower() if ignore_case else piece == written
            return frozenset((start + len(written),)) if same else frozenset()
        case Characters(points):
            here = start < len(text) and any(low <= ord(text[start]) <= high for low, high in points)
            return frozenset((start + 1,)) if here else frozenset()
        case Words(texts):
            return frozenset(start + len(word) for word in texts if text.startswith(word, start))
        case Reference(name):
            return known.get((name, start), frozenset())
        case Sequence(items):
            places = frozenset((start,))
            for part in items:
                places = after(part, places)
            return places
        case Alternatives(arms):
            return frozenset(end for arm in arms for end in _ends(arm, text, start, known))
        case Named(inner):
            return _ends(inner, text, start, known)
        case Difference(inner, without):
            return _ends(inner, text, start, known) - _ends(without, text, start, known)
        case Repeat(inner, minimum, maximum):
            places = frozenset((start,))
            for _ in range(minimum):
                places = after(inner, places)
            found = places
            count = minimum
            while maximum is None or count < maximum:
                places = after(inner, places)
                if places <= found and (maximum is None or count > minimum + len(text)):
                    break
                found |= places
                count += 1
            return found
    raise TypeError(type(item).__name__)
