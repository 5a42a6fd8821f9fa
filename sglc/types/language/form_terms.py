"""The language of a type in a form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, assert_never

from sglc.automata.dfa.operations import intersect
from sglc.automata.joined_terms import choice, finite, sequence
from sglc.automata.term import (
    Arm,
    Bytes,
    CharDfa,
    Family,
    Nothing,
    Object,
    Repeat,
    Rule,
    Term,
    Text,
)
from sglc.types.dependent import span_term
from sglc.types.forms.forms import shapes_of
from sglc.types.forms.shape import (
    Arms,
    Around,
    Conditioned,
    Entries,
    FormError,
    Group,
    Leaf,
    Many,
    Part,
    Ref,
    Shape,
    Shapes,
    Texts,
    Variants,
)
from sglc.types.forms.yaml import legal_keys
from sglc.types.language.scalars import constant_text, joined, number_dfa, str_dfa
from sglc.types.type import (
    AliasType,
    Bool,
    Constant,
    Dec,
    EnumType,
    Float,
    InForm,
    Int,
    LanguageError,
    Named,
    Null,
    OneOf,
    SpanOf,
    Str,
    Type,
    TypeTable,
    declared_type,
)

if TYPE_CHECKING:
    from sglc.types.condition import Condition


def form_term(builder: Builder, type: InForm, condition: Condition | None = None) -> Term:
    """The texts of a type in a form, those for which a bound condition holds; its rules are added to those of
    the builder. Raises LanguageError, and with a condition as `narrowed_language`."""
    try:
        shapes = shapes_of(type, builder.table)
        return FormTerms(builder, shapes, type.form).term(shapes.root, condition)
    except FormError as fault:
        raise LanguageError(str(fault)) from None


class Narrowed(Protocol):
    """How conditions are kept."""

    @property
    def shape(self) -> Callable[[FormTerms, Shape, Condition], Term]:
        """The texts of a shape for whose values a condition holds."""


class Builder(Protocol):
    """What builds the language around: it holds the declared types and the rules."""

    table: TypeTable
    shared: frozenset[str]
    rules: dict[str, Term]
    open: set[str]

    @property
    def narrowed(self) -> Narrowed:
        """What keeps conditions."""

    def keys(self, type: Type) -> CharDfa:
        """The keys of a map."""


class FormTerms:
    """Makes terms of shapes; rules of declared types are added to the builder's."""

    def __init__(self, builder: Builder, shapes: Shapes, form: str, *, bound: bool = True) -> None:
        """With `bound` false, what depends on given values may be without them: then it is any text."""
        self.builder = builder
        self.shapes = shapes
        self.form = form
        self.bound = bound

    def term(self, shape: Shape, condition: Condition | None = None) -> Term:
        """The texts of a shape, with a condition those of the values for which it holds.

        Raises FormError, and LanguageError for what no form has a language of.
        """
        if condition is not None:
            return self.builder.narrowed.shape(self, shape, condition)
        match shape:
            case Conditioned(inner, alias):
                return self.term(inner, alias.where if self.bound or not _waits(alias) else None)
            case Leaf():
                return self.leaf(shape)
            case Around(left, inner, right):
                return sequence(_bytes(left), self.term(inner), _bytes(right))
            case Group():
                return self.group(shape)
            case Variants(groups=groups):
                return choice(*map(self.group, groups))
            case Many():
                return self.many(shape)
            case Entries():
                return self.entries(shape)
            case Arms(arms=arms):
                return choice(*(self.term(arm) for _, arm in arms))
            case Ref():
                return self.named(shape)
            case _:
                assert_never(shape)

    def named(self, ref: Ref) -> Term:
        """A declared type; a rule stands for one that is used more than once."""
        if ref.name not in self.builder.shared and ref.name in self.builder.table:
            return self.term(self.shapes.of(ref))
        name = f"{ref.rule} {self.form}"
        rules = self.builder.rules
        if name not in rules and name not in self.builder.open:
            self.builder.open.add(name)
            rules[name] = self.term(self.shapes.of(ref))
        return Rule(name)

    def group(self, group: Group) -> Term:
        """The tag and the parts, those between fixed texts that are there."""
        return self.joined(group, [(self.part(part), part.optional) for part in group.parts])

    def part(self, part: Part, condition: Condition | None = None) -> Term:
        """A part, of values for which a condition holds, between its fixed texts."""
        return sequence(_bytes(part.left), self.term(part.shape, condition), _bytes(part.right))

    def joined(self, group: Group, parts: list[tuple[Term, bool]]) -> Term:
        """The tag and the parts; the flag says which may be left out."""
        tag: list[tuple[Term, bool]] = [(_bytes(group.tag), False)] if group.tag else []
        return joined(group.left, tag + parts, group.joint, group.right, group.empty)

    def many(self, many: Many) -> Term:
        """The items of a list; Nothing where no count is possible."""
        low, high = many.minimum, many.maximum
        if high is not None and high < low:
            return Nothing()
        empty: Term = _bytes(many.empty) if low == 0 else Nothing()
        item = sequence(_bytes(many.lead), self.term(many.item), _bytes(many.trail))
        if high == 0 or isinstance(item, Nothing):
            return empty
        some = Repeat(item, max(1, low), high, many.joint.encode())
        return choice(sequence(_bytes(many.left), some, _bytes(many.right)), empty)

    def entries(self, shape: Entries) -> Term:
        """The entries of a map, no key twice."""
        low, high = shape.minimum, shape.maximum
        if high is not None and high < low:
            return Nothing()
        empty: Term = _bytes(shape.empty) if low == 0 else Nothing()
        keys, item = intersect(self.builder.keys(shape.key), legal_keys()), self.term(shape.value)
        if high == 0 or not keys.edges or isinstance(item, Nothing):
            return empty
        family = Family(keys, (Arm(item),))
        joint, colon = _bytes(shape.joint), Bytes(b":")
        some = Object((), (family,), max(1, low), high, distinct=True, comma=joint, colon=colon)
        return choice(sequence(_bytes(shape.left), some, _bytes(shape.right)), empty)

    # -- scalars -----------------------------------------------------------------------------------

    def leaf(self, leaf: Leaf) -> Term:
        """The spellings of a scalar."""
        texts = self.shapes.texts
        match leaf.type:
            case Str() as type:
                return texts.term(str_dfa(type), type.min_chars, type.max_chars, leaf.quoted)
            case Int() | Dec():
                dfa = number_dfa(leaf.type)
            case Float():
                dfa = number_dfa(leaf.type)
                dfa = dfa if texts.number is None else intersect(dfa, texts.number())
            case Bool():
                return finite(["true", "false"])
            case Null():
                return _bytes(texts.null)
            case Constant(value):
                if isinstance(value, str):
                    return self.listed([value], leaf.quoted)
                return _bytes(constant_text(value, "hole"))
            case Named(name):
                declared = declared_type(name, self.shapes.table)
                assert isinstance(declared, EnumType), "no other declared type is a scalar"
                return self.listed(list(declared.members), leaf.quoted)
            case OneOf(words=words):
                assert words is not None or not self.bound
                if words is None:
                    return texts.term(str_dfa(Str(min_chars=1)), 1, None, leaf.quoted)
                return self.listed(sorted(words), leaf.quoted)
            case SpanOf() as span:
                return self.span(span, leaf.quoted)
            case _:
                raise AssertionError(f"{leaf.type} is no scalar")
        return Text(dfa) if dfa.edges else Nothing()

    def span(self, span: SpanOf, quoted: bool) -> Term:
        """The pieces of a text that have no character which the form cannot hold."""
        texts = self.shapes.texts
        assert span.text is not None or not self.bound
        if span.text is None:
            return texts.term(str_dfa(Str()), max(1, span.min_chars), span.max_chars, quoted)
        illegal = tuple(sorted(char for char in set(span.text) if not _is_legal(texts, char)))
        pieces = span_term(replace(span, until=(*span.until, *illegal)), "json" if quoted else "raw")
        return sequence(Bytes(b'"'), pieces, Bytes(b'"')) if quoted else pieces

    def listed(self, texts: list[str], quoted: bool) -> Term:
        """Some texts, but for those that the form cannot hold."""
        found = []
        for text in texts:
            try:
                found.append(self.shapes.texts.write(text, quoted))
            except FormError:
                continue
        return finite(found)


def _waits(alias: AliasType) -> bool:
    """Whether the condition of an alias compares with values that are not known."""
    from sglc.types.condition import given_numbers  # loads all of regular expressions

    return alias.where is not None and bool(given_numbers(alias.where))


def _is_legal(texts: Texts, char: str) -> bool:
    try:
        texts.write(char, False)
    except FormError:
        return False
    return True


def _bytes(text: str) -> Bytes:
    return Bytes(text.encode())
