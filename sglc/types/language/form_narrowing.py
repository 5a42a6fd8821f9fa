"""The texts, in a form, of the values for which a condition holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sglc.automata.dfa.operations import intersect
from sglc.automata.joined_terms import choice, finite, sequence
from sglc.automata.term import Bytes, Except, Nothing, Term, Text
from sglc.types.condition import (
    All,
    Condition,
    Either,
    atoms,
    below,
    conjuncts,
    holds,
    subject,
)
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
)
from sglc.types.language.condition_automata import number_words, text_dfa
from sglc.types.language.condition_parts import left_out, lengths, settled
from sglc.types.language.scalars import str_dfa
from sglc.types.type import (
    Constant,
    Dec,
    EnumType,
    Int,
    Named,
    Null,
    OneOf,
    SpanOf,
    Str,
    declared_type,
)
from sglc.types.values import EnumValue

if TYPE_CHECKING:
    from sglc.types.language.form_terms import FormTerms


def narrowed_shape(terms: FormTerms, shape: Shape, condition: Condition) -> Term:
    """The texts of a shape for whose values an expressible and bound condition holds.

    Raises as `sglc.types.language.narrowing.narrowed_language`, and FormError.
    """
    condition = settled(condition)
    match condition:
        case All(parts=()):
            return terms.term(shape)
        case Either(parts=()):
            return Nothing()
    match shape:
        case Conditioned(inner, alias):
            parts = (condition,) if alias.where is None else (condition, alias.where)
            return narrowed_shape(terms, inner, All(parts))
        case Around(left, inner, right):
            found = narrowed_shape(terms, inner, condition)
            return sequence(Bytes(left.encode()), found, Bytes(right.encode()))
        case Arms(arms=arms):
            return choice(*(narrowed_shape(terms, arm, condition) for _, arm in arms))
        case Ref():
            return narrowed_shape(terms, terms.shapes.of(shape), condition)
        case Many(minimum=low, maximum=high) | Entries(minimum=low, maximum=high):
            ranges = lengths(low, high, condition)
            return choice(*(terms.term(replace(shape, minimum=low, maximum=high)) for low, high in ranges))
        case Group():
            return _group(terms, shape, condition)
        case Leaf():
            return _leaf(terms, shape, condition)
    raise AssertionError(f"{shape} cannot be narrowed")


def _group(terms: FormTerms, group: Group, condition: Condition) -> Term:
    """A record; each part of the condition is about one of its fields."""
    by_field: dict[str, list[Condition]] = {}
    for part in conjuncts(condition):
        about = next(found for found in map(subject, atoms(part)) if found is not None)
        by_field.setdefault(about.path[0], []).append(below(part, about.path[0]))

    def narrowed(part: Part) -> tuple[Term, bool]:
        asked = by_field.get(part.name)
        if asked is None:
            return terms.part(part), part.optional
        assert part.field is not None, "conditions lead to the fields of records"
        default = part.field.default if part.field.has_default else None
        return terms.part(part, All(tuple(asked))), part.optional and holds(All(tuple(asked)), default)

    items = [narrowed(part) for part in group.parts]
    if any(isinstance(term, Nothing) and not absent for term, absent in items):
        return Nothing()
    return terms.joined(group, items)


def _leaf(terms: FormTerms, leaf: Leaf, condition: Condition) -> Term:
    type = leaf.type
    match type:
        case Str():
            dfa = str_dfa(type)
            for part in conjuncts(condition):
                dfa = intersect(dfa, text_dfa(part))
            return terms.shapes.texts.term(dfa, type.min_chars, type.max_chars, leaf.quoted)
        case SpanOf():
            return _without(terms, leaf, condition)
        case Int() | Dec():
            dfa = number_words(type, condition)
            return Text(dfa) if dfa.edges else Nothing()
        case Named(name=name):
            declared = declared_type(name, terms.shapes.table)
            assert isinstance(declared, EnumType), "no other declared type is a scalar"
            members = [each for each in declared.members if holds(condition, EnumValue(name, each))]
            return terms.listed(members, leaf.quoted)
        case OneOf(words=words):
            if words is None:
                return terms.leaf(leaf)
            return terms.listed([word for word in sorted(words) if holds(condition, word)], leaf.quoted)
        case Constant(value=value):
            return terms.leaf(leaf) if holds(condition, value) else Nothing()
        case Null():
            return terms.leaf(leaf) if holds(condition, None) else Nothing()
    return finite([word for word in ("true", "false") if holds(condition, word == "true")])


def _without(terms: FormTerms, leaf: Leaf, condition: Condition) -> Term:
    """The pieces of a text but for those that the condition leaves out."""
    found = []
    for text in left_out(condition):
        try:
            found.append(terms.shapes.texts.write(text, leaf.quoted).encode())
        except FormError:
            continue
    whole = terms.leaf(leaf)
    return whole if isinstance(whole, Nothing) or not found else Except(whole, frozenset(found))
