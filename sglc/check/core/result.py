"""What checking a program yields: the tree untouched, and side tables keyed by the identity of its nodes.

Tables are keyed by `id(node)`; the modules keep the nodes alive. The lowering reads these tables and never
looks a name up itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sglc.immutable import value
from sglc.syntax.tree import ast
from sglc.types.model_use import ModelUse
from sglc.types.type import DeclaredType, InForm, Predicate, Type
from sglc.types.values import EnumValue, Value

if TYPE_CHECKING:
    from sglc.types.condition import Condition
    from sglc.types.decoding import Decoding
    from sglc.types.grammar_text import Count

# -- types of expressions --------------------------------------------------------------------------


@value
class RangeOf:
    """A range of integers as a value."""


@value
class BranchOf:
    """A branch of a fork: `.value` and every hole of its body by name."""

    value: ExpressionType
    holes: tuple[tuple[str, ExpressionType], ...]


@value
class ScoredOf:
    """The result of `select`: `.top`, `.p(x)`, `.margin`, `.logprob(x)`."""

    option: Type


@value
class ListValue:
    """A list of items that are no plain type (branches, scored values)."""

    item: ExpressionType


@value
class ErrorOf:
    """An error bound by `except … as e`; name None is any error (fields `.name`, `.message`)."""

    name: str | None


@value
class Never:
    """The type of what does not return."""


@value
class Unknown:
    """Already reported; agrees with everything, so that one fault gives one diagnostic."""


HoleNode = ast.Gen | ast.Choose | ast.Select

ExpressionType = Type | RangeOf | BranchOf | ScoredOf | ListValue | ErrorOf | Never | Unknown

PROGRESS = ("alive", "dead", "final")
"""What a validator says. As types and values these names mean themselves where they have no other meaning."""

# -- what a name means -----------------------------------------------------------------------------


@value
class LocalSymbol:
    """A variable, parameter, loop variable or hole. `slot` is unique within its function and its forks."""

    name: str
    slot: str


@value
class FunctionSymbol:
    """A fn, part or pure fn, by qualified name (`crew`, `std.text.trim`; the main module has no prefix)."""

    name: str


@value
class ConstantSymbol:
    """A constant or enum member, with its value."""

    value: Value | EnumValue


@value
class RecordSymbol:
    """The constructor of a record type (qualified name)."""

    type: str


@value
class VariantSymbol:
    """The constructor or pattern of a variant."""

    union: str
    variant: str


@value
class ErrorSymbol:
    name: str


@value
class BuiltinSymbol:
    """A built-in function (`len`, `sum`, `str`, …)."""

    name: str


@value
class PartSymbol:
    """`sql.table`: the parts of a text of a grammar that one of its rules wrote."""

    grammar: str
    rule: str
    count: Count


@value
class FigureSymbol:
    """`x.weight`, and the `x` of `x.p(option)`: what the strategy of a hole found, by name. `slot` is the
    variable that the hole fills; the name of the probabilities of options is `scores`."""

    slot: str
    name: str
    decoding: Decoding | None


@value
class TypeSymbol:
    """A type used as a pattern (`case Complaint` over `A | B`)."""

    type: Type


@value
class ElementSymbol:
    """In what is done with an element of a list: a field of the element, or with field None it (`it`)."""

    field: str | None


Symbol = (
    LocalSymbol
    | FunctionSymbol
    | ConstantSymbol
    | RecordSymbol
    | VariantSymbol
    | ErrorSymbol
    | BuiltinSymbol
    | PartSymbol
    | FigureSymbol
    | TypeSymbol
    | ElementSymbol
)


@value
class DefaultArgument:
    """Stands in a bound argument list where the parameter's or field's default is taken."""

    value: Value


@value
class Validator:
    """A pure function that judges the text of a hole while it is written; its arguments after that text."""

    function: str
    arguments: tuple[ast.Expression | DefaultArgument, ...]


@dataclass(slots=True)
class Conditions:
    """Conditions that a type is to have beside its refinements."""

    where: tuple[Condition, ...] = ()
    """Those that a mask can keep."""
    predicates: tuple[Predicate, ...] = ()
    """Those that are asked of a complete value."""

    def __bool__(self) -> bool:
        return bool(self.where or self.predicates)

    def add(self, other: Conditions) -> None:
        """Take in more conditions; the same one counts once."""
        self.where = tuple(dict.fromkeys((*self.where, *other.where)))
        self.predicates = tuple(dict.fromkeys((*self.predicates, *other.predicates)))


@value
class DependentType:
    """A written type whose values depend on values of the run; outside of holes."""

    type: Type
    given: tuple[ast.Expression | DefaultArgument, ...]
    """What gives the values, by their numbers in the type."""


@value
class Effects:
    """What was inferred of a function: the declared errors that may leave it, and whether it asks no model.
    Built-in errors are there where its header lists them."""

    raises: tuple[str, ...] = ()
    pure: bool = False


@value
class HoleFacts:
    """What the checker found about a Gen, Choose or Select.

    `type` is the type to generate, including what was implied: the literal text that follows a bare `str`
    hole on its line is an implied `until`. It is None for choices known only at run time. `stops` and
    `end_of_message` as in `bytecode.code.HoleSpec`. `slot` is the variable it fills, None for an expression.
    """

    name: str
    type: Type | None
    stops: tuple[str, ...]
    end_of_message: bool
    slot: str | None
    given: tuple[ast.Expression | DefaultArgument, ...] = ()
    """What gives the values that the type and the condition depend on, by their numbers."""
    condition: Condition | None = None
    """What its mask keeps beside the type."""
    validators: tuple[Validator, ...] = ()
    models: ModelUse | None = None
    """What fills it; None for the run's own model."""
    where: tuple[ast.Ensure, ...] = ()
    """Conditions on the value that its mask does not keep; each draws the hole again."""
    decoding: Decoding | None = None
    """What `decode` says; None where it is not written."""
    told: bool = False
    """Whether the program reads what its strategy found (`x.weight`)."""


