"""What has changed between two builds of a program for those who call its functions.

Parameters may only widen, results only narrow, and no error may be new: then every call that was right stays
right, and every answer is one that could have come before.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from sglc.bytecode.code import Code, ParameterSpec, Program
from sglc.bytecode.opcodes import OPCODES
from sglc.bytecode.signatures import signature
from sglc.compatibility.conditions import deciders
from sglc.compatibility.inclusion import Found, included
from sglc.compatibility.values import Typed, written
from sglc.types import type as t
from sglc.types.notation.sgl import show_type

Kind = Literal["breaks", "unknown", "compatible"]


@dataclass(frozen=True, slots=True)
class Change:
    """Something of one function that is not as it was.

    `witness` is a value, as JSON, that shows a break: an argument that is no longer taken, or an answer that
    could not come before.
    """

    function: str
    kind: Kind
    what: str
    witness: str = ""
    reason: str = ""


def functions_of(program: Program) -> dict[str, Code]:
    """The functions that others may call: those of the main module that are `pub`, all where none is."""
    entries = {name: program.codes[index] for name, index in program.entry.items()}
    public = {name: code for name, code in entries.items() if code.public}
    return public or entries


def changes(old: Program, new: Program) -> list[Change]:
    """All changes, in the order of the old program's functions, then those that are new."""
    before, now = functions_of(old), functions_of(new)
    entries = {name: new.codes[index] for name, index in new.entry.items()}
    found: list[Change] = []
    for name, code in before.items():
        if name not in now:
            private = "it is no longer `pub`" if name in entries else "there is no such function any more"
            found.append(Change(name, "breaks", private, reason=f"it was `{signature(old, code)}`"))
            continue
        found += _of_function(name, old, code, new, now[name])
    for name, code in now.items():
        if name not in before:
            found.append(Change(name, "compatible", f"it is new: `{signature(new, code)}`"))
    return found


def _of_function(name: str, old: Program, before: Code, new: Program, now: Code) -> list[Change]:
    found = list(_parameters(name, old, before, new, now))
    found += _result(name, old, before, new, now)
    for error in now.raises:
        if error not in before.raises:
            found.append(
                Change(name, "breaks", f"it may raise `{_short(error)}`", reason="callers do not expect it")
            )
    for error in before.raises:
        if error not in now.raises:
            found.append(Change(name, "compatible", f"it no longer raises `{_short(error)}`"))
    return found


def _short(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _parameters(name: str, old: Program, before: Code, new: Program, now: Code) -> list[Change]:
    found: list[Change] = []
    known = {parameter.name: parameter for parameter in now.parameters}
    had = {parameter.name for parameter in before.parameters}
    for parameter in before.parameters:
        other = known.get(parameter.name)
        if other is None:
            what = f"parameter `{parameter.name}` is gone"
            found.append(Change(name, "breaks", what, reason="calls that give it by name, or by place, fail"))
            continue
        found += _parameter(name, old, parameter, new, other)
    for parameter in now.parameters:
        if parameter.name not in had:
            what = f"parameter `{parameter.name}` is new"
            if parameter.has_default:
                found.append(Change(name, "compatible", f"{what}, with a default"))
            else:
                found.append(Change(name, "breaks", what, reason="it has no default, and no call gives it"))
    order = [parameter.name for parameter in before.parameters if parameter.name in known]
    places = [parameter.name for parameter in now.parameters]
    if order != places[: len(order)] and set(order) <= set(places):
        reason = f"calls that give arguments by their place mean {', '.join(order)}"
        found.append(Change(name, "breaks", "its parameters have another order", reason=reason))
    asked = _held(old, before)
    if any(each not in asked for each in _held(new, now)):
        what = "its arguments are held against values of the run in another way"
        reason = "which arguments such a type takes is known only in a run"
        found.append(Change(name, "unknown", what, reason=reason))
    return found


def _held(program: Program, code: Code) -> list[tuple[t.Type, tuple[str, ...]]]:
    """The types that depend on values and that arguments are held against, with what is looked at for each.

    Those checks give nothing back: their value is dropped at once.
    """
    found: list[tuple[t.Type, tuple[str, ...]]] = []
    names: list[str] = []
    for instruction, behind in pairwise(code.instructions):
        opcode = OPCODES[instruction.op].name
        names.append(code.slots[instruction.a] if opcode == "LOAD" else opcode)
        if opcode == "CHECK_GIVEN" and OPCODES[behind.op].name == "POP":
            found.append((program.types[instruction.a], tuple(names)))
        if opcode in ("POP", "STORE"):
            names.clear()
    return found


def _parameter(
    name: str, old: Program, before: ParameterSpec, new: Program, now: ParameterSpec
) -> list[Change]:
    found: list[Change] = []
    label = f"parameter `{before.name}`"
    narrow, wide = _typed(old, before.type), _typed(new, now.type)
    answer = included(narrow, wide, given=True)
    if answer.verdict == "included":
        if included(wide, narrow, given=True).verdict == "broken":
            found.append(Change(name, "compatible", f"{label} takes more: {_types(narrow, wide)}"))
    else:
        found.append(_told(name, answer, f"{label} takes less", f"{label} may take less", narrow, wide))
    if before.has_default and not now.has_default:
        found.append(
            Change(name, "breaks", f"{label} has no default any more", reason="calls that leave it out fail")
        )
    elif before.has_default and before.default != now.default:
        found.append(Change(name, "compatible", f"{label} has another default"))
    return found


def _result(name: str, old: Program, before: Code, new: Program, now: Code) -> list[Change]:
    narrow, wide = _typed(new, now.result), _typed(old, before.result)
    answer = included(narrow, wide)
    if answer.verdict != "included":
        return [_told(name, answer, "its result may be more", "its result may be more", wide, narrow)]
    if included(wide, narrow).verdict == "broken":
        return [Change(name, "compatible", f"its result says more: {_types(wide, narrow)}")]
    return []


def _said(typed: Typed) -> str:
    """A type as it is written; one with conditions by what it is made of."""
    conditions = [text.strip("`") for text in typed.conditions().values()]
    if not conditions:
        return show_type(typed.type)
    return f"{show_type(typed.opened().type)} where {' and '.join(conditions)}"


def _typed(program: Program, index: int | None) -> Typed:
    """A type of a program, null for None."""
    type = t.Null() if index is None else program.types[index]
    return Typed(type, program.table, deciders(program))


def _told(name: str, answer: Found, broken: str, unknown: str, before: Typed, now: Typed) -> Change:
    if answer.verdict == "broken":
        return Change(name, "breaks", f"{broken}: {_types(before, now)}", written(answer.value))
    return Change(name, "unknown", f"{unknown}: {_types(before, now)}", reason=answer.reason)


def _types(before: Typed, now: Typed) -> str:
    one, other = _said(before), _said(now)
    return f"`{one}` has changed" if one == other else f"`{one}` is now `{other}`"
