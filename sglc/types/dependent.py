"""Types that depend on values of the run: `one of xs`, `span of x` and grammars with parameters.

In a compiled program such a type holds the number of a value that its hole is given. When the hole is
reached, `bind` puts the values in; the language, the decoder and the printer work on bound types only. What
the checker knows of the value is the `erased` type: text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sglc.automata.term import Choice, Encoding, Except, Nothing, Span, Term, Words
from sglc.types.json_text import json_text, surrogate_fault
from sglc.types.type import (
    AliasType,
    Alternatives,
    Applied,
    DeclaredType,
    EnumType,
    InForm,
    Instance,
    ListOf,
    MapOf,
    Named,
    OneOf,
    OpenType,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    types_in,
)
from sglc.types.values import EnumValue, GivenError, NothingLeft, RecordValue, Value

if TYPE_CHECKING:
    from sglc.cfg.model.grammar import Given

ENTRIES = 100_000
"""Most entries of the list of a `one of`."""

_TOUCHING = 40
"""Entries that are held against the text after a hole."""


GivenType = OneOf | SpanOf | Str | Applied


def given_types(type: Type) -> list[GivenType]:
    """The parts that depend on given values, in the order in which they are written."""
    match type:
        case OneOf() | SpanOf() | Applied():
            return [type]
        case Str(given=given) if given:
            return [type]
        case ListOf(item=item) | Optional(item=item) | InForm(item=item):
            return given_types(item)
        case MapOf(key=key, value=value):
            return given_types(key) + given_types(value)
        case TupleOf(items=parts) | Alternatives(arms=parts):
            return [found for part in parts for found in given_types(part)]
    return []


def given_values(type: Type) -> list[int]:
    """The numbers of the given values, in the order in which the parts that need them are written."""
    found: list[int] = []
    for part in given_types(type):
        found += part.given if isinstance(part, Str | Applied) else (part.given,)
    return found


def replaced(type: Type, change: Callable[[GivenType], Type]) -> Type:
    """The type with every part that depends on a given value changed."""
    match type:
        case OneOf() | SpanOf() | Applied():
            return change(type)
        case Str(given=given) if given:
            return change(type)
        case ListOf(item=item) | Optional(item=item) | InForm(item=item):
            return replace(type, item=replaced(item, change))
        case MapOf(key=key, value=value):
            return replace(type, key=replaced(key, change), value=replaced(value, change))
        case TupleOf(items=items):
            return TupleOf(tuple(replaced(item, change) for item in items))
        case Alternatives(arms=arms):
            return Alternatives(tuple(replaced(arm, change) for arm in arms))
    return type


def renumbered(type: Type, numbers: Mapping[int, int]) -> Type:
    """The type with other numbers for the values that it is given."""

    def change(part: GivenType) -> Type:
        if isinstance(part, Str | Applied):
            return replace(part, given=tuple(numbers[number] for number in part.given))
        return replace(part, given=numbers[part.given])

    return replaced(type, change)


def erased(type: Type) -> Type:
    """The type that the checker knows the values by."""
    if not given_types(type):
        return type
    return replaced(type, _as_text)


def _as_text(type: GivenType) -> Type:
    if isinstance(type, Applied):
        return Named(type.name)
    if isinstance(type, Str):
        return replace(type, given=())
    return Str() if isinstance(type, OneOf) else Str(type.min_chars, type.max_chars)


def ended_before(type: Type, stop: str) -> Type:
    """The type of a hole that a literal text follows: spans at its top do not contain that text."""
    match type:
        case SpanOf():
            return replace(type, until=(*type.until, stop))
        case Optional(item=item):
            return Optional(ended_before(item, stop))
        case Alternatives(arms=arms):
            return Alternatives(tuple(ended_before(arm, stop) for arm in arms))
        case Applied(name=name, declarations=declarations):
            return replace(type, declarations=tuple(_ended(each, name, stop) for each in declarations))
    return type


def _ended(opened: OpenType, name: str, stop: str) -> OpenType:
    """The declaration of that name as of the type of a hole before a text, if it is an alias."""
    alias = opened.declared
    if alias.name != name or not isinstance(alias, AliasType):
        return opened
    inner = alias.type
    plain = isinstance(inner, Str) and not inner.grammar
    ended = replace(inner, until=(*inner.until, stop)) if plain else ended_before(inner, stop)  # type: ignore
    return OpenType(replace(alias, type=ended), opened.parameters, opened.sources)


def bind(type: Type, values: Sequence[Value], near: str = "") -> Type:
    """The type with the given values put in. Raises GivenError.

    With `near`, lists of grammars are cut down to entries that touch an occurrence of this text in different
    ways: whether the text can end the hole too early is asked of these.
    """

    return _bound(type, values, near, None)


def _bound(type: Type, values: Sequence[Value], near: str, family: _Family | None) -> Type:
    def put(part: GivenType) -> Type:
        if isinstance(part, Applied):
            whole = _Family(part.declarations, near) if family is None else family
            instance = whole.instance(part.name, [values[number] for number in part.given])
            return replace(part, instance=instance)
        if isinstance(part, Str):
            return in_grammar(part, [values[number] for number in part.given], near)
        value = values[part.given]
        if isinstance(part, OneOf):
            return replace(part, words=frozenset(_entries(value)))
        if not isinstance(value, str):
            raise GivenError("a `span of` is given something else than a text")
        return replace(part, text=value)

    return replaced(type, put)


class _Family:
    """The declarations with parameters of one hole's type, and what was made of them."""

    def __init__(self, declarations: Sequence[OpenType], near: str) -> None:
        self._open = {each.declared.name: each for each in declarations}
        self._near = near
        self._made: dict[tuple[object, ...], tuple[Instance, Sequence[Value]]] = {}
        """With the values, so that no other value gets the identity of one of them."""

    def instance(self, name: str, values: Sequence[Value]) -> Instance:
        """The type with these values, the same one for the same values: recursion comes to an end."""
        key = (name, *map(id, values))
        if key not in self._made:
            make = lambda: self._declared(self._open[name], values)  # noqa: E731
            self._made[key] = Instance(len(self._made), make), values
        return self._made[key][0]

    def _declared(self, opened: OpenType, arguments: Sequence[Value]) -> DeclaredType:
        values = [
            source.value if source.parameter < 0 else _followed(arguments[source.parameter], source.path)
            for source in opened.sources
        ]

        def fields(record: RecordType) -> RecordType:
            bound = [replace(f, type=_bound(f.type, values, self._near, self)) for f in record.fields]
            return replace(record, fields=tuple(bound))

        match opened.declared:
            case RecordType() as record:
                return fields(record)
            case UnionType() as union:
                return replace(union, variants=tuple(fields(variant) for variant in union.variants))
            case AliasType() as alias:
                from sglc.types.condition import bind as bind_condition

                where = None if alias.where is None else bind_condition(alias.where, values)
                return replace(alias, type=_bound(alias.type, values, self._near, self), where=where)
            case EnumType():
                return opened.declared


