"""The first artefact of a type: the language of its texts.

At the top of a hole (surface `hole`) text, enum members, numbers, booleans and null stand raw; records,
lists, maps, tuples and tagged unions are JSON in the one spelling of `json.dumps(value, ensure_ascii=False)`.
Inside JSON (surface `json`) text and enum members are quoted. One spelling per value leaves the skeleton of
an object nothing to choose, so that it costs no forward pass.

As JSON the language of a type is exactly the texts of its values. Raw it is what a hole writes: of a `str`
one line (`written_dfa`), although a value of the type may have several.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sglc.automata.term import Language, Term
from sglc.types.dependent import given_types
from sglc.types.language.builder import LanguageBuilder, Narrowed, build
from sglc.types.language.scalars import Surface
from sglc.types.type import DeclaredType, Str, Type, TypeTable, uses_of

if TYPE_CHECKING:
    from sglc.types.condition import Condition
    from sglc.types.forms.shape import Shape
    from sglc.types.language.form_terms import FormTerms

LARGE_GRAMMAR = 20_000
"""Languages of larger grammars, which hold lists of values, are not kept."""


def language(type: Type, table: TypeTable, *, surface: Surface = "hole") -> Language:
    """The texts of a type. Raises LanguageError, RegexError (a pattern) or NumberError (a range).

    Declared types that are recursive or used more than once become rules. Whether the language has any text
    is for `sglc.automata.analysis.emptiness` to say.
    """
    uses = uses_of(type, table)
    declared = tuple((name, table[name]) for name in uses)
    shared = frozenset(name for name, count in uses.items() if count > 1)
    if given_types(type) or (isinstance(type, Str) and len(type.grammar) > LARGE_GRAMMAR):
        return build(
            type, declared, shared, surface, _NARROWED
        )  # bound to values: too large to keep, and used once
    try:
        return _cached_language(type, declared, shared, surface)
    except TypeError:  # a default that cannot be hashed
        return build(type, declared, shared, surface, _NARROWED)


@lru_cache(maxsize=1024)
def _cached_language(
    type: Type, declared: tuple[tuple[str, DeclaredType], ...], shared: frozenset[str], surface: Surface
) -> Language:
    return build(type, declared, shared, surface, _NARROWED)


def _narrowed_type(
    builder: LanguageBuilder, type: Type, condition: Condition, surface: Surface, beside_null: bool
) -> Term:
    from sglc.types.language.narrowing import narrowed_term  # loads all of regular expressions

    return narrowed_term(builder, type, condition, surface, beside_null)


def _narrowed_shape(terms: FormTerms, shape: Shape, condition: Condition) -> Term:
    from sglc.types.language.form_narrowing import narrowed_shape  # loads all of regular expressions

    return narrowed_shape(terms, shape, condition)


_NARROWED = Narrowed(_narrowed_type, _narrowed_shape)
