"""Shapes: what a type looks like in a form, of which language, printer, reader and schema text are made.

A form is told by a function from a type to a shape and by `Texts`, its way with scalars. Everything else is
said once for all forms: `terms` (the language), `printing`, `reading` (whole texts and beginnings of some),
`sketch` (the schema text). So these four cannot disagree about a comma.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from sglc.automata.term import CharDfa, Term
from sglc.immutable import value
from sglc.types.type import AliasType, FieldType, Type, TypeTable


class FormError(ValueError):
    """What a form cannot express: `path` leads to the part (`rows[].tags`), `hint` says what helps."""

    def __init__(self, path: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason
        self.hint = hint


@value
class Leaf:
    """A scalar; `quoted` if texts stand in quotes whatever they are."""

    type: Type
    quoted: bool = False


@value
class Around:
    """A shape between two fixed texts."""

    left: str
    shape: Shape
    right: str = ""


@value
class Part:
    """A field of a record or an item of a tuple, with the fixed texts around it. `field` is None in tuples.

    One that is `optional` may be left out of the text.
    """

    name: str
    left: str
    shape: Shape
    right: str = ""
    optional: bool = False
    field: FieldType | None = None


@value
class Group:
    """Parts of their own types in their order, those that are there joined by `joint`.

    `type`: the qualified name of the record or union, None for a tuple. `tag`: the text that names the
    variant, before all parts. `empty` is written where neither tag nor part is there.
    """

    type: str | None
    parts: tuple[Part, ...]
    joint: str
    left: str = ""
    right: str = ""
    empty: str = ""
    variant: str | None = None
    tag: str = ""


@value
class Variants:
    """A tagged union, by the names of its variants."""

    type: str
    groups: tuple[Group, ...]


@value
class Many:
    """Items of a list, each behind `lead` and before `trail`, joined by `joint`; `empty` where none is."""

    item: Shape
    minimum: int
    maximum: int | None
    joint: str
    left: str = ""
    lead: str = ""
    trail: str = ""
    right: str = ""
    empty: str = ""


@value
class Entries:
    """Entries of a map: a key as a JSON string, a colon, a value. No key occurs twice."""

    key: Type
    value: Shape
    minimum: int
    maximum: int | None
    joint: str
    left: str = ""
    right: str = ""
    empty: str = ""


@value
class Arms:
    """Alternatives with their types."""

    arms: tuple[tuple[Type, Shape], ...]


@value
class Conditioned:
    """A shape whose values meet the conditions of an alias."""

    shape: Shape
    alias: AliasType


def held(shape: Shape, aliases: tuple[AliasType, ...]) -> Shape:
    """A shape whose values meet the conditions of some aliases, the outermost first."""
    for alias in reversed(aliases):
        shape = Conditioned(shape, alias)
    return shape


@value
class Ref:
    """A declared type, made when it is asked for: types may contain themselves. `place` is what of its
    surroundings decides how it is written."""

    name: str
    place: tuple[int, bool] = (0, False)

    @property
    def rule(self) -> str:
        """The name of its rule in a language."""
        level, keyed = self.place
        return f"{self.name} as form {level}{'k' if keyed else ''}"


Shape = Leaf | Around | Group | Variants | Many | Entries | Arms | Conditioned | Ref


@value
class Texts:
    """A form's way with scalars. All raises FormError, without a path, for a text that has no spelling.

    write      the spelling of a text; the flag asks for quotes
    read       the text of a spelling, None for what `write` gives to no text
    end        the place behind the scalar that begins at a place; a flag as in `write`
    term       the spellings of the texts of an automaton with so many characters
    grown      what is known of a text whose spelling is not complete
    null       how null is written
    number     the spellings of floats that are understood, None for all; `number_text` makes one of any
    """

    write: Callable[[str, bool], str]
    read: Callable[[str], str | None]
    end: Callable[[str, int, bool], int]
    term: Callable[[CharDfa, int, int | None, bool], Term]
    grown: Callable[[str], str]
    null: str
    number: Callable[[], CharDfa] | None = None
    number_text: Callable[[str], str] = str
    longest_key: int | None = None

    def key(self, text: str) -> str:
        """The spelling of a key of a map. Raises FormError."""
        if self.longest_key is not None and len(text) > self.longest_key:
            raise FormError("", f"a key of more than {self.longest_key} characters")
        return self.write(text, True)


@value
class Shapes:
    """A type in a form: its shape, and those of the declared types in it."""

    root: Shape
    texts: Texts
    make: Callable[[Ref], Shape]
    table: TypeTable
    """The declared types by the names in the shape; of types with parameters, those for these values."""
    _made: dict[Ref, Shape] = field(default_factory=dict)

    def of(self, ref: Ref) -> Shape:
        """The shape of a declared type at its place. Raises FormError."""
        found = self._made.get(ref)
        if found is None:
            found = self._made[ref] = self.make(ref)
        return found
