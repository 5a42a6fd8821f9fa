"""Random types with their tables, values of a type, and words of a language, for property tests."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from oracles.term_oracle import random_word
from sglc.automata.analysis.emptiness import is_empty, shortest_words
from sglc.automata.dfa.operations import all_words
from sglc.automata.encoding import encoded, spellings
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import (
    Anything,
    Arm,
    Array,
    Bytes,
    Choice,
    Except,
    Family,
    Language,
    Listed,
    Nothing,
    Object,
    Repeat,
    Rule,
    Sequence,
    Span,
    Term,
    Text,
    Words,
)
from sglc.types.language.builder import str_term
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.type import (
    AliasType,
    Alternatives,
    Bool,
    Constant,
    Dec,
    DeclaredType,
    EnumType,
    FieldType,
    Float,
    Int,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
)
from sglc.types.values import EnumValue, RecordValue
from strategies.entry_strategies import ENCODINGS, VALUES, arrays, listed, objects, spans

PATTERNS = (
    r"[A-Z][a-z]{0,5}",
    r"[ab]*",
    r"\d{2}-\d{2}",
    r'["\\a]{0,4}',
    r"(foo|ba[rz])?",
    r"[^a]{1,3}",
    r"[é-ü€😀]+",
    r"\w+@\w+\.(com|org)",
)
STOPS = ("<<", "\n", ".", "ab", "aba", '"', "\\", "null")
SEEDS = st.integers(0, 2**32)
"""Of random words and vocabularies, which have too many parts to be drawn one by one."""
NAMES = ("name", "age", "note", "kind", "x", "y", "größe")


@cache
@st.composite
def str_types(draw: st.DrawFn) -> Str:
    low = draw(st.integers(0, 3))
    type = Str(
        low,
        draw(st.none() | st.integers(low, low + 6)),
        tuple(draw(st.lists(st.sampled_from(PATTERNS), max_size=1))),
        tuple(draw(st.lists(st.sampled_from(STOPS), max_size=2, unique=True))),
        tuple(draw(st.lists(st.sampled_from(STOPS), max_size=1))),
        draw(st.sampled_from(("", "", "line", "lines"))),
    )
    if type.patterns:
        type = replace(type, layout=type.layout or "free")  # as `matching` makes it
    assume(has_words(type, {}))
    return type


@cache
def decimals(places: int = 3) -> st.SearchStrategy[Decimal]:
    return st.decimals(-1000, 1000, places=places) | st.integers(-50, 50).map(Decimal)


@cache
@st.composite
def number_types(draw: st.DrawFn) -> Int | Dec | Float:
    kind = draw(st.sampled_from((Int, Dec, Float)))
    bounds = st.integers(-150, 150) if kind is Int else decimals()
    low, high = draw(st.none() | bounds), draw(st.none() | bounds)
    if low is not None and high is not None and low > high:
        low, high = high, low
    if kind is Float:
        type: Int | Dec | Float = Float(low, high)
    elif kind is Int:
        type = Int(low, high, draw(st.sampled_from((None, None, 1, 3, 5, 20))))
    else:
        steps = (None, None, Decimal(1), Decimal("0.05"), Decimal("0.25"), Decimal(10))
        type = Dec(low, high, draw(st.sampled_from(steps)))
    assume(has_words(type, {}))
    return type


@cache
def scalar_types() -> st.SearchStrategy[Type]:
    constants = st.sampled_from(("EUR", 'say "hi"', "", "null", 7, -1, True, Decimal("1.50")))
    return st.one_of(
        str_types(), number_types(), st.just(Bool()), st.just(Null()), st.builds(Constant, constants)
    )


@cache
@st.composite
def alternatives(draw: st.DrawFn, inner: st.SearchStrategy[Type]) -> Type:
    """Arms that cannot overlap on either surface."""
    arms: list[Type] = [
        *draw(st.lists(st.sampled_from((Constant("EUR"), Constant("USD"), Constant("x y"))), unique=True)),
        *draw(st.lists(st.sampled_from((Int(0, 9), Bool(), Null())), unique=True)),
    ]
    if draw(st.booleans()):
        arms.append(ListOf(draw(inner), 0, 2))
    arms = draw(st.permutations(arms))
    assume(arms)
    return Alternatives(tuple(arms))


@cache
def composite_types(leaves: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    def extend(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
        sizes = st.tuples(st.integers(0, 2), st.none() | st.integers(2, 3))
        keys = st.sampled_from((Str(), Str(max_chars=2), Str(patterns=("[abc]",)), Str(1, 4)))
        return st.one_of(
            st.builds(lambda item, size: ListOf(item, *size), inner, sizes),
            st.builds(lambda key, value, size: MapOf(key, value, *size), keys, inner, sizes),
            st.lists(inner, max_size=3).map(lambda items: TupleOf(tuple(items))),
            st.builds(Optional, inner),
            alternatives(inner),
        )

    return st.recursive(leaves, extend, max_leaves=4)


@cache
@st.composite
def _fields(
    draw: st.DrawFn, inner: st.SearchStrategy[Type], itself: st.SearchStrategy[Type], defaults: bool
) -> tuple[FieldType, ...]:
    fields = []
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=4)):
        type = draw(itself if draw(st.integers(0, 3)) == 3 else inner)
        how = draw(st.sampled_from(("plain", "plain", "optional", "default" if defaults else "plain")))
        if how == "default" and isinstance(type, Int | Str | Bool):
            default = draw(values_of(type, {}))
            fields.append(FieldType(name, type, has_default=True, default=default, doc="with a default"))
        else:
            fields.append(FieldType(name, type, optional=how == "optional"))
    return tuple(fields)


@cache
def _types_with(names: tuple[str, ...]) -> st.SearchStrategy[Type]:
    """Types that may mention some declared ones."""
    known = [st.sampled_from([Named(name) for name in names])] if names else []
    return composite_types(st.one_of(scalar_types(), *known))


@cache
def _types_of_itself(name: str) -> st.SearchStrategy[Type]:
    return st.sampled_from((Optional(Named(name)), ListOf(Named(name), 0, 2)))


@cache
@st.composite
def types(draw: st.DrawFn, *, defaults: bool = True) -> tuple[Type, dict[str, DeclaredType]]:
    """A type that has values, and the table of what it names. Some declared types are recursive."""
    table: dict[str, DeclaredType] = {}
    for index in range(draw(st.integers(0, 3))):
        name = f"{draw(st.sampled_from(('Crew', 'Post', 'std.text.Line')))}{index}"
        inner, itself = _types_with(tuple(table)), _types_of_itself(name)
        kind = draw(st.sampled_from(("enum", "record", "record", "union", "alias")))
        if kind == "enum":
            members = draw(
                st.lists(
                    st.sampled_from(("calm", "annoyed", "null", "sehr böse", "a")), min_size=1, unique=True
                )
            )
            table[name] = EnumType(name, tuple(members))
        elif kind == "record":
            table[name] = RecordType(name, draw(_fields(inner, itself, defaults)), doc="a record")
        elif kind == "union":
            variants = [
                RecordType(variant, draw(_fields(inner, itself, defaults)))
                for variant in draw(st.sampled_from((("One",), ("One", "Two"), ("A", "B", "C"))))
            ]
            table[name] = UnionType(name, tuple(variants))
        else:
            table[name] = AliasType(name, draw(inner))
    type = draw(_types_with(tuple(table)))
    assume(has_words(type, table))
    return type, table


def has_words(type: Type, table: TypeTable) -> bool:
    return not is_empty(language(type, table)) and not is_empty(language(type, table, surface="json"))


def values_of(type: Type, table: TypeTable, depth: int = 0) -> st.SearchStrategy[Any]:
    """Members of the type."""
    match type:
        case Str():
            return _str_values(type)
        case Int():
            low = -(10**18) + 1 if type.minimum is None else type.minimum
            high = 10**18 - 1 if type.maximum is None else type.maximum
            step = type.multiple_of or 1
            return st.integers(-(-low // step), high // step).map(lambda n: n * step)
        case Dec():
            return _decimal_values(type, table)
        case Float():
            low_float = None if type.minimum is None else float(type.minimum)
            high_float = None if type.maximum is None else float(type.maximum)
            floats = st.floats(low_float, high_float, allow_nan=False, allow_infinity=False, width=64)
            if type.minimum is None and type.maximum is None:  # what has a form: `number_text.float_text`
                floats = floats.filter(lambda x: x == 0 or 1e-119 <= abs(x) <= 1e117)
            small = st.integers(-1200, 1200).map(lambda n: n / 8)
            return (floats | small).map(lambda x: x + 0.0).filter(lambda x: is_member(x, type, table))
        case Bool():
            return st.booleans()
        case Null():
            return st.none()
        case Constant(value):
            return st.just(value)
        case ListOf():
            return _sized(type.minimum, type.maximum, lambda: values_of(type.item, table, depth + 1), depth)
        case TupleOf():
            return st.tuples(*(values_of(item, table, depth + 1) for item in type.items))
        case MapOf():
            low = type.minimum
            high = low + (0 if depth > 3 else 3)
            if type.maximum is not None:
                high = min(high, type.maximum)
            keys = _str_values(type.key) if isinstance(type.key, Str) else values_of(type.key, table, depth)
            if (depth > 3 and low == 0) or (isinstance(type.key, Str) and type.maximum == 0):
                return st.just({})
            return st.dictionaries(keys, values_of(type.value, table, depth + 1), min_size=low, max_size=high)
        case Optional():
            if depth > 3:
                return st.none()
            return st.none() | st.deferred(lambda: values_of(type.item, table, depth + 1))
        case Alternatives():
            arms = [arm for arm in type.arms if has_words(arm, table)]
            return st.one_of(*(values_of(arm, table, depth + 1) for arm in arms))
        case Named(name):
            return _named_values(name, table, depth)


def _sized(
    low: int, high: int | None, items: Callable[[], st.SearchStrategy[Any]], depth: int
) -> st.SearchStrategy[list[Any]]:
    most = low if depth > 3 else low + 3 if high is None else min(high, low + 3)
    return st.just([]) if most == 0 else st.lists(items(), min_size=low, max_size=most)


def _str_values(type: Str) -> st.SearchStrategy[str]:
    return words_of(Language(str_term(of_all_values(type)))).map(bytes.decode)


def of_all_values(type: Any) -> Any:
    """The type with a raw language of all its values: without the rule for what a hole writes of a `str`.

    Of a table its types.
    """
    match type:
        case Str(layout=layout) if not type.grammar:
            return type if layout == "line" else replace(type, layout="free")
        case ListOf() | Optional():
            return replace(type, item=of_all_values(type.item))
        case MapOf():
            return replace(type, key=of_all_values(type.key), value=of_all_values(type.value))
        case TupleOf():
            return TupleOf(tuple(map(of_all_values, type.items)))
        case Alternatives():
            return Alternatives(tuple(map(of_all_values, type.arms)))
        case AliasType():
            return replace(type, type=of_all_values(type.type))
        case dict():
            return {name: of_all_values(declared) for name, declared in type.items()}
    return type


def _decimal_values(type: Dec, table: TypeTable) -> st.SearchStrategy[Decimal]:
    low = Decimal(-(10**6)) if type.minimum is None else type.minimum
    high = Decimal(10**6) if type.maximum is None else type.maximum
    low, high = min(low, high), max(low, high)
    words = words_of(language(type, table)).map(lambda word: Decimal(word.decode()))
    if type.multiple_of is not None or low == high:
        return words
    return words | st.decimals(low, high, places=4).filter(lambda value: is_member(value, type, table))


def _named_values(name: str, table: TypeTable, depth: int) -> st.SearchStrategy[Any]:
    declared = table[name]
    match declared:
        case EnumType():
            return st.sampled_from([EnumValue(name, member) for member in declared.members])
        case AliasType():
            return values_of(declared.type, table, depth)
        case RecordType():
            return _record_values(name, declared, None, table, depth)
        case UnionType():
            rich = [
                v for v in declared.variants if all(f.optional or has_words(f.type, table) for f in v.fields)
            ]
            return st.one_of(*(_record_values(name, v, v.name, table, depth) for v in rich))


def _record_values(
    name: str, record: RecordType, variant: str | None, table: TypeTable, depth: int
) -> st.SearchStrategy[RecordValue]:
    def field_values(field: FieldType) -> st.SearchStrategy[Any]:
        if field.optional and (depth > 3 or not has_words(field.type, table)):
            return st.none()
        values = values_of(field.type, table, depth + 1)
        return st.none() | values if field.optional else values

    fields = {field.name: field_values(field) for field in record.fields}
    return st.fixed_dictionaries(fields).map(lambda values: RecordValue(name, values, variant))


# --- words of a language --------------------------------------------------------------------------------


@st.composite
def words_of(draw: st.DrawFn, language: Language) -> bytes:
    """Words of a language that is not empty; deep recursion ends in short words."""
    return word_of(random.Random(draw(SEEDS)), language)


def word_of(dice: random.Random, language: Language) -> bytes:
    """A word of a language that is not empty."""
    return _word(dice, language.root, language.rules, 0)


def _word(dice: random.Random, term: Term, rules: Mapping[str, Term], depth: int) -> bytes:
    def word(inner: Term) -> bytes:
        return _word(dice, inner, rules, depth + 1)

    if depth > 12:
        return dice.choice(shortest_words(Language(term, rules), 3))
    match term:
        case Nothing():
            raise AssertionError("no word to draw")
        case Anything():
            return dice.randbytes(dice.randrange(9))
        case Bytes(data):
            return data
        case Words(words):
            return dice.choice(sorted(words))
        case Text():
            return _text_word(dice, term)
        case Sequence(items):
            return b"".join(map(word, items))
        case Choice(arms):
            return word(dice.choice([arm for arm in arms if not is_empty(Language(arm, rules))]))
        case Repeat(item, low, high, separator):
            if is_empty(Language(item, rules)):
                return b""
            size = dice.randint(low, low + 3 if high is None else min(high, low + 3))
            return separator.join([word(item) for _ in range(size)])
        case Array() | Object():
            return random_word(term, rules, dice.choice, word, dice.randrange(4))
        case Span() | Listed():
            return dice.choice(shortest_words(Language(term), 40))
        case Except(item, words):
            found = word(item)
            return found if found not in words else dice.choice(shortest_words(Language(term, rules), 3))
        case Rule(name):
            return word(rules[name])


def _text_word(dice: random.Random, term: Text) -> bytes:
    """A random walk of a length that leads to acceptance."""
    edges = term.dfa.edges
    horizon = term.min_chars + len(edges) + 8
    if term.max_chars is not None:
        horizon = min(horizon, term.max_chars)
    alive = [frozenset(term.dfa.accepting)]
    for _ in range(horizon):
        alive.append(frozenset(s for s, row in enumerate(edges) if any(t in alive[-1] for _, _, t in row)))
    size = dice.choice([size for size in range(term.min_chars, horizon + 1) if 0 in alive[size]])
    state, out = 0, []
    for left in range(size - 1, -1, -1):
        low, high, state = dice.choice([edge for edge in edges[state] if edge[2] in alive[left]])
        out.append(chr(dice.randint(low, min(high, low + 90) if dice.randrange(2) else high)))
    if term.encoding == "json-any":
        return b"".join([dice.choice(list(spellings(ord(char), "json-any"))).encode() for char in out])
    return b"".join([encoded(ord(char), term.encoding == "json") for char in out])


# --- languages that are no types --------------------------------------------------------------------------


@cache
@st.composite
def terms(draw: st.DrawFn, depth: int = 0) -> Term:
    """Random terms without rules, ambiguous ones too; they may be empty."""
    small = st.binary(max_size=3) | st.sampled_from((b"a", b"ab", b"", "é".encode(), b"null"))
    kind = draw(st.integers(0, 5 if depth > 2 else 13))
    if kind <= 1:
        return Bytes(draw(small))
    if kind == 2:
        return Words(frozenset(draw(st.sets(small, max_size=4))))
    if kind <= 4:
        dfa = compile_regex(draw(st.sampled_from(PATTERNS))) if draw(st.booleans()) else all_words()
        low = draw(st.integers(0, 2))
        high = draw(st.none() | st.integers(0, 4))
        return Text(dfa, draw(st.sampled_from(ENCODINGS)), low, high)
    if kind == 5:
        return draw(spans() | listed())
    if kind == 6:
        return Choice(tuple(draw(st.lists(terms(depth + 1), max_size=3))))
    if kind == 7:
        low = draw(st.integers(0, 2))
        high = draw(st.none() | st.integers(0, 3))
        return Repeat(draw(terms(depth + 1)), low, high, draw(st.sampled_from((b"", b", ", b"a"))))
    if kind == 8:
        keys = compile_regex(draw(st.sampled_from(("[ab]", "a{0,2}", '["é]'))))
        family = Family(keys, (Arm(draw(terms(depth + 1))),))
        low = draw(st.integers(0, 2))
        return Object((), (family,), low, draw(st.none() | st.integers(0, 3)), distinct=True)
    if kind == 9:
        return Except(draw(terms(depth + 1)), frozenset(draw(st.sets(small, max_size=3))))
    if kind == 10:
        return draw(arrays(terms(depth + 2)))
    if kind == 11:
        return draw(objects(terms(depth + 2)))
    return Sequence(tuple(draw(st.lists(terms(depth + 1), max_size=3))))


@cache
@st.composite
def recursive_languages(draw: st.DrawFn) -> Language:
    """Languages with one rule that contains itself behind a byte."""
    body = Sequence((Bytes(b"("), Choice((Rule("r"), draw(terms(1)))), Bytes(b")")))
    return Language(draw(st.sampled_from((Rule("r"), Sequence((Rule("r"), Rule("r")))))), {"r": body})


@cache
def compounds() -> st.SearchStrategy[Language]:
    """Arrays, objects and spans, alone or in brackets with something before or behind."""
    bare = arrays(terms(3)) | objects(terms(3)) | spans()
    around = st.sampled_from(((b"{", b"}"), (b"", b", "), (b"[", b"]x"), (b'"', b"")))
    framed = st.builds(lambda one, ends: Sequence((Bytes(ends[0]), one, Bytes(ends[1]))), bare, around)
    return (bare | framed | objects(objects(VALUES)) | arrays(arrays(VALUES))).map(Language)


@cache
def languages() -> st.SearchStrategy[Language]:
    return terms().map(Language) | recursive_languages() | types().map(lambda both: language(*both))
