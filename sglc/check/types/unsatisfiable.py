"""What is refused because texts cannot be told apart, or because a budget cannot hold them.

Overlapping arms of `A | B`, junctions between a hole and the text after it, budgets below the shortest value.
Structure decides first; automata are built only where two texts of the same kind meet. Types without values
are told by `sglc.check.proofs.emptiness`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product, takewhile
from typing import Literal

from sglc.automata.dfa.operations import accepts
from sglc.check.types.facts import BYTES_PER_TOKEN, TypeFacts
from sglc.check.types.kinds import as_written, expand, said
from sglc.diagnostics.diagnostic import Label
from sglc.source import Span
from sglc.types.language.language import language
from sglc.types.language.scalars import written_dfa
from sglc.types.type import (
    Alternatives,
    Bool,
    Constant,
    Dec,
    EnumType,
    Float,
    Int,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    UnionType,
)

RAW = ("text", "number", "word", "array", "object")
"""As the raw text of a hole a string can look like anything."""


def arms_are_apart(facts: TypeFacts, arms: tuple[Type, ...], spans: tuple[Span, ...], *, raw: bool) -> bool:
    """Whether the arms of a union share no text; reports the first pair that does.

    As JSON, texts are quoted and so differ from numbers; as the raw text of a hole they are not.
    """
    found = _first_pair(facts, arms, raw)
    if found is None:
        return True
    a, b, witness = found
    first = spans[a]
    facts.program.report(
        "E0308",
        f"{said(arms[a])} and {said(arms[b])} share texts",
        spans[b],
        label="overlaps an earlier arm",
        reason="the value read back would not tell which arm was meant",
        witness=witness,
        secondary=() if first == spans[b] else (Label(first, "the earlier arm"),),
        hint="narrow one of them, or use a `union` whose variants are tagged",
    )
    return False


def _first_pair(facts: TypeFacts, arms: tuple[Type, ...], raw: bool) -> tuple[int, int, str] | None:
    """The first two arms that share a text, and the text.

    Finite sets of words are compared by a table, records by their first keys and the words of these fields.
    Only of the others each is held against each, and against those words and records that could look like it.
    """
    kinds = [_kinds(facts, arm, raw) for arm in arms]
    pairs: list[tuple[int, int]] = []
    by_word: dict[tuple[bool, str], int] = {}
    by_key: dict[str, _Tags] = {}
    wordy, keyed, others = [], [], []
    bracketed = False
    for place, arm in enumerate(arms):
        words = facts.words(arm)
        key = first_key(facts, expand(arm, facts.table))
        if words is not None and (raw or len(kinds[place]) == 1):
            # As JSON the texts of one kind are quoted, and those of the others are not.
            wordy.append(place)
            bracketed = bracketed or (raw and any(word.startswith("{") for word in words))
            for word in words:
                earlier = by_word.setdefault((raw or "text" in kinds[place], word), place)
                if earlier != place:
                    pairs.append((earlier, place))
        elif key is not None:
            keyed.append(place)
            tags = by_key.setdefault(key, _Tags())
            pairs.extend((earlier, place) for earlier in tags.alike(_first_words(facts, arm), place))
        else:
            others.append(place)
    near = [(place, other) for place in others for other in (*wordy, *keyed)]
    if bracketed:  # a word that looks like a record
        near += product(keyed, wordy)
    pairs.extend((min(pair), max(pair)) for pair in near if kinds[pair[0]] & kinds[pair[1]])
    pairs.extend((a, b) for a, b in combinations(others, 2) if kinds[a] & kinds[b])
    for a, b in sorted(pairs):
        witness = _shared(facts, arms[a], arms[b], raw)
        if witness is not None:
            return a, b, witness
    return None


class _Tags:
    """Records with one first key, by the words that its value can be."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.of_any: list[int] = []
        self.by_word: dict[str, list[int]] = {}

    def alike(self, words: list[str] | None, place: int) -> list[int]:
        """The earlier records that may have the same value there as this one, which is taken in."""
        if words is None:
            found = list(self.places)
            self.of_any.append(place)
        else:
            alike = [self.by_word.setdefault(word, []) for word in dict.fromkeys(words)]
            found = sorted({*self.of_any, *(earlier for places in alike for earlier in places)})
            for places in alike:
                places.append(place)
        self.places.append(place)
        return found


def _first_words(facts: TypeFacts, type: Type) -> list[str] | None:
    """All values of the first field of a record, where they are few texts; None otherwise."""
    plain = expand(type, facts.table)
    declared = facts.table.get(plain.name) if isinstance(plain, Named) else None
    if not isinstance(declared, RecordType):
        return None
    first = declared.fields[0].type
    return facts.words(first) if _kinds(facts, first, False) == {"text"} else None


