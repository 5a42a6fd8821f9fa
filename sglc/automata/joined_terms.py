"""Terms put together from terms, and kept small."""

from __future__ import annotations

from sglc.automata.term import Bytes, Choice, Nothing, Rule, Sequence, Term, Text, Words

EMPTY = Bytes(b"")


def sequence(*items: Term) -> Term:
    """Items one after the other; neighbouring bytes joined, nested sequences flattened."""
    out: list[Term] = []
    joined: list[bytes] = []
    for item in items:
        for part in item.items if isinstance(item, Sequence) else (item,):
            if isinstance(part, Nothing):
                return part
            if isinstance(part, Bytes) and not part.data:
                continue
            if isinstance(part, Bytes):
                joined.append(part.data)
                continue
            if joined:
                out.append(Bytes(b"".join(joined)))
                joined = []
            out.append(part)
    if joined:
        out.append(Bytes(b"".join(joined)))
    if not out:
        return EMPTY
    return out[0] if len(out) == 1 else Sequence(tuple(out))


def choice(*arms: Term) -> Term:
    """Any of the arms; finite sets are joined."""
    finite: set[bytes] = set()
    out: list[Term] = []
    alike: dict[object, list[Term]] = {}
    for arm in arms:
        for part in arm.arms if isinstance(arm, Choice) else (arm,):
            if isinstance(part, Bytes):
                finite.add(part.data)
            elif isinstance(part, Words):
                finite |= part.words
            elif not isinstance(part, Nothing):
                like = alike.setdefault(_beginning(part), [])
                if part not in like:
                    like.append(part)
                    out.append(part)
    if len(finite) == 1:
        out.append(Bytes(next(iter(finite))))
    elif finite:
        out.append(Words(frozenset(finite)))
    if not out:
        return Nothing()
    return out[0] if len(out) == 1 else Choice(tuple(out))


def _beginning(term: Term) -> object:
    """Something that equal terms have in common, and few others."""
    match term:
        case Sequence(items):
            return len(items), _beginning(items[0])
        case Text(dfa):
            return len(dfa.edges), dfa.edges[:1], len(dfa.accepting)
        case Bytes() | Rule():
            return term
    return term.__class__


def finite(texts: list[str]) -> Term:
    """Any of a few texts."""
    return choice(*(Bytes(text.encode()) for text in texts))
