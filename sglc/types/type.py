"""The types of SGL as data: what the checker infers, the bytecode carries and the runtime decodes.

A type is a frozen tree. Declared types (records, enums, unions, aliases) appear in it only as `Named`
nodes, looked up in a `TypeTable`, so recursive types are finite trees too. The four artefacts of a type
(its language, its schema text, its decoder and its printer) are functions in the sibling files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, get_args

from sglc.immutable import node, value
from sglc.types.values import Value

if TYPE_CHECKING:
    from sglc.types.condition import Condition

Layout = Literal["", "line", "lines", "free"]
"""Which control characters a text may have, and which of them a hole may write; see `Str`."""


@value
class Str:
    """Any Unicode text (of scalar values: no lone surrogates), lengths in code points.

    `layout`: "line" are texts without control characters (Unicode category Cc) only. The others have all
    texts and differ in what a hole may write as raw text: one line (""), several ("lines"), or whatever the
    patterns admit ("free", after `matching`). As JSON, which escapes them, every text may be written.
    `until`: stop texts that cannot occur inside the value and end it where it stands as raw text.
    `excludes`: texts that cannot occur inside. `patterns`: regexes that each match the whole value.
    `grammar`: the portable text of a grammar (`sglc.cfg.model.serialize`), or empty. Then the value is a text
    of this grammar, control characters included where it has them, and nothing else refines it. `given`: of a
    grammar with parameters the numbers of the values that its hole is given for them. When the hole is
    reached, the grammar with these values takes its place; see `sglc.types.dependent`.
    """

    min_chars: int = 0
    max_chars: int | None = None
    patterns: tuple[str, ...] = ()
    until: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    layout: Layout = ""
    grammar: str = ""
    given: tuple[int, ...] = ()


def matching(*patterns: str, of: Str | None = None) -> Str:
    """`str matching /…/`: a hole writes what the patterns admit, line breaks too."""
    base = Str() if of is None else of
    return replace(base, patterns=(*base.patterns, *patterns), layout=base.layout or "free")


@value
class Int:
    """Integers, at most 18 digits where no bound says otherwise; bounds included."""

    minimum: int | None = None
    maximum: int | None = None
    multiple_of: int | None = None


@value
class Dec:
    """Exact decimals (`decimal`); bounds included."""

    minimum: Decimal | None = None
    maximum: Decimal | None = None
    multiple_of: Decimal | None = None


@value
class Float:
    """Finite binary floating point numbers; bounds included."""

    minimum: Decimal | None = None
    maximum: Decimal | None = None


@value
class Bool:
    pass


@value
class Null:
    pass


@node
class Constant:
    """A literal type: exactly this string, number or boolean.

    Two are equal if their values are of one kind and written alike: `true` is not `1`, `1.0` not `1.00`.
    """

    value: str | int | Decimal | bool

    def _written(self) -> tuple[type, str]:
        return self.value.__class__, str(self.value)

    def __eq__(self, other: object) -> bool:
        return self._written() == other._written() if isinstance(other, Constant) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._written())


@value
class ListOf:
    item: Type
    minimum: int = 0
    maximum: int | None = None


@value
class MapOf:
    """String keys of type `key` (a Str), unique, to values; a JSON object."""

    key: Type
    value: Type
    minimum: int = 0
    maximum: int | None = None


@value
class TupleOf:
    """A JSON array with exactly these items."""

    items: tuple[Type, ...]


@value
class Optional:
    """`T?`: the item or null."""

    item: Type


@value
class Alternatives:
    """`A | B`: arms whose languages do not overlap (the checker sees to it)."""

    arms: tuple[Type, ...]


@value
class Named:
    """A declared type, by its qualified name in the table (`Crew`, `std.text.email`)."""

    name: str


@value
class Json:
    """`json`: any JSON value. `schema`, if not empty, is the JSON text of the JSON Schema that it satisfies.

    Values are plain: None, booleans, integers, decimals (numbers with a point or an exponent), text (control
    characters included), lists and maps of these.
    """

    schema: str = ""


@value
class OneOf:
    """`one of xs`: a text of a list that is known only when a hole is reached.

    The list is the hole's given value number `given`. `words` is None until then; see `sglc.types.dependent`.
    """

    given: int
    words: frozenset[str] | None = None


@value
class SpanOf:
    """`span of x`: a piece of a text that is known only when a hole is reached, never empty.

    The text is the hole's given value number `given`; `text` is None until then. A piece holds none of the
    texts in `until`.
    """

    given: int
    min_chars: int = 1
    max_chars: int | None = None
    until: tuple[str, ...] = ()
    text: str | None = None


class Instance:
    """A declared type with values for its parameters, made when it is first asked for: it may contain itself.

    Two are equal if they are the same. `number` tells those of one type of a hole apart.
    """

    __slots__ = ("_declared", "_make", "number")

    def __init__(self, number: int, make: Callable[[], DeclaredType]) -> None:
        self.number = number
        self._make = make
        self._declared: DeclaredType | None = None

    @property
    def declared(self) -> DeclaredType:
        """The declaration, its parts bound to the values. Raises GivenError (`sglc.types.dependent`)."""
        if self._declared is None:
            self._declared = self._make()
        return self._declared


@value
class Applied:
    """`Mail(body)`: a declared type with values for its parameters, known only when a hole is reached.

    The values are the given values with the numbers `given`, one for each parameter. `declarations` are that
    of the type and those that it leads to, left out in their own parts. `instance` is None until the values
    are put in; see `sglc.types.dependent`. A value of it is one of the declared type.
    """

    name: str
    given: tuple[int, ...]
    declarations: tuple[OpenType, ...] = ()
    instance: Instance | None = None


Form = Literal["json", "yaml", "xml", "csv", "lines"]
"""How a value is written as a text of its own; see `sglc.types.forms`."""

FORMS: tuple[Form, ...] = get_args(Form)


@value
class InForm:
    """`T as yaml`: the values of `item` that have a text in the form.

    The form is that of a whole text: of a hole, of `${…}`, of `schema(T)`. Inside another value it says
    nothing: there the form of that value holds.
    """

    item: Type
    form: Form


Type = (
    Str
    | Int
    | Dec
    | Float
    | Bool
    | Null
    | Constant
    | ListOf
    | MapOf
    | TupleOf
    | Optional
    | Alternatives
    | Named
    | OneOf
    | SpanOf
    | Applied
    | Json
    | InForm
)


@value
class FieldType:
    """A field of a record or variant. An optional field may be absent from the text.

    A field with a default may be absent too and then has the default; `has_default` tells a null default
    from none.
    """

    name: str
    type: Type
    optional: bool = False
    has_default: bool = False
    default: Value = None
    doc: str = ""


@value
class RecordType:
    """Fields in the order they are generated."""

    name: str
    fields: tuple[FieldType, ...]
    doc: str = ""


@value
class EnumType:
    name: str
    members: tuple[str, ...]
    docs: tuple[str, ...] = ()
    doc: str = ""


class _VariantIndex:
    """What a union remembers beside its parts."""

    __slots__ = ("_by_name",)
    _by_name: dict[str, RecordType]


@value
class UnionType(_VariantIndex):
    """Tagged variants. Printed as one JSON object whose first key is `type` with the variant's name."""

    name: str
    variants: tuple[RecordType, ...]
    doc: str = ""

    def variant(self, name: str | None) -> RecordType | None:
        """The variant of that name, None if there is none."""
        try:
            known = self._by_name
        except AttributeError:
            known = {variant.name: variant for variant in reversed(self.variants)}
            object.__setattr__(self, "_by_name", known)
        return known.get(name) if name is not None else None