def _kinds(facts: TypeFacts, type: Type, raw: bool) -> set[str]:
    """Which sorts of text the values are."""
    plain = expand(type, facts.table)
    match plain:
        case Str():
            return set(RAW) if raw else {"text"}
        case Int() | Dec() | Float():
            return {"number"}
        case Bool() | Null():
            return {"word"}
        case Constant(value):
            if isinstance(value, str):
                return set(RAW) if raw else {"text"}
            return {"word"} if isinstance(value, bool) else {"number"}
        case Json():
            return set(RAW)
        case ListOf() | TupleOf():
            return {"array"}
        case MapOf():
            return {"object"}
        case Optional(item):
            return _kinds(facts, item, raw) | {"word"}
        case Alternatives(arms):
            return set().union(*(_kinds(facts, arm, raw) for arm in arms))
        case Named(name):
            if isinstance(facts.table.get(name), EnumType):
                return set(RAW) if raw else {"text"}
            return {"object"}
    return set()


def _shared(facts: TypeFacts, a: Type, b: Type, raw: bool) -> str | None:
    """A text of both, None if there is none."""
    few_a, few_b = facts.words(a), facts.words(b)
    if few_a is not None and few_b is not None:
        both = set(few_a) & set(few_b)
        return min(both, key=lambda w: (len(w), w)) if both else None
    x, y = expand(a, facts.table), expand(b, facts.table)
    keys = first_key(facts, x), first_key(facts, y)
    if None not in keys and keys[0] != keys[1]:
        return None
    if not (facts.sound(a) and facts.sound(b)):
        return None
    from sglc.automata.analysis.ambiguity import overlap

    surface: Literal["hole", "json"] = "hole" if raw else "json"
    found = overlap(language(a, facts.table, surface=surface), language(b, facts.table, surface=surface))
    return None if found is None else found.decode("utf-8", "replace")


def first_key(facts: TypeFacts, type: object) -> str | None:
    """The text that every value of a record or union begins with, where one key is always first."""
    if not isinstance(type, Named):
        return None
    declared = facts.table.get(type.name)
    if isinstance(declared, UnionType):
        return "type:" + declared.name
    if isinstance(declared, RecordType) and declared.fields:
        first = declared.fields[0]
        if not first.optional and not first.has_default:
            return first.name
    return None


def conflict_at_junction(facts: TypeFacts, type: Type, stop: str) -> str | None:
    """A value of the type in which the text `stop` that follows the hole could begin too early.

    The answer is such a value; None if the end of the value is always clear.
    """
    key = ("junction", type, stop)
    if key in facts.memo:
        known: str | None = facts.memo[key]
        return known
    facts.memo[key] = found = _conflict(facts, type, stop)
    return found


def _conflict(facts: TypeFacts, type: Type, stop: str) -> str | None:
    if facts.ends_by_itself(type):
        return None
    plain = as_written(type, facts.table)
    first = stop[0]
    match plain:
        case Str() if not plain.grammar:
            if stop in plain.until or any(stop.startswith(text) for text in plain.until):
                return None
            if first in plain.excludes or not accepts(written_dfa(Str(layout=plain.layout)), first):
                return None
            if any(not _may_follow(pattern, first) for pattern in plain.patterns):
                return None
        case Int():
            if not first.isascii() or not (first.isdigit() or first == "-"):
                return None
        case Dec():
            if not first.isascii() or not (first.isdigit() or first in "-."):
                return None
        case Float():
            if not first.isascii() or not (first.isdigit() or first in "-.e+"):
                return None
    words = facts.words(type)
    if words is not None:
        return _goes_on_with(words, stop)
    if not facts.sound(type):
        return None
    from sglc.automata.analysis.ambiguity import junction_conflict

    return junction_conflict(facts.language(type), stop)


def _goes_on_with(words: list[str], stop: str) -> str | None:
    """The first word that goes on like the stop behind the shortest of the words; None if none does."""
    rank = {word: number for number, word in enumerate(sorted(dict.fromkeys(words), key=len))}
    lengths = sorted({len(word) for word in rank})
    found = []
    for index, long in enumerate(words):
        for length in takewhile(len(long).__gt__, lengths):
            short, rest = long[:length], long[length:]
            if short in rank and (rest.startswith(stop) or stop.startswith(rest)):
                found.append((rank[short], index))
    return words[min(found)[1]] if found else None


def _may_follow(pattern: str, char: str) -> bool:
    """Whether a text that matches a pattern, with this character after it, can begin a longer match."""
    from sglc.automata.regex.compile import compile_regex

    dfa = compile_regex(pattern)
    code = ord(char)
    return any(low <= code <= high for state in dfa.accepting for low, high, _ in dfa.edges[state])


def least_tokens(size: int) -> int:
    """Fewest tokens that `size` bytes are taken to need."""
    return max(1, -(-size // BYTES_PER_TOKEN))


def is_bare_text(facts: TypeFacts, type: object) -> bool:
    """Whether a hole's type is text with no end of its own, which the text after it then marks."""
    plain = as_written(type, facts.table)  # type: ignore[arg-type]
    return isinstance(plain, Str) and replace(plain, excludes=(), layout="") == Str()
