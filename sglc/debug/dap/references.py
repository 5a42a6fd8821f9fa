"""What a client was shown at a stop, by numbers that are good as long as the run stands there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from sglc.bytecode.code import Program
from sglc.debug.dap.messages import BadRequest
from sglc.runtime.debug.debugger import Debugger
from sglc.runtime.debug.looking import (
    FrameLook,
    Variable,
    frames_of,
    has_parts,
    messages_of,
    parts_of,
    shown_value,
    type_of_hole,
    variables_of,
)
from sglc.runtime.debug.masks import mask_at
from sglc.runtime.debug.passages import Passage
from sglc.runtime.debug.stops import Stop
from sglc.runtime.debug.strands import StrandState
from sglc.runtime.decoding.watching import SearchLook
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.frame import Frame
from sglc.types.json_text import json_text

MOST = 100_000
"""Most references of one stop."""
Row = dict[str, object]
Rows = Callable[[int], Awaitable[list[Row]]]
"""Gives rows, by the number of their own reference."""


@dataclass(slots=True)
class References:
    """The frames and variables of one stop."""

    program: Program
    debugger: Debugger
    stop: Stop
    frames: dict[int, tuple[StrandState, int]] = field(default_factory=dict)
    settable: dict[tuple[int, str], Passage] = field(default_factory=dict)
    """Variables that can be set, by their reference and name: those of holes."""
    _rows: dict[int, Rows] = field(default_factory=dict)
    _next: int = 1

    def _new(self) -> int:
        if self._next > MOST:
            raise BadRequest("too much was asked at this stop")
        self._next += 1
        return self._next - 1

    # -- frames --------------------------------------------------------------------------------------

    def frame_number(self, strand: StrandState, index: int) -> int:
        """The number of a frame of a strand, the newest being 0."""
        for number, known in self.frames.items():
            if known == (strand, index):
                return number
        number = self._new()
        self.frames[number] = (strand, index)
        return number

    def look(self, number: int) -> tuple[StrandState, int, FrameLook]:
        """A frame by its number. Raises BadRequest."""
        if number not in self.frames:
            raise BadRequest(f"there is no frame {number} at this stop")
        strand, index = self.frames[number]
        looks = frames_of(strand.machine)
        if index >= len(looks):
            raise BadRequest(f"the frame {number} was left")
        return strand, index, looks[index]

    # -- scopes and variables ------------------------------------------------------------------------

    def scopes(self, number: int) -> list[Row]:
        """What is to be seen of a frame: variables, holes, the conversation, and where it stands at a hole
        what the mask allows."""
        strand, index, look = self.look(number)
        newest = index == 0 and strand is self.stop.strand
        found = [self._scope("Variables", "locals", self._variables(look.frame))]
        if newest and self.stop.passage is not None and self.stop.passage.index is not None:
            found.append(self._scope("Hole", "", self._hole(self.stop.passage)))
            if self.stop.search is not None:
                found.append(self._scope("Search", "", self._search(self.stop.search)))
            found.append(self._scope("Mask", "", self._mask, expensive=True))
        found.append(self._scope("Conversation", "", self._conversation(look.frame)))
        found.append(self._scope("Holes", "", self._passages))
        return found

    def _scope(self, name: str, hint: str, rows: Rows, expensive: bool = False) -> Row:
        number = self._new()
        self._rows[number] = rows
        shown: Row = {"name": name, "variablesReference": number, "expensive": expensive}
        return {**shown, "presentationHint": hint} if hint else shown

    async def rows(self, number: int) -> list[Row]:
        """The variables behind a reference. Raises BadRequest."""
        if number not in self._rows:
            raise BadRequest(f"there is no reference {number} at this stop")
        return await self._rows[number](number)

    def _variables(self, frame: Frame) -> Rows:
        async def rows(number: int) -> list[Row]:
            found = []
            for each in variables_of(self.program, frame):
                row = self.row(each)
                passage = self._passage_of(each, frame)
                if passage is not None:
                    self.settable[number, each.name] = passage
                else:
                    row["presentationHint"] = {"attributes": ["readOnly"]}
                found.append(row)
            return found

        return rows

    def _passage_of(self, variable: Variable, frame: Frame) -> Passage | None:
        """The passage that gave a variable its value, or is to give it one."""
        if variable.hole is None:
            return None
        for each in reversed(self.debugger.history.holes):
            snapshot = each.snapshot
            if each.index == variable.hole and snapshot is not None:
                return each if any(state.frame is frame for state in snapshot.frames) else None
        return None

    def _hole(self, passage: Passage) -> Rows:
        async def rows(number: int) -> list[Row]:
            assert passage.index is not None
            spec = self.program.holes[passage.index]
            name = spec.name.rpartition(".")[2]
            self.settable[number, name] = passage
            type = type_of_hole(self.program, spec)
            row = _plain(name, "(not filled)" if passage.text is None else passage.text)
            return [{**row, "type": type} if type else row]

        return rows

    def _search(self, look: SearchLook) -> Rows:
        async def rows(number: int) -> list[Row]:
            found = [_plain(look.strategy, look.told)]
            for each in look.texts:
                score = "" if each.score is None else f"  {each.score:.4g}"
                mark = " <" if each.number == look.which else ""
                found.append(_plain(f"{each.number}", f"{json_text(each.text)}  {each.state}{score}{mark}"))
            return found

        return rows

    async def _mask(self, number: int) -> list[Row]:
        try:
            look = await mask_at(self.stop)
        except SglError as problem:
            return [_plain("mask", problem.message)]
        found = [
            _plain("allowed", f"{look.allowed} of {look.size} tokens"),
            _plain("kept", f"{100 * look.kept:.4g} % of the probability"),
        ]
        if look.forced:
            found.append(_plain("forced", look.forced))
        for title, candidates in (("before the mask", look.before), ("after the mask", look.after)):
            rows = [
                _plain(
                    each.text,
                    f"{100 * (each.before if title.startswith('before') else each.after or 0.0):.4g} %"
                    + ("" if each.after is not None else ", forbidden"),
                )
                for each in candidates
            ]
            found.append(self.group(title, rows))
        return found

    def _conversation(self, frame: Frame) -> Rows:
        async def rows(number: int) -> list[Row]:
            return [
                _plain(f"{at} {role or 'text'}", text)
                for at, (role, text) in enumerate(messages_of(frame), 1)
            ]

        return rows

    async def _passages(self, number: int) -> list[Row]:
        found = []
        for at, each in enumerate(self.debugger.history.holes, 1):
            text = "…" if each.text is None else each.text
            found.append(_plain(f"{at} {each.name}", text + (" (given)" if each.forced is not None else "")))
        return found

    def group(self, name: str, rows: list[Row]) -> Row:
        """Rows below a row."""

        async def given(number: int) -> list[Row]:
            return rows

        number = self._new()
        self._rows[number] = given
        return {"name": name, "value": f"{len(rows)}", "variablesReference": number}

    def row(self, variable: Variable) -> Row:
        """A variable as the protocol has it; its parts can be asked for."""
        return {
            "name": variable.name,
            "value": variable.shown,
            "type": variable.type,
            "variablesReference": self.reference(variable.value),
        }

    def reference(self, value: object) -> int:
        """The number by which the parts of a value can be asked for; 0 where it has none."""
        if not has_parts(value):
            return 0
        number = self._new()

        async def rows(number: int) -> list[Row]:
            parts = [self.row(each) for each in parts_of(self.program, value)]
            return [{**row, "presentationHint": {"attributes": ["readOnly"]}} for row in parts]

        self._rows[number] = rows
        return number

    def shown(self, value: object) -> str:
        """A value in one line."""
        return shown_value(self.program, value)


def _plain(name: str, text: str) -> Row:
    return {"name": name, "value": text, "variablesReference": 0}
