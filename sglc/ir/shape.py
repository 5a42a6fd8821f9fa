"""What the classes of operations look like: names, fields, operands, derived from their annotations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from operator import attrgetter
from typing import Any

from sglc.immutable import value
from sglc.ir.ops import (
    AdoptBranch,
    Append,
    BeginGolden,
    Binary,
    Call,
    CallBuiltin,
    CallMethod,
    CallPart,
    CallPython,
    CallText,
    Catch,
    CheckGiven,
    CheckType,
    CloseRole,
    CloseStream,
    Concat,
    Const,
    EndGolden,
    EndTry,
    ExpectError,
    ExpectTrue,
    Forget,
    Generate,
    GetField,
    GetItem,
    GetPart,
    GetSlice,
    Glue,
    HandledError,
    Insert,
    IsType,
    IsVariant,
    Iterate,
    Limit,
    Line,
    Load,
    MakeList,
    MakeMap,
    MakeRange,
    MakeRecord,
    MakeTuple,
    MakeVariant,
    Mark,
    MockHole,
    NextPart,
    OfferTools,
    Op,
    OpenRole,
    OpenStream,
    RecordCheck,
    ReplayTrace,
    RunFork,
    SelectOption,
    SetFuzz,
    SetSeed,
    Snapshot,
    Start,
    Store,
    Temp,
    Text,
    TryAgain,
    Unary,
    WithField,
    WithItem,
    Witness,
    WriteAs,
)
from sglc.ir.terminators import (
    TERMINATORS,
    Branch,
    Jump,
    Label,
    Next,
    RaiseError,
    Reraise,
    Return,
    Terminator,
    Try,
)

MNEMONICS: dict[type, str] = {
    Const: "const", Load: "load", MakeList: "list", MakeTuple: "tuple", MakeMap: "map", MakeRecord: "record",
    MakeVariant: "variant", Concat: "concat", Append: "append", Unary: "unary", Binary: "binary",
    MakeRange: "range", GetField: "field", GetItem: "item", GetSlice: "slice", WithItem: "with_item",
    WithField: "with_field", CallBuiltin: "builtin", CallMethod: "method", CheckType: "check_type",
    CheckGiven: "check_given",
    WriteAs: "write_as", IsVariant: "is_variant", IsType: "is_type", Iterate: "iterate", Store: "store",
    Call: "call",
    Start: "start", OpenStream: "stream", NextPart: "next_part", GetPart: "part", CloseStream: "end_stream",
    CallPart: "call_part", CallPython: "python", EndTry: "end_try", Mark: "mark",
    Forget: "forget", Catch: "catch", HandledError: "error",
    Limit: "limit", OfferTools: "tools",
    CallText: "call_text", OpenRole: "role", CloseRole: "end_role", Line: "line", Glue: "glue", Text: "text",
    Insert: "insert", Generate: "gen", SelectOption: "select", Snapshot: "snapshot", TryAgain: "retry",
    RecordCheck: "record_check", SetSeed: "seed", RunFork: "fork", AdoptBranch: "adopt", MockHole: "mock",
    SetFuzz: "fuzz", Witness: "witness", ExpectTrue: "expect", ExpectError: "expect_error",
    BeginGolden: "golden",
    EndGolden: "end_golden", ReplayTrace: "replay", Jump: "jump",
    Branch: "branch", Next: "next", Try: "try", Return: "return", RaiseError: "raise", Reraise: "reraise",
}  # fmt: skip
BY_MNEMONIC: dict[str, type] = {name: cls for cls, name in MNEMONICS.items()}


OPS: tuple[type, ...] = Op.__args__
"""All operations."""

TOTAL = frozenset({Const, Load, MakeList, MakeTuple, IsVariant, IsType, HandledError, Catch, Iterate})
"""Operations without any effect that cannot fail: unused, they can be dropped."""

QUIET = TOTAL | {Store, Start}
"""Operations that neither fail nor touch the conversation: text can move across them."""


# -- shape -----------------------------------------------------------------------------------------


@value
class OpShape:
    """What the annotations of a class say: its fields as (name, kind) without result and span."""

    has_result: bool
    parts: tuple[tuple[str, str], ...]
    uses: tuple[tuple[str, bool], ...]
    """Fields that hold operands in order of evaluation; True for a tuple of them."""
    labels: tuple[str, ...]


def _shape(cls: type) -> OpShape:
    kinds = [(f.name, str(f.type)) for f in fields(cls) if f.name != "span"]
    parts = tuple((name, kind) for name, kind in kinds if name != "result")
    return OpShape(
        has_result=len(parts) != len(kinds),
        parts=parts,
        uses=tuple((n, k != "Temp") for n, k in parts if k in ("Temp", "tuple[Temp, ...]")),
        labels=tuple(n for n, k in parts if k == "Label"),
    )


SHAPES: dict[type, OpShape] = {cls: _shape(cls) for cls in (*OPS, *TERMINATORS)}


def _getter(fields: tuple[tuple[str, bool], ...]) -> Callable[[Op | Terminator], tuple[Any, ...]]:
    """What is in some fields, as one tuple; True for a field that holds a tuple."""
    match fields:
        case ():
            return lambda op: ()
        case ((name, True),):
            return attrgetter(name)
        case ((name, False),):
            get = attrgetter(name)
            return lambda op: (get(op),)
    # No class has a tuple of operands beside other operands.
    return attrgetter(*[name for name, _ in fields])


_OPERANDS = {cls: _getter(shape.uses) for cls, shape in SHAPES.items()}
_TARGETS = {cls: _getter(tuple([(name, False) for name in shape.labels])) for cls, shape in SHAPES.items()}


def operands(op: Op | Terminator) -> tuple[Temp, ...]:
    """The temporaries an operation uses, in the order they are evaluated."""
    return _OPERANDS[type(op)](op)


def result(op: Op | Terminator) -> Temp | None:
    """The temporary an operation writes."""
    return op.result if SHAPES[type(op)].has_result else None  # type: ignore[union-attr]


def slots_of(op: Op | Terminator) -> tuple[str, ...]:
    """The variables that an operation reads or writes."""
    match op:
        case Load(slot=slot) | Store(slot=slot):
            return (slot,)
        case Next(iterator=iterator, item=item):
            return iterator, item
    return ()


def successors(op: Terminator) -> tuple[Label, ...]:
    """Labels that control may go to from the end of a block."""
    return _TARGETS[type(op)](op)
