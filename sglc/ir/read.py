"""Reads the text form of the IR back. For tests, tools and bug reports; `compile` never goes through it.

Only the form is checked here; `sglc.ir.verify` says whether the module makes sense.
"""

from __future__ import annotations

from typing import Any, TypeVar, get_args

from sglc.ir.literal import Cursor, IrSyntaxError
from sglc.ir.module import Block, ErrorInfo, Function, FunctionKind, HoleInfo, Module, Parameter, RetryPolicy
from sglc.ir.ops import Op
from sglc.ir.shape import BY_MNEMONIC, SHAPES
from sglc.ir.terminators import TERMINATORS, Terminator
from sglc.types.type import DeclaredType

__all__ = ["IrSyntaxError", "read"]


def read(text: str) -> Module:
    """The module printed in `text`; raises IrSyntaxError with the line. The `module` line may be left out."""
    cursor = Cursor(text)
    name = ""
    table: dict[str, DeclaredType] = {}
    errors: list[ErrorInfo] = []
    holes: list[HoleInfo] = []
    functions: list[Function] = []
    cursor.accept("\n")
    while cursor.kind != "end":
        word = cursor.take("name")
        if word == "module":
            name = cursor.literal()
        elif word == "type":
            key = cursor.literal()
            cursor.expect("=")
            table[key] = cursor.literal()
        elif word == "error":
            errors.append(_of(cursor, ErrorInfo))
        elif word == "hole":
            if _number(cursor, "h") != len(holes):
                raise cursor.fail("holes are numbered from h0 in order")
            cursor.expect("=")
            holes.append(_of(cursor, HoleInfo))
        elif word in _KINDS:
            functions.append(_function(cursor, _KINDS[word]))
        else:
            raise cursor.fail(f"unknown declaration {word!r}")
        if cursor.kind != "end":
            cursor.take("newline")
    return Module(name, tuple(functions), tuple(holes), table, tuple(errors))


_KINDS: dict[str, FunctionKind] = {kind: kind for kind in get_args(FunctionKind)}
_Of = TypeVar("_Of")


def _of(cursor: Cursor, cls: type[_Of]) -> _Of:
    value = cursor.literal()
    if not isinstance(value, cls):
        raise cursor.fail(f"expected {cls.__name__}, found {type(value).__name__}")
    return value


def _number(cursor: Cursor, prefix: str) -> int:
    text = cursor.take("name")
    if not text.startswith(prefix) or not text[1:].isdigit():
        raise cursor.fail(f"expected {prefix}0 or the like, found {text!r}")
    return int(text[1:])


def _function(cursor: Cursor, kind: FunctionKind) -> Function:
    name = cursor.name_after("function")
    parameters = []
    cursor.expect("(")
    while not cursor.accept(")"):
        parameter = cursor.take("name")
        untrusted = parameter == "untrusted" and cursor.kind == "name"
        if untrusted:
            parameter = cursor.take("name")
        slot = cursor.name_after("slot")
        cursor.expect(":")
        type_ = cursor.literal()
        has_default = cursor.accept("=")
        default = cursor.literal() if has_default else None
        parameters.append(Parameter(parameter, slot, type_, has_default, default, untrusted))
        if not cursor.accept(","):
            cursor.expect(")")
            break
    result = cursor.literal() if cursor.accept("->") else None
    cursor.expect("{")
    cursor.take("newline")
    facts: dict[str, Any] = {}
    retries: list[RetryPolicy] = []
    while cursor.kind == "name":
        word = cursor.take("name")
        if word in ("within", "doc", "raises", "tags", "module"):
            facts[word] = cursor.literal()
        elif word == "private":
            facts["public"] = False
        elif word == "copy":
            facts["copy_of"] = cursor.name_after("function")
        elif word == "parent":
            facts["parent"] = cursor.name_after("function")
        elif word == "retry":
            if _number(cursor, "r") != len(retries):
                raise cursor.fail("retries are numbered from r0 in order")
            strategy: Any = cursor.take("name")
            if strategy not in ("resample", "repair"):
                raise cursor.fail(f"unknown strategy {strategy!r}")
            attempts = int(cursor.take("int"))
            retries.append(RetryPolicy(strategy, attempts, _number(cursor, "h"), cursor.name_after("slot")))
        else:
            raise cursor.fail(f"unknown property {word!r}")
        cursor.take("newline")
    blocks = []
    while cursor.kind == "label":
        blocks.append(_block(cursor))
    cursor.expect("}")
    return Function(name, kind, tuple(parameters), tuple(blocks), result, tuple(retries), **facts)


def _block(cursor: Cursor) -> Block:
    label = cursor.name_after("label")
    cursor.expect(":")
    cursor.take("newline")
    ops: list[Op] = []
    while True:
        op = _op(cursor)
        cursor.take("newline")
        if isinstance(op, TERMINATORS):
            return Block(label, tuple(ops), op)  # type: ignore[arg-type]
        ops.append(op)  # type: ignore[arg-type]


def _op(cursor: Cursor) -> Op | Terminator:
    values: dict[str, Any] = {}
    if cursor.kind == "temp":
        values["result"] = int(cursor.take("temp")[1:])
        cursor.expect("=")
    mnemonic = cursor.take("name")
    cls = BY_MNEMONIC.get(mnemonic)
    if cls is None:
        raise cursor.fail(f"unknown operation {mnemonic!r}")
    shape = SHAPES[cls]
    if shape.has_result != bool(values):
        raise cursor.fail(f"{mnemonic} {'needs' if shape.has_result else 'has no'} result")
    for name, kind in shape.parts:
        values[name] = _part(cursor, kind)
    operation: Op | Terminator = cls(**values)
    return operation


def _part(cursor: Cursor, kind: str) -> Any:
    match kind:
        case "Temp":
            return int(cursor.take("temp")[1:])
        case "tuple[Temp, ...]":
            temps = []
            cursor.expect("(")
            while not cursor.accept(")"):
                temps.append(int(cursor.take("temp")[1:]))
                if not cursor.accept(","):
                    cursor.expect(")")
                    break
            return tuple(temps)
        case "Slot":
            return cursor.name_after("slot")
        case "Label":
            return cursor.name_after("label")
        case "FunctionName":
            return cursor.name_after("function")
        case "Hole":
            return _number(cursor, "h")
        case "Retry":
            return _number(cursor, "r")
        case "str":
            return _of(cursor, str)
        case "bool":
            return _of(cursor, bool)
        case _:
            return cursor.literal()