@value
class Predicate:
    """A condition that only a computation decides. `function` is the pure function of one value that does,
    `text` the condition as it is written."""

    function: str
    text: str


@value
class AliasType:
    """Another name for a type, or with conditions for some of its values.

    The texts of the type keep `where`, one condition on known values that its mask can keep. `predicates` are
    asked of a complete value; see `sglc.types.language.predicates`.
    """

    name: str
    type: Type
    doc: str = ""
    where: Condition | None = None
    predicates: tuple[Predicate, ...] = ()


DeclaredType = RecordType | EnumType | UnionType | AliasType


@node
class Source:
    """Where a part of a declaration gets its value: parameter number `parameter`, or the field of it that
    `path` leads to. A negative number stands for `value`, a constant."""

    parameter: int
    path: tuple[str, ...] = ()
    value: Value = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Source):
            return NotImplemented
        return (self.parameter, self.path, self.value) == (other.parameter, other.path, other.value)

    def __hash__(self) -> int:
        return hash((self.parameter, self.path))


@node
class OpenType:
    """A declared type with parameters. The given values of its parts are numbered by `sources`.

    Two are equal if their parts are; types are hashed by its name, as defaults of fields may be of any kind.
    """

    declared: DeclaredType
    parameters: tuple[str, ...]
    sources: tuple[Source, ...]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, OpenType):
            return NotImplemented
        return (self.declared, self.parameters, self.sources) == (
            other.declared,
            other.parameters,
            other.sources,
        )

    def __hash__(self) -> int:
        return hash(self.declared.name)