@value
class ToolFacts:
    """A function that the model may call: its name here and among all, the record of its arguments, the hole
    that is filled with them, and the tool as chat templates expect it."""

    name: str
    function: str
    record: str
    hole: HoleFacts
    schema: Mapping[str, object]


@value
class ToolUse:
    """The tools of one message, the hole that names one of them or `answer`, and the limit of calls."""

    tools: tuple[ToolFacts, ...]
    choice: HoleFacts
    limit: int


@value
class CheckedModule:
    """One module and its side tables, all keyed by `id(node)`."""

    module: ast.Module
    name: str
    """Empty for the main module, else its dotted name (`std.text`, `crew`)."""
    types: Mapping[int, ExpressionType]
    """Type of every Expression."""
    resolved: Mapping[int, Type]
    """Type that every TypeExpression stands for; the type of the parts of each StreamFor."""
    symbols: Mapping[int, Symbol]
    """Meaning of Reference, NamePattern (LocalSymbol: a new binding), ConstructorPattern, Raise,
    each Name of Except, ExpectRaises; of Let, For, Fork, Comprehension, Parameter, Except (the variable
    they bind), and the name that a StreamFor gives its result; of a Call whose function is a plain name or a
    method (BuiltinSymbol named `.method`).

    Also: of a Lambda (its parameter);
    of an Attribute that names a member or variant through its type (`Mood.calm`: ConstantSymbol,
    VariantSymbol); of Ensure (its `each` variable), Part (its binding, else the FunctionSymbol of the part
    is on its Call), Fuzz (the variable `it`), Mock (the FunctionSymbol)."""
    arguments: Mapping[int, tuple[ast.Expression | DefaultArgument, ...]]
    """For each Call, and each Raise: arguments in the order of the parameters or fields. Of a method without
    the receiver. Of a list method that does something with each element, that is its only argument (none: no
    arguments)."""
    holes: Mapping[int, HoleFacts]
    retries: Mapping[int, ast.Gen | ast.Choose | ast.Select]
    """For each Ensure with a retry: the hole that it draws again (in the same or an enclosing block)."""
    constants: Mapping[int, Value] = field(default_factory=dict)
    """Compile-time values of expressions where one was needed (counts, option values, schema texts); the text
    of each Include; the hole that a StreamFor reads, empty where it sees the whole value only."""
    coercions: Mapping[int, Type] = field(default_factory=dict)
    """Expressions whose value must be checked at run time to be a member of a type that their own does not
    prove (`int` where `int in 0..5` is due), or widened to it (int to decimal or float, decimal to float). Of
    an Assign with `+=` and its kin: the type that the new value must be a member of. Of the target of an
    Assign: that of its variable, where a part is changed and a condition speaks of more."""
    applied: Mapping[int, ast.Call] = field(default_factory=dict)
    """Of each name of a function that stands for what is done with an element (`xs.map(double)`): the call of
    it with the element."""
    effects: Mapping[int, Effects] = field(default_factory=dict)
    """Of each FunctionDeclaration."""
    tools: Mapping[int, ToolUse] = field(default_factory=dict)
    """For each Role with tools."""
    forms: Mapping[int, InForm] = field(default_factory=dict)
    """Expressions that are put into a text and whose type has a form, in which they are written."""
    unread_holes: Sequence[str] = ()
    """Holes that fill a variable which nothing reads. Of which that is told, W0227 says."""
    conditions: Sequence[ast.FunctionDeclaration] = ()
    """Pure functions of the conditions of types, by the numbers in their names."""
    tested: Mapping[int, tuple[str, Type]] = field(default_factory=dict)
    """For an Ensure that asks the predicates of a hole's type: the variable of the hole, and the type."""
    dependents: Mapping[int, DependentType] = field(default_factory=dict)
    """For the TypeExpression of a Let, a Parameter or a result, where it depends on values of the run. Its
    `resolved` type is the one that the checker knows the values by."""
    held: Set[int] = frozenset()
    """Each Let and Return of such a type whose value is known to be one of it."""

    def slot_of(self, node: object) -> str:
        """The slot of the variable that a node binds or names."""
        symbol = self.symbols[id(node)]
        assert isinstance(symbol, LocalSymbol)
        return symbol.slot

    def name_of(self, node: object) -> str:
        """The qualified name of the function or error that a node names."""
        symbol = self.symbols[id(node)]
        assert isinstance(symbol, FunctionSymbol | ErrorSymbol)
        return symbol.name

    def text_of(self, node: object) -> str:
        """The text that a node stands for at compile time: of an Include, the hole that a StreamFor reads."""
        text = self.constants[id(node)]
        assert isinstance(text, str)
        return text

    def count_of(self, node: object) -> int:
        """The whole number that an expression stands for at compile time: how often a hole is drawn again."""
        count = self.constants[id(node)]
        assert isinstance(count, int)
        return count


@value
class CheckedCopy:
    """A function with type parameters, checked with types for them. `name` is that of the copy (`ask[Mail]`),
    `checked` its module with the tables of the copy."""

    name: str
    declaration: ast.FunctionDeclaration
    checked: CheckedModule


@value
class CheckedProgram:
    """The main module and all it uses; `table` holds every declared type by qualified name."""

    main: CheckedModule
    modules: tuple[CheckedModule, ...]
    """All modules, the main one first."""
    table: Mapping[str, DeclaredType]
    copies: Mapping[int, Sequence[CheckedCopy]] = field(default_factory=dict)
    """Of each function with type parameters, by the identity of its declaration: its copies. Only they are
    lowered."""
    opened: tuple[str, ...] = ()
    """Declared types with parameters. In the table they are those of all values, whatever these are given."""
