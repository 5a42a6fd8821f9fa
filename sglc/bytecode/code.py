"""Compiled programs: plain data that the virtual machine, the verifier and the file format share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal, NamedTuple

from sglc.callables.extern_spec import ExternSpec
from sglc.types.condition import Condition
from sglc.types.decoding import Decoding
from sglc.types.model_use import MAIN, MAIN_VIEW, ModelUse, ModelView
from sglc.types.type import DeclaredType, Type
from sglc.types.values import Value


class Instruction(NamedTuple):
    """Opcode number and its operands (0 where the opcode has fewer)."""

    op: int
    a: int = 0
    b: int = 0


class Place(NamedTuple):
    """Where an instruction comes from: file index into Program.files, offsets, line and column from 1."""

    file: int
    start: int
    end: int
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class RetryPoint:
    """One `ensure`/`check … retry` policy.

    `hole_slot` is the variable that the rewound hole fills; `attempts` the number of retries.
    """

    strategy: Literal["resample", "repair"]
    attempts: int
    hole: int
    """Index into Program.holes of the hole that is drawn again."""
    hole_slot: int


@dataclass(frozen=True, slots=True)
class HoleSpec:
    """One hole.

    `name` is qualified: `function.hole`. `mode` `gen` fills `type`; `choose` and `select` take a list of
    options from the stack first unless `type` is given (a finite type). `options` names the values on the
    stack, in order: any of options, max_tokens, temp, top_p, top_k, min_p, seed, n, weight, at_least. Where
    the type depends on values of the run, given0, given1, … come first: the lists and texts of its `OneOf`
    and `SpanOf` parts and the values of its grammars.
    `stops` are texts whose beginning ends the hole where its type could also go on: the literal text that
    follows it, or a newline; `end_of_message` allows the model's end-of-turn token to do so.
    """

    name: str
    mode: Literal["gen", "choose", "select"]
    type: int | None
    """Index into Program.types."""
    options: tuple[str, ...] = ()
    stops: tuple[str, ...] = ()
    end_of_message: bool = True
    by: Literal["sum", "mean", "greedy", "contrast"] = "greedy"
    condition: Condition | None = None
    """What the mask keeps beside the type. Values of the run in it are given after those of the type."""
    validators: tuple[int, ...] = ()
    """Indices of the codes that judge the text so far. Their arguments after it, `asked0`, `asked1`, …, come
    next."""
    begins: str = ""
    """A text that every value begins with, as it is written. It tells what to expect; masks do without it."""
    ends: str = ""
    """A text that every value ends with, behind `begins`."""
    decoding: Decoding | None = None
    """What decides which legal text the hole gets; None where the program does not say. Then `gen` is
    `local`, and `choose` scores its options."""
    models: ModelUse | None = None
    """What fills it; None for the run's own model. Of two models, `weight` and `at_least` may be among the
    options."""
    told: bool = False
    """Whether it gives its value with what its strategy found: as fields `value` and those of
    `sglc.types.decoding.FIGURES`, or `scores` of a `choose`."""


@dataclass(frozen=True, slots=True)
class ParameterSpec:
    name: str
    type: int
    has_default: bool = False
    default: Value = None


@dataclass(frozen=True, slots=True)
class Code:
    """One function, fork body or test.

    `kind`: `fn`, `part`, `pure`, `extern` (calls a function of Python and does nothing else), `fork` (shares
    the slots of its parent by copy; slot 0 of `parameters` is the loop variable), `test`. `slots` names every
    local slot (parameters first). `places` has one entry per instruction. `within` is the token budget of the
    function, None for none.
    """

    name: str
    kind: Literal["fn", "part", "pure", "extern", "fork", "test"]
    parameters: tuple[ParameterSpec, ...]
    result: int | None
    slots: tuple[str, ...]
    instructions: tuple[Instruction, ...]
    places: tuple[Place, ...]
    retries: tuple[RetryPoint, ...] = ()
    within: int | None = None
    public: bool = True
    doc: str = ""
    raises: tuple[str, ...] = ()
    fork_slot: int = 0
    """For `fork`: the slot of the loop variable. Those before it are the first slots of the function that the
    fork stands in."""
    stack_depth: int = 0
    """Largest number of stack items, found by the verifier."""
    tags: tuple[str, ...] = ()
    """Tags of a test."""
    copy_of: str = ""
    """For a copy that the compiler made for calls with constants: the name of its original."""
    extern: ExternSpec | None = None
    """For `extern`: the function of Python that it calls."""


@dataclass(frozen=True, slots=True)
class ErrorSpec:
    """A declared error and the names of its fields."""

    name: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrefixMessage:
    """A message that conversations begin with, or the text of a function without roles (`role` empty).

    It is not `complete` where something that is not constant may follow in it.
    """

    role: str
    text: str
    complete: bool


@dataclass(frozen=True, slots=True)
class Prefix:
    """What the conversations of some calls begin with, whatever the arguments are.

    `functions` are the names of those that begin so in some call or in all. The last `ahead` characters are
    what the values of a hole begin with, which stands behind all others.
    """

    messages: tuple[PrefixMessage, ...]
    functions: tuple[str, ...]
    ahead: int = 0
    model: ModelView = MAIN_VIEW
    """The model that reads it, of those that fill holes of these functions."""


@dataclass(frozen=True, slots=True)
class Program:
    """A linked program: everything that running needs, and nothing about how it was written.

    `codes` are in order of declaration, functions of the main module first; `entry` names the main module's
    functions (name to code index); tests are codes of kind `test`.
    """

    name: str
    codes: tuple[Code, ...]
    entry: Mapping[str, int]
    constants: tuple[Value, ...]
    names: tuple[str, ...]
    types: tuple[Type, ...]
    table: Mapping[str, DeclaredType]
    holes: tuple[HoleSpec, ...]
    errors: tuple[ErrorSpec, ...] = ()
    files: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Text of each file, so that run-time errors can show the line. May be empty."""
    meta: Mapping[str, str] = field(default_factory=dict)
    prefixes: tuple[Prefix, ...] = ()
    """To be tokenised and kept before a run; those that few functions begin with come first."""

    @property
    def python_modules(self) -> tuple[str, ...]:
        """The modules of Python that its functions call into, sorted."""
        return tuple(sorted({code.extern.module for code in self.codes if code.extern is not None}))

    @property
    def models(self) -> tuple[str, ...]:
        """The models that fill its holes, by the names that it has for them, without the run's own."""
        views = (view for hole in self.holes if hole.models is not None for view in hole.models.views)
        return tuple(dict.fromkeys(view.name for view in views if view.name != MAIN))


def source_digests(program: Program) -> dict[str, str]:
    """The SHA-256 of each file of a program that has its text, in hexadecimal, by its name.

    It is of the text in UTF-8 without a byte order mark and with `\\n` at the ends of lines, so that it says
    of a file whether it reads alike.
    """
    known = zip(program.files, program.sources, strict=False)
    texts = {name: text.removeprefix("\ufeff").replace("\r\n", "\n") for name, text in known if text}
    return {name: sha256(text.encode("utf-8", "surrogatepass")).hexdigest() for name, text in texts.items()}