TAG = "type"
"""The key that names the variant of a tagged union."""

TypeTable = Mapping[str, DeclaredType]
"""Declared types by qualified name."""


# -- names in types -----------------------------------------------------------------------------------


class LanguageError(ValueError):
    """A type that has no language: an unknown name, or an alias that is defined by itself alone."""


def declared_type(name: str, table: TypeTable) -> DeclaredType:
    """The declaration of a qualified name. Raises LanguageError if the table has none."""
    if name not in table:
        raise LanguageError(f"the type {name} is not declared")
    return table[name]


def alias_at(type: Type, table: TypeTable) -> AliasType | None:
    """The alias that a type is known by, bound where the type is; None for what is no name of one."""
    if isinstance(type, Named):
        declared = declared_type(type.name, table)
    elif isinstance(type, Applied):
        declared = declared_type(type.name, table) if type.instance is None else type.instance.declared
    else:
        return None
    return declared if isinstance(declared, AliasType) else None


def form_of(type: Type, table: TypeTable) -> InForm | None:
    """The form in which a value is written as a text of its own, and the type in it; None for the usual."""
    while (alias := alias_at(type, table)) is not None:
        type = alias.type
    return type if isinstance(type, InForm) else None


def without_form(type: Type, table: TypeTable) -> Type:
    """The type of an arm of a union: a form belongs to whole texts."""
    found = form_of(type, table)
    return type if found is None else without_form(found.item, table)


def behind_names(type: Type, table: TypeTable) -> Type:
    """What stands behind aliases and forms."""
    return unfolded(type, table)[0]


def unfolded(type: Type, table: TypeTable) -> tuple[Type, tuple[AliasType, ...]]:
    """What stands behind aliases and forms, and the aliases with conditions, the outermost first."""
    held: list[AliasType] = []
    while True:
        if isinstance(type, InForm):
            type = type.item
        elif (alias := alias_at(type, table)) is not None:
            if alias.where is not None or alias.predicates:
                held.append(alias)
            type = alias.type
        else:
            return type, tuple(held)


def types_in(declared: DeclaredType) -> list[Type]:
    """The types that a declared one directly consists of."""
    match declared:
        case RecordType():
            return [field.type for field in declared.fields]
        case UnionType():
            return [field.type for variant in declared.variants for field in variant.fields]
        case AliasType():
            return [declared.type]
        case EnumType():
            return []


def declaration_of(type: Applied) -> DeclaredType:
    """What a bound type is declared as, its parts bound too."""
    assert type.instance is not None, "a type is bound before its texts are asked for"
    return type.instance.declared


def uses_of(type: Type, table: TypeTable) -> dict[str, int]:
    """How often each declared type is mentioned in what `type` reaches, in order of discovery."""
    uses: dict[str, int] = {}
    seen: set[Instance] = set()
    stack: list[Type] = [type]
    while stack:
        here = stack.pop()
        match here:
            case ListOf() | Optional() | InForm():
                stack.append(here.item)
            case MapOf():
                stack += (here.value, here.key)
            case TupleOf():
                stack += here.items
            case Alternatives():
                stack += here.arms
            case Named(name):
                uses[name] = uses.get(name, 0) + 1
                if uses[name] == 1:
                    stack += types_in(declared_type(name, table))
            case Applied() if here.instance is not None and here.instance not in seen:
                seen.add(here.instance)
                stack += types_in(here.instance.declared)
    return uses
