"""What can be seen at a stop: frames, variables with their types, the conversation, what holes were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sglc.bytecode.code import HoleSpec, Place, Program
from sglc.runtime.debug.passages import Passage
from sglc.runtime.debug.places import HOLE_OPS
from sglc.runtime.debug.strands import shown_name
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.strand import Strand
from sglc.runtime.vm.state.values import BranchValue, Cursor, ErrorValue, Filled, Scored
from sglc.types.json_text import json_text
from sglc.types.notation.sgl import show_type
from sglc.types.values import EnumValue, RecordValue
from sglc.values.kinds import KIND_FAULTS, MachineValue, ValueFault, kind
from sglc.values.text import display

LONGEST = 2000
"""Most characters of a value that is shown in one piece."""
MOST_PARTS = 1000
"""Most parts of a value that are listed."""


@dataclass(frozen=True, slots=True)
class FrameLook:
    """One function that is being run, as users see it."""

    frame: Frame
    name: str
    place: Place | None


def frames_of(machine: Strand) -> list[FrameLook]:
    """The frames of a strand, the newest first."""
    found = []
    newest = machine.frames[-1] if machine.frames else None
    for frame in reversed(machine.frames):
        place = machine.place(frame)
        if frame is newest and place is None and frame.code.places:
            place = frame.code.places[0]
        found.append(FrameLook(frame, shown_name(frame.code), place))
    return found


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable or a part of a value: its name, its value, how that is shown, its type."""

    name: str
    value: object
    shown: str
    type: str
    hole: int | None = None
    """The index of the hole that it was filled by or will be."""


def variables_of(program: Program, frame: Frame) -> list[Variable]:
    """The variables of a frame that have a value, in the order of their declaration."""
    types = {each.name: show_type(program.types[each.type]) for each in frame.code.parameters}
    holes = holes_of(program, frame)
    found = []
    given = len(frame.code.parameters)
    for number, (name, value) in enumerate(zip(frame.code.slots, frame.slots, strict=True)):
        if name.startswith("%") or isinstance(value, Cursor):
            continue
        hole = holes.get(name)
        if value is None and number >= given and (hole is None or frame.holes.get(name, name) is not None):
            continue
        declared = types.get(name) if number < given else None
        if declared is None and hole is not None:
            declared = type_of_hole(program, program.holes[hole])
        shown = shown_value(program, value)
        found.append(Variable(name, value, shown, declared or type_of(value), hole))
    return found


def holes_of(program: Program, frame: Frame) -> dict[str, int]:
    """The holes of a function by their short names."""
    return {
        program.holes[each.a].name.rpartition(".")[2]: each.a
        for each in frame.code.instructions
        if each.op in HOLE_OPS
    }


def type_of_hole(program: Program, spec: HoleSpec) -> str | None:
    """The type of a hole's variable as it is written; None where its value tells more."""
    if spec.type is None or spec.told or "n" in spec.options or spec.mode == "select":
        return None
    return show_type(program.types[spec.type])


def type_of(value: object) -> str:
    """The type of a value as a program would write it, as far as the value tells; else what it is called."""
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int():
            return "int"
        case Decimal():
            return "decimal"
        case float():
            return "float"
        case str():
            return "str"
        case EnumValue():
            return value.enum
        case RecordValue():
            return value.type
        case list() | range():
            return f"[{_common(list(value[:MOST_PARTS]))}]"
        case tuple():
            return f"({', '.join(map(type_of, value))})"
        case dict():
            return f"{{str: {_common(list(value.values())[:MOST_PARTS])}}}"
    return kind(value)


def _common(values: Sequence[object]) -> str:
    return " | ".join(dict.fromkeys(map(type_of, values))) or "json"


def shown_value(program: Program, value: object) -> str:
    """A value in one line: texts in quotes, everything else as `${value}` writes it."""
    try:
        if isinstance(value, str):
            text = json_text(value)
        elif value is None:
            text = "null"
        elif isinstance(value, BranchValue):
            text = f"branch {value.index}: {shown_value(program, value.value)}"
        else:
            text = display(value, program.table)
    except (ValueFault, *KIND_FAULTS):
        text = f"<{kind(value)}>"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def parts_of(program: Program, value: object) -> list[Variable]:
    """The parts of a value that has some: fields, items, entries."""
    pairs: list[tuple[str, object]] = []
    match value:
        case RecordValue():
            if value.variant is not None:
                pairs.append(("variant", value.variant))
            pairs += value.fields.items()
        case list() | tuple() | range():
            pairs = [(f"[{number}]", each) for number, each in enumerate(value[:MOST_PARTS])]
        case dict():
            pairs = [(str(name), each) for name, each in list(value.items())[:MOST_PARTS]]
        case BranchValue():
            pairs = [("value", value.value), *value.holes.items()]
        case Scored():
            pairs = [("top", value.top)]
            pairs += [
                (f"p({shown_value(program, option)})", p)
                for option, p in zip(value.options[:MOST_PARTS], value.probabilities, strict=False)
            ]
        case Filled():
            pairs = [("value", value.value), *value.figures.items()]
        case ErrorValue():
            pairs = [("name", value.name), ("message", value.message), *value.fields.items()]
    return [Variable(name, each, shown_value(program, each), type_of(each)) for name, each in pairs]


def has_parts(value: object) -> bool:
    """Whether a value has parts to be listed."""
    if isinstance(value, MachineValue | RecordValue):
        return True
    return isinstance(value, list | tuple | range | dict) and len(value) > 0


def messages_of(frame: Frame) -> tuple[tuple[str, str], ...]:
    """Role and text of each message of a frame's conversation; the role of text outside of messages is
    empty. A pure function has none."""
    return () if frame.conversation is None else frame.conversation.messages()


@dataclass(frozen=True, slots=True)
class Alternatives:
    """What else a hole could have been given: of each token the most probable ones, of a choice its options.

    `tokens` are as the event `token` tells them. `why` says why there are none.
    """

    tokens: Sequence[Mapping[str, object]]
    scores: Mapping[str, float]
    why: str = ""


def alternatives_of(passage: Passage) -> Alternatives:
    """What else a hole could have been given, as far as the model has told."""
    why = ""
    if not passage.tokens and not passage.scores and passage.search is None:
        if passage.forced is not None or passage.ended == "mock":
            why = "its value was given, no model was asked"
        elif passage.text is None:
            why = "no token of it was drawn yet"
        else:
            why = "the model told no tokens: it is one elsewhere, or no other text was legal"
    return Alternatives(tuple(passage.tokens), passage.scores, why)
