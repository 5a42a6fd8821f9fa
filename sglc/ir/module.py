"""Modules, functions and blocks of the intermediate representation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from sglc.immutable import value
from sglc.ir.ops import Op
from sglc.ir.terminators import Terminator
from sglc.source import Source, Span
from sglc.types.condition import Condition
from sglc.types.decoding import Decoding
from sglc.types.model_use import ModelUse
from sglc.types.type import DeclaredType, Type
from sglc.types.values import Value

FunctionKind = Literal["fn", "part", "pure", "extern", "fork", "test"]

TEST_MARK = "test "
"""What the names of tests begin with before their titles."""
CONDITION_MARK = "where "
"""What the names of the conditions of types begin with, those of modules aside."""


@value
class Block:
    """A straight run of operations with one way in and a terminator at its end."""

    label: str
    ops: tuple[Op, ...]
    end: Terminator


@value
class Parameter:
    """A parameter; its slot has the name `slot`, callers call it `name`.

    `untrusted` says that its values come from outside.
    """

    name: str
    slot: str
    type: Type
    has_default: bool = False
    default: Value = None
    untrusted: bool = False


@value
class RetryPolicy:
    """`retry n resample|repair` of one ensure: hole `hole`, which fills `slot`, is drawn again."""

    strategy: Literal["resample", "repair"]
    attempts: int
    hole: int
    slot: str


@value
class HoleInfo:
    """A hole. The fields are those of `sglc.bytecode.code.HoleSpec`, with the type itself."""

    name: str
    mode: Literal["gen", "choose", "select"] = "gen"
    type: Type | None = None
    options: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    end_of_message: bool = True
    by: Literal["sum", "mean", "greedy", "contrast"] = "greedy"
    condition: Condition | None = None
    validators: tuple[str, ...] = ()
    """Names of the functions. Their arguments after the text are among the options: `asked0`, `asked1`, …"""
    begins: str = ""
    """A text that every value begins with, as it is written; see `sglc.passes.forced_text`."""
    ends: str = ""
    """A text that every value ends with, behind `begins`."""
    decoding: Decoding | None = None
    models: ModelUse | None = None
    told: bool = False


@value
class ErrorInfo:
    """A declared error and the names of its fields."""

    name: str
    fields: tuple[str, ...]


@value
class Function:
    """One function, fork body or test; its first block is where it starts.

    A body of kind `fork` sees the slots of its `parent`, with the values they have at the fork; its only
    parameter is the loop variable. Names are qualified: `crew`, `std.text.trim`; forks are `crew.fork.0`,
    tests `test ` and their title.
    """

    name: str
    kind: FunctionKind
    parameters: tuple[Parameter, ...]
    blocks: tuple[Block, ...]
    result: Type | None = None
    retries: tuple[RetryPolicy, ...] = ()
    within: int | None = None
    public: bool = True
    doc: str = ""
    raises: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    parent: str | None = None
    module: str = ""
    """Name of the module it comes from; empty for the main one."""
    copy_of: str = ""
    """For a copy that the compiler made: the function that seeds, events, errors and accounts take it for."""
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def of_program(self) -> bool:
        """Whether the main module declares it: not another module, and it is no copy and no condition."""
        return not self.module and not self.copy_of and not self.is_condition

    @property
    def is_condition(self) -> bool:
        """Whether it is a condition of a type, which the compiler made a function of."""
        return self.kind == "pure" and self.name.rpartition(".")[2].startswith(CONDITION_MARK)


@value
class Module:
    """A linked program: the functions of the main module first, each before the fork bodies in it."""

    name: str
    functions: tuple[Function, ...]
    holes: tuple[HoleInfo, ...] = ()
    table: Mapping[str, DeclaredType] = field(default_factory=dict)
    errors: tuple[ErrorInfo, ...] = ()
    sources: tuple[Source, ...] = field(default=(), compare=False, repr=False)
    _by_name: dict[str, Function] = field(default_factory=dict, init=False, compare=False, repr=False)
    """The functions, once one of them is asked for."""

    @property
    def by_name(self) -> Mapping[str, Function]:
        """The functions by their names."""
        if not self._by_name:
            self._by_name.update((function.name, function) for function in reversed(self.functions))
        return self._by_name

    def function(self, name: str) -> Function:
        """The function of that name; KeyError if there is none."""
        return self.by_name[name]