def _followed(value: Value, path: Sequence[str]) -> Value:
    """The field of a value that a path leads to. Raises GivenError."""
    for name in path:
        if not isinstance(value, RecordValue) or name not in value.fields:
            raise GivenError(f"the value of a parameter has no field `{name}`")
        value = value.fields[name]  # type: ignore[assignment]
    return value


def waits_for_values(type: Type, table: TypeTable) -> bool:
    """Whether a type without given values has texts of a grammar with parameters."""
    seen: set[str] = set()
    work = [type]
    while work:
        match work.pop():
            case Str(grammar=grammar, given=()) if grammar and _has_parameters(grammar):
                return True
            case ListOf(item=item) | Optional(item=item) | InForm(item=item):
                work.append(item)
            case MapOf(value=item):
                work.append(item)
            case TupleOf(items=parts) | Alternatives(arms=parts):
                work += parts
            case Named(name=name) if name not in seen and name in table:
                seen.add(name)
                work += types_in(table[name])
    return False


def _has_parameters(grammar: str) -> bool:
    from sglc.types.grammar_text import parameters_of

    return bool(parameters_of(grammar))


def in_grammar(type: Str, values: Sequence[Value], near: str = "") -> Str:
    """A type in an open grammar with the values of its parameters put in; `near` as in `bind`.

    Raises GivenError.
    """
    from sglc.cfg.model.errors import GrammarError
    from sglc.types.grammar_text import bound, grammar_name, parameters_of, parts_given

    name = grammar_name(type.grammar).rsplit(".", 1)[-1]
    arguments = dict(zip(parameters_of(type.grammar), values, strict=True))
    texts: dict[Given, str | list[str]] = {}
    for part in parts_given(type.grammar):
        value: object = arguments[part.parameter]
        for name in part.path:
            if not isinstance(value, RecordValue) or name not in value.fields:
                raise GivenError(f"the value of `{part.shown}` has no field `{name}`")
            value = value.fields[name]
        entries = _entries(value if part.listed else [value])
        if near:
            entries = _touching(entries, near)
        texts[part] = entries if part.listed else entries[0]
    try:
        return Str(grammar=bound(type.grammar, texts))
    except GrammarError as fault:
        empty = [f"`{part.shown}`" for part, value in texts.items() if part.listed and not value]
        if empty:
            raise NothingLeft(f"{', '.join(empty)} of the grammar {name} is empty") from None
        raise GivenError(f"the grammar {name} cannot be used with these values: {fault.reason}") from None


