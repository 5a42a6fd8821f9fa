"""What the writing of one function knows: the checker's tables, names, lines, and what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sglc.check.core.result import (
    BranchOf,
    CheckedModule,
    ErrorOf,
    ExpressionType,
    ListValue,
    Never,
    RangeOf,
    ScoredOf,
    Unknown,
)
from sglc.syntax.tree import ast
from sglc.targets.core.names import Names
from sglc.targets.projection.core.loss import Loss
from sglc.targets.python.types import Types
from sglc.types.type import TypeTable

HoleNode = ast.Gen | ast.Choose | ast.Select


@dataclass(frozen=True, slots=True)
class Text:
    """An expression. `kind` is its annotation; None is `Any`, and a display takes the type of its place."""

    code: str
    kind: str | None = None
    display: bool = False


@dataclass(slots=True)
class Program:
    """What all functions of the module share."""

    table: TypeTable
    types: Types
    names: Names
    functions: dict[str, str] = field(default_factory=dict)
    """Names in the module by qualified name."""
    results: dict[str, str] = field(default_factory=dict)
    """Annotations of what functions return, by qualified name."""
    parameters: dict[str, list[str | None]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    """Classes of errors by the names that the program calls them by."""
    constants: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Constants of the main module: their names here, and annotations."""
    parts: set[str] = field(default_factory=set)
    """Functions that write into the message of their caller."""
    holes: list[str] = field(default_factory=list)
    """The holes as constants of the module."""
    wanted: list[str] = field(default_factory=list)
    """Functions that are called, in the order that they were met."""
    losses: dict[Loss, None] = field(default_factory=dict)

    def lose(self, construct: str, place: str, instead: str = "") -> None:
        """Note what the module cannot say: a construct, where it stands, what is written instead."""
        self.losses[Loss(construct, place, instead)] = None

    def annotation(self, type: ExpressionType) -> str | None:
        """The annotation of an expression's type; None is any value."""
        match type:
            case RangeOf():
                return "list[int]"
            case ErrorOf():
                return "SglError"
            case BranchOf() | ScoredOf() | ListValue() | Never() | Unknown():
                return None
        found = self.types.annotation(type)
        return None if found == "Any" else found


@dataclass(slots=True)
class Context:
    """One function."""

    program: Program
    checked: CheckedModule
    name: str
    """Its qualified name."""
    names: Names
    writes: bool
    """Whether it has a conversation, `c`."""
    slots: dict[str, Text] = field(default_factory=dict)
    """Variables: their names here and annotations."""
    lines: list[str] = field(default_factory=list)
    depth: int = 0
    elements: list[str] = field(default_factory=list)
    """Names of the elements that are called `it`, innermost last."""
    caught: list[str] = field(default_factory=list)
    """Names of the errors that the `except` arms around caught, innermost last."""
    points: dict[int, str] = field(default_factory=dict)
    """Holes, by identity, that conditions draw again: the names of their points."""
    loops: list[str] = field(default_factory=list)
    """What is around, innermost last: `loop`, or `point` of a hole that is drawn again."""
    branch: int = 0
    """How many fork bodies are around."""

    @property
    def place(self) -> str:
        """Where losses of this function are noted: its qualified name."""
        return self.name

    def lose(self, construct: str, instead: str = "") -> None:
        """Note what this function cannot say, and what is written instead."""
        self.program.lose(construct, self.name, instead)

    def add(self, *lines: str) -> None:
        """Write lines at the depth at hand; empty ones have no indentation."""
        self.lines += ("    " * self.depth + line if line else line for line in lines)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Lines that stand one level deeper; `pass` where there are none."""
        self.depth += 1
        before = len(self.lines)
        yield
        if len(self.lines) == before:
            self.add("pass")
        self.depth -= 1

    def variable(self, slot: str, kind: str | None) -> str:
        """The name of a variable, which gets one when it is met first."""
        if slot not in self.slots:
            base = slot.partition(".")[0]
            self.slots[slot] = Text(self.names.fresh(base), kind)
        return self.slots[slot].code


def annotated(name: str, kind: str | None) -> str:
    """A variable where it is first assigned."""
    return name if kind is None else f"{name}: {kind}"
