"""How the language of a type is built: terms of its parts, rules for those that are shared.

At the top of a hole (surface `hole`) text, enum members, numbers, booleans and null stand raw; records,
lists, maps, tuples and tagged unions are JSON in the one spelling of `json.dumps(value, ensure_ascii=False)`.
Inside JSON (surface `json`) text and enum members are quoted. One spelling per value leaves the skeleton of
an object nothing to choose, so that it costs no forward pass.

As JSON the language of a type is exactly the texts of its values. Raw it is what a hole writes: of a `str`
one line (`written_dfa`), although a value of the type may have several.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, assert_never

from sglc.automata.analysis.emptiness import empty_rules
from sglc.automata.charset import ALL
from sglc.automata.dfa.nfa_union import repeated
from sglc.automata.dfa.operations import (
    TooLarge,
    accepts,
    any_char_class,
    char_lengths,
    intersect,
    is_finite,
    words,
)
from sglc.automata.joined_terms import choice, finite, sequence
from sglc.automata.term import (
    MOST_COUNTED,
    Arm,
    Bytes,
    CharDfa,
    Encoding,
    Except,
    Family,
    Language,
    Nothing,
    Object,
    Repeat,
    Rule,
    Term,
    Text,
)
from sglc.immutable import value
from sglc.types.dependent import one_of_term, span_term
from sglc.types.json_text import json_text
from sglc.types.language.scalars import Surface, constant_text, joined, number_dfa, written_dfa
from sglc.types.type import (
    TAG,
    AliasType,
    Alternatives,
    Applied,
    Bool,
    Constant,
    Dec,
    DeclaredType,
    EnumType,
    FieldType,
    Float,
    InForm,
    Int,
    Json,
    LanguageError,
    ListOf,
    MapOf,
    Named,
    Null,
    OneOf,
    Optional,
    RecordType,
    SpanOf,
    Str,
    TupleOf,
    Type,
    TypeTable,
    UnionType,
    declaration_of,
    declared_type,
    without_form,
)

if TYPE_CHECKING:
    from sglc.types.condition import Condition
    from sglc.types.forms.shape import Shape
    from sglc.types.language.form_terms import FormTerms


@value
class Narrowed:
    """How conditions are kept, by what loads all of regular expressions.

    `type` gives the texts of a part for whose values a condition holds; the flag is `beside_null` as of
    `raw`. `shape` gives those of a part in a form.
    """

    type: Callable[[LanguageBuilder, Type, Condition, Surface, bool], Term]
    shape: Callable[[FormTerms, Shape, Condition], Term]


LONGEST_KEY = 10_000
"""The largest bound on the characters of a map's keys, each of which is a state of their automaton."""


def build(
    type: Type,
    declared: tuple[tuple[str, DeclaredType], ...],
    shared: frozenset[str],
    surface: Surface,
    narrowed: Narrowed,
) -> Language:
    """The texts of a type; `declared` and `shared` as of `uses_of`. Raises as `language` does."""
    builder = LanguageBuilder(dict(declared), shared, narrowed)
    builder.check_aliases()
    root = builder.raw(type) if surface == "hole" else builder.json(type)
    for name in empty_rules(builder.rules):
        builder.rules[name] = Nothing()
    grammar = surface == "hole" and isinstance(type, Str) and bool(type.grammar)
    return Language(root, builder.rules, grammar)


@lru_cache(maxsize=1024)
def str_term(type: Str, encoding: Encoding = "raw") -> Term:
    """What a hole writes of a `str`, without quotes. Bounds that the patterns already keep are left out."""
    dfa = written_dfa(type, encoding)
    if not dfa.edges:
        return Nothing()
    low, high = type.min_chars, type.max_chars
    if type.patterns and is_finite(dfa):
        lengths = [length for length, some in enumerate(char_lengths(dfa, len(dfa.edges))) if some]
        low = 0 if lengths[0] >= low else low
        high = None if high is not None and lengths[-1] <= high else high
    return Text(dfa, encoding, low, high)


@lru_cache(maxsize=1024)
def keys_dfa(type: Str) -> CharDfa:
    """The keys of a map, bounds on their length unrolled. Raises LanguageError where that is too large."""
    dfa, low, high = written_dfa(type, "json"), type.min_chars, type.max_chars
    high = None if high is None or high > MOST_COUNTED else high
    if low == 0 and high is None:
        return dfa
    if max(low, high or 0) > LONGEST_KEY:
        raise LanguageError(f"the keys of a map are bounded by more than {LONGEST_KEY:,} characters")
    try:
        return intersect(dfa, repeated(any_char_class(ALL), low, high))
    except TooLarge as fault:
        raise LanguageError(f"the bounds of a map's keys and their pattern make {fault}") from None


def _number_term(type: Int | Dec | Float) -> Term:
    dfa = number_dfa(type)
    return Text(dfa) if dfa.edges else Nothing()


# --- the builder --------------------------------------------------------------------------------------------