def _entries(value: object) -> list[str]:
    if not isinstance(value, list | tuple):
        raise GivenError("a list of texts is due, and something else is given")
    if len(value) > ENTRIES:
        raise GivenError(f"the list of a `one of` has {len(value)} entries, at most {ENTRIES} may be")
    words = [entry.name if isinstance(entry, EnumValue) else entry for entry in value]
    for word in words:
        if not isinstance(word, str):
            raise GivenError("an entry of a `one of` is no text")
        if not word.isprintable() and (fault := surrogate_fault(word)) is not None:
            raise GivenError(f"an entry of a `one of` is no text: {fault}")
    return words


def _touching(entries: list[str], text: str) -> list[str]:
    """One entry of each way to overlap a text, and those that contain it with the entries they begin with."""
    found: dict[object, str] = {}
    sizes = range(1, len(text))
    every = set(entries)
    for entry in entries:
        if text in entry:
            if len(found) < _TOUCHING:
                begun = (entry[:size] for size in range(1, len(entry) + 1))
                found.update((part, part) for part in begun if part in every)
            continue
        begins = tuple(size for size in sizes if entry.startswith(text[-size:])) if entry[:1] in text else ()
        ends = tuple(size for size in sizes if entry.endswith(text[:size])) if entry[-1:] in text else ()
        found.setdefault((begins, ends, entry in text), entry)
    return list(found.values())


def why_empty(type: Type) -> str:
    """Why a bound type has no value, as far as a given value is the reason."""
    reasons = []
    for part in given_types(type):
        if isinstance(part, OneOf):
            if not part.words:
                reasons.append("the list of its `one of` is empty")
        elif isinstance(part, SpanOf) and isinstance(span_term(part, "raw"), Nothing):
            least = "a character" if part.min_chars <= 1 else f"{part.min_chars} characters"
            reasons.append(f"the text of its `span of` has no piece of at least {least}")
    return " and ".join(dict.fromkeys(reasons)) or "the values that it depends on leave nothing"


def one_of_term(type: OneOf, encoding: Encoding, *, beside_null: bool = False) -> Term:
    """The entries; without `null` where that text means null. As JSON they have their quotes."""
    assert type.words is not None
    if encoding == "raw":
        words = frozenset(word.encode() for word in type.words if not (beside_null and word == "null"))
    else:
        words = frozenset(json_text(word).encode() for word in type.words)
    return Words(words) if words else Nothing()


def span_term(type: SpanOf, encoding: Encoding, *, beside_null: bool = False) -> Term:
    """The pieces of the text, without quotes."""
    low, high = max(1, type.min_chars), type.max_chars
    stretches = [stretch for stretch in _stretches(type) if len(stretch) >= low]
    if not stretches or (high is not None and high < low):
        return Nothing()
    spans: list[Term] = [Span(stretch, encoding, low, high) for stretch in dict.fromkeys(stretches)]
    term = spans[0] if len(spans) == 1 else Choice(tuple(spans))
    return Except(term, frozenset({b"null"})) if beside_null else term


def _stretches(type: SpanOf) -> list[str]:
    """The longest pieces of the text that hold none of the stops."""
    assert type.text is not None
    pieces = [type.text]
    for stop in type.until:
        forbidden = _without_overlap(stop)
        pieces = [part for piece in pieces for part in _between(piece, forbidden)]
    return pieces


def _without_overlap(stop: str) -> str:
    """The longest beginning of a text that does not begin where it ends.

    Before such a text a piece without it ends where the text first occurs, whatever the piece ends with.
    """
    for length in range(len(stop), 1, -1):
        part = stop[:length]
        if not any(part.startswith(part[at:]) for at in range(1, length)):
            return part
    return stop[:1]


def _between(text: str, forbidden: str) -> list[str]:
    """The longest pieces of a text in which `forbidden` does not occur."""
    parts: list[str] = []
    start = 0
    while True:
        at = text.find(forbidden, start)
        if at < 0:
            return [*parts, text[start:]]
        parts.append(text[start : at + len(forbidden) - 1])
        start = at + 1


def one_of_fault(value: str, type: OneOf) -> str | None:
    """What is wrong with a text as an entry, None if nothing is."""
    if type.words is None or value in type.words:
        return None
    return f"{json_text(value[:40])} is not in the list of its `one of`"


def span_fault(value: str, type: SpanOf) -> str | None:
    """What is wrong with a text as a piece of the text, None if nothing is."""
    if len(value) < max(1, type.min_chars):
        return f"{json_text(value[:40])} has {len(value)} characters, at least {type.min_chars} are asked for"
    if type.max_chars is not None and len(value) > type.max_chars:
        return f"{json_text(value[:40])} has {len(value)} characters, at most {type.max_chars} are allowed"
    if type.text is None or any(value in stretch for stretch in _stretches(type)):
        return None
    return f"{json_text(value[:40])} is no piece of the text of its `span of`"