class LanguageBuilder:
    def __init__(self, table: TypeTable, shared: frozenset[str], narrowed: Narrowed) -> None:
        self.table = table
        self.shared = shared
        self.narrowed = narrowed
        self.rules: dict[str, Term] = {}
        self.open: set[str] = set()

    def check_aliases(self) -> None:
        """Refuses an alias that leads to itself without passing a byte: such a rule would never move."""
        for start, declared in self.table.items():
            if not isinstance(declared, AliasType):
                continue
            seen: set[str] = set()
            stack: list[Type] = [declared.type]
            while stack:
                here = stack.pop()
                match here:
                    case Optional() | InForm():
                        stack.append(here.item)
                    case Alternatives():
                        stack += here.arms
                    case Named(name) if name == start:
                        raise LanguageError(f"the type {start} is defined by itself alone")
                    case Named(name) if name not in seen:
                        seen.add(name)
                        alias = self.table[name]
                        if isinstance(alias, AliasType):
                            stack.append(alias.type)

    def raw(self, type: Type, *, beside_null: bool = False) -> Term:
        """`beside_null`: the text `null` means the null beside this type, so the type must leave it out."""
        match type:
            case Str():
                term = self.text(type, "raw")
                if beside_null and type.grammar:
                    return Except(term, frozenset({b"null"}))
                if beside_null and isinstance(term, Text) and accepts(term.dfa, "null"):
                    return Except(term, frozenset({b"null"}))
                return term
            case Int() | Dec() | Float():
                return _number_term(type)
            case Bool():
                return finite(["true", "false"])
            case Null():
                return Bytes(b"null")
            case Constant(value):
                text = constant_text(value, "hole")
                return Nothing() if beside_null and text == "null" else Bytes(text.encode())
            case Optional():
                return choice(self.raw(self.arm(type.item), beside_null=True), Bytes(b"null"))
            case Alternatives():
                beside_null = beside_null or self.has_null(type)
                return choice(*(self.raw(self.arm(arm), beside_null=beside_null) for arm in type.arms))
            case Named(name):
                declared = declared_type(name, self.table)
                if isinstance(declared, AliasType):
                    return self.alias(declared, "hole", beside_null=beside_null)
                if isinstance(declared, EnumType):
                    return finite([m for m in declared.members if not (beside_null and m == "null")])
                return self.json(type)
            case ListOf() | MapOf() | TupleOf():
                return self.json(type)
            case Applied():
                declared = declaration_of(type)
                if isinstance(declared, AliasType):
                    return self.alias(declared, "hole", beside_null=beside_null)
                return self.body(declared)
            case OneOf():
                return one_of_term(type, "raw", beside_null=beside_null)
            case SpanOf():
                return span_term(type, "raw", beside_null=beside_null)
            case Json():
                return self.any_json(type)
            case InForm(item=item, form=form):
                return self.json(item) if form == "json" else self.in_form(type)
            case _:
                assert_never(type)

    def arm(self, type: Type) -> Type:
        """An arm of a union: the form of a value is that of the whole."""
        return without_form(type, self.table)

    def in_form(self, type: InForm) -> Term:
        """The texts of a value in a form other than JSON."""
        from sglc.types.language.form_terms import form_term  # loads all forms

        return form_term(self, type)

    def alias(self, declared: AliasType, surface: Surface, *, beside_null: bool = False) -> Term:
        """The texts of what an alias stands for, as far as its condition holds of them."""
        if declared.where is not None:
            return self.narrowed.type(self, declared.type, declared.where, surface, beside_null)
        if surface == "json":
            return self.json(declared.type)
        return self.raw(declared.type, beside_null=beside_null)

    def text(self, type: Str, encoding: Encoding) -> Term:
        """Texts of a `str`; the rules of a grammar become rules of this language."""
        if not type.grammar:
            return str_term(type, encoding)
        if type != Str(grammar=type.grammar, given=type.given):
            raise LanguageError("a text of a grammar cannot be refined")
        from sglc.cfg.model.errors import GrammarError
        from sglc.types.grammar_text import NotInJson, grammar_terms

        try:
            root, rules = grammar_terms(type.grammar, encoding)
        except (GrammarError, NotInJson) as fault:
            raise LanguageError(str(fault)) from None
        self.rules.update(rules)
        return root

    def has_null(self, type: Type) -> bool:
        """Whether null is a value of the type, aliases followed."""
        match type:
            case InForm(item=item):
                return self.has_null(item)
            case Null() | Optional():
                return True
            case Alternatives():
                return any(self.has_null(arm) for arm in type.arms)
            case Named(name):
                declared = declared_type(name, self.table)
                return isinstance(declared, AliasType) and self.has_null(declared.type)
            case _:
                return False

    def json(self, type: Type) -> Term:
        """The texts of a type as JSON, in the canonical spelling."""
        match type:
            case Str():
                return sequence(Bytes(b'"'), self.text(type, "json"), Bytes(b'"'))
            case Int() | Dec() | Float():
                return _number_term(type)
            case Bool():
                return finite(["true", "false"])
            case Null():
                return Bytes(b"null")
            case Constant(value):
                return Bytes(constant_text(value, "json").encode())
            case Optional():
                return choice(self.json(type.item), Bytes(b"null"))
            case Alternatives():
                return choice(*(self.json(arm) for arm in type.arms))
            case TupleOf():
                return self.fields(b"[", [(self.json(item), False) for item in type.items], b"]")
            case ListOf():
                return self.many(b"[", self.json(type.item), type, b"]")
            case MapOf():
                return self.map(type)
            case Named(name):
                return self.named(name)
            case Applied():
                return self.applied(type)
            case OneOf():
                return one_of_term(type, "json")
            case Json():
                return self.any_json(type)
            case SpanOf():
                return sequence(Bytes(b'"'), span_term(type, "json"), Bytes(b'"'))
            case InForm(item=item):
                return self.json(item)
            case _:
                assert_never(type)

    def any_json(self, type: Json) -> Term:
        """The language of a schema; its rules get names of their own."""
        from sglc.types.schema_language import schema_terms

        root, rules = schema_terms(type.schema)
        self.rules.update(rules)
        return root

    def many(self, left: bytes, item: Term, type: ListOf, right: bytes) -> Term:
        """The items of a list between two brackets, as many as the type allows; Nothing where no count is
        possible."""
        if type.maximum is not None and type.maximum < type.minimum:
            return Nothing()
        if type.maximum == 0 or (isinstance(item, Nothing) and type.minimum == 0):
            return Bytes(left + right)
        if isinstance(item, Nothing):
            return item
        return sequence(Bytes(left), Repeat(item, type.minimum, type.maximum, b", "), Bytes(right))

    def map(self, type: MapOf) -> Term:
        """Objects with unique keys, as many as the type allows."""
        keys, value = self.keys(type.key), self.json(type.value)
        if type.maximum is not None and type.maximum < type.minimum:
            return Nothing()
        if type.maximum == 0 or not keys.edges or isinstance(value, Nothing):
            return Bytes(b"{}") if type.minimum == 0 else Nothing()
        family = Family(keys, (Arm(value),))
        entries = Object((), (family,), type.minimum, type.maximum, distinct=True)
        return sequence(Bytes(b"{"), entries, Bytes(b"}"))

    def keys(self, type: Type) -> CharDfa:
        """The keys of a map. Raises LanguageError for what is neither text nor an enum, or has too many
        states."""
        if isinstance(type, Str) and not type.grammar:
            return keys_dfa(type)
        if isinstance(type, InForm):
            return self.keys(type.item)
        if isinstance(type, Named):
            declared = declared_type(type.name, self.table)
            if isinstance(declared, AliasType):
                return self.keys(declared.type)
            if isinstance(declared, EnumType):
                return words(declared.members)
        raise LanguageError("the keys of a map must be text or an enum")

    def named(self, name: str) -> Term:
        """The texts of a declared type; a rule stands for those that are shared or recursive."""
        declared = declared_type(name, self.table)
        match declared:
            case EnumType():
                return finite([json_text(member) for member in declared.members])
            case AliasType():
                composite = isinstance(declared.type, ListOf | MapOf | TupleOf | Optional | Alternatives)
                if name not in self.shared or not (composite or declared.where):
                    return self.alias(declared, "json")
            case RecordType() | UnionType():
                if name not in self.shared:
                    return self.body(declared)
        if name not in self.rules and name not in self.open:
            self.open.add(name)
            self.rules[name] = self.body(declared)
        return Rule(name)

    def applied(self, type: Applied) -> Term:
        """The texts of a declared type with values; a rule, as it may contain itself."""
        assert type.instance is not None
        name = f"{type.name}({type.instance.number})"
        if name not in self.rules and name not in self.open:
            self.open.add(name)
            self.rules[name] = self.body(type.instance.declared)
        return Rule(name)

    def body(self, declared: DeclaredType) -> Term:
        """What the rule of a declared type stands for. Raises LanguageError for an enum, which has none."""
        match declared:
            case RecordType():
                return self.fields(b"{", [self.field(field) for field in declared.fields], b"}")
            case UnionType():
                return choice(*(self.variant(variant) for variant in declared.variants))
            case AliasType():
                return self.alias(declared, "json")
            case _:
                raise LanguageError(f"{declared.name} has no body")

    def field(self, field: FieldType) -> tuple[Term, bool]:
        """A key with its value, and whether the field may be absent."""
        key = Bytes(f"{json_text(field.name)}: ".encode())
        return sequence(key, self.json(field.type)), field.optional or field.has_default

    def variant(self, variant: RecordType) -> Term:
        """An object whose first key names the variant."""
        tag = Bytes(f"{json_text(TAG)}: {json_text(variant.name)}".encode())
        return self.fields(b"{", [(tag, False), *(self.field(field) for field in variant.fields)], b"}")

    def fields(self, left: bytes, items: list[tuple[Term, bool]], right: bytes) -> Term:
        """Items with `, ` between those that are there; the flag says which may be left out."""
        ends = left.decode(), right.decode()
        return joined(ends[0], items, ", ", ends[1], "".join(ends))
