"""Requests that look at a stop: threads, frames, variables, expressions, masks, alternatives."""

from __future__ import annotations

import math
import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from sglc.debug.dap.messages import BadRequest, Json, Request
from sglc.runtime.debug.looking import (
    alternatives_of,
    frames_of,
    has_parts,
    messages_of,
    parts_of,
    type_of,
    variables_of,
)
from sglc.runtime.debug.masks import Candidate, mask_at
from sglc.runtime.debug.passages import Passage
from sglc.runtime.debug.stops import Back, Go
from sglc.runtime.decoding.watching import SearchLook
from sglc.runtime.vm.state.frame import Frame

if TYPE_CHECKING:
    from sglc.debug.dap.adapter import Adapter

MOST_COMPLETIONS = 200
_DOTTED = re.compile(r"([^\W\d]\w*(?:\.\w+)*)?\.?(\w*)$")


class Watching:
    """What can be asked while a run stands."""

    long = frozenset({"evaluate", "variables", "sgl/mask"})
    """Requests that may take a while: a model computes, an expression runs."""

    def __init__(self, adapter: Adapter) -> None:
        self._adapter = adapter
        self.handlers: dict[str, Callable[[Request], Awaitable[Json | None]]] = {
            **{"threads": self._threads, "stackTrace": self._stack, "scopes": self._scopes},
            **{"variables": self._variables, "setVariable": self._set_variable},
            **{"evaluate": self._evaluate, "completions": self._completions},
            **{"exceptionInfo": self._exception, "source": self._source},
            **{"loadedSources": self._sources, "sgl/mask": self._mask, "sgl/holes": self._holes},
            **{"sgl/conversation": self._conversation, "sgl/alternatives": self._alternatives},
            **{"sgl/search": self._search},
        }

    # -- threads and frames --------------------------------------------------------------------------

    async def _threads(self, request: Request) -> Json:
        strands = self._adapter.launched.debugger.strands.alive()
        rows = [{"id": each.number, "name": each.title} for each in strands]
        return {"threads": rows or [{"id": 1, "name": "run"}]}

    async def _stack(self, request: Request) -> Json:
        references = self._adapter.standing
        number = request.number_of("threadId")
        strands = references.debugger.strands.alive()
        strand = next((each for each in strands if each.number == number), None)
        if strand is None:
            raise BadRequest(f"there is no thread {number}")
        looks = frames_of(strand.machine)
        first, most = request.number_of("startFrame", 0), request.number_of("levels", 0)
        rows = []
        for index, look in list(enumerate(looks))[first : first + most if most else None]:
            row: dict[str, object] = {"id": references.frame_number(strand, index), "name": look.name}
            row |= {"line": 0, "column": 0}
            if look.place is not None and 0 <= look.place.file < len(references.program.files):
                row["source"] = self._adapter.files.source(look.place.file)
                line, column = look.place.line, look.place.column
                if look.frame is references.stop.frame:
                    lines = references.debugger.places.of(look.frame.code).lines
                    found = lines[references.stop.pc] if references.stop.pc < len(lines) else line
                    line, column = (found, 1) if found and found != line else (line, column)
                row["line"] = line + self._adapter.first_line - 1
                row["column"] = column + self._adapter.first_column - 1
            row["canRestart"] = any(self._is_of(each, look.frame) for each in self._passages())
            rows.append(row)
        return {"stackFrames": rows, "totalFrames": len(looks)}

    async def _scopes(self, request: Request) -> Json:
        return {"scopes": self._adapter.standing.scopes(request.number_of("frameId"))}

    async def _variables(self, request: Request) -> Json:
        rows = await self._adapter.standing.rows(request.number_of("variablesReference"))
        start, count = request.number_of("start", 0), request.number_of("count", 0)
        return {"variables": rows[start : start + count if count else None]}

    # -- expressions ---------------------------------------------------------------------------------

    def _frame(self, request: Request) -> Frame:
        references = self._adapter.standing
        if "frameId" in request.arguments:
            return references.look(request.number_of("frameId"))[2].frame
        return references.stop.frame

    async def _evaluate(self, request: Request) -> Json:
        references, frame = self._adapter.standing, self._frame(request)
        value = await self._adapter.launched.expressions.evaluate(frame, request.text("expression"))
        shown = references.shown(value)
        if request.text("context", "") == "clipboard" and isinstance(value, str):
            shown = value
        return {
            "result": shown,
            "type": type_of(value),
            "variablesReference": references.reference(value),
        }

    async def _completions(self, request: Request) -> Json:
        references, frame = self._adapter.standing, self._frame(request)
        text = request.text("text")
        column = request.number_of("column") - self._adapter.first_column
        line = text[: max(0, column)]
        found = _DOTTED.search(line)
        assert found is not None
        variables = {each.name: each.value for each in variables_of(references.program, frame)}
        dotted, part = found.group(1) or "", found.group(2)
        if line.endswith("." + part) and dotted:
            names = [(name, "field") for name in self._fields(variables, dotted)]
        else:
            names = [(name, "variable") for name in variables]
            names += [(name, "function") for name in references.program.entry]
            part = found.group(0)
        rows = [{"label": name, "type": kind} for name, kind in names if name.startswith(part)]
        return {"targets": rows[:MOST_COMPLETIONS]}

    def _fields(self, variables: dict[str, object], dotted: str) -> list[str]:
        """The fields of the value of `a.b.c`, as far as they are names."""
        first, *others = dotted.split(".")
        value = variables.get(first)
        program = self._adapter.launched.program
        for name in others:
            value = next((each.value for each in parts_of(program, value) if each.name == name), None)
        if not has_parts(value):
            return []
        return [each.name for each in parts_of(program, value) if each.name.isidentifier()]

    async def _set_variable(self, request: Request) -> Json:
        """A value for a hole. The run goes on from there and stops at the statement behind the hole."""
        references = self._adapter.standing
        name = request.text("name")
        passage = references.settable.get((request.number_of("variablesReference"), name))
        if passage is None:
            raise BadRequest(f"`{name}` was not filled by a hole: only holes can be given a value")
        text = request.text("value")
        action = await references.debugger.force(references.stop, passage, text, Go("over"))
        self._adapter.go_on(action)
        return {"value": text, "variablesReference": 0}

    async def _exception(self, request: Request) -> Json:
        stop = self._adapter.standing.stop
        if stop.error is not None:
            details = {"message": stop.error.message, "typeName": stop.error.name}
            described = {"exceptionId": stop.error.name, "description": stop.error.message}
            return {**described, "breakMode": "always", "details": details}
        if stop.reason not in ("ensure", "expect", "improbable", "pressure"):
            raise BadRequest("the run does not stand at an error")
        return {"exceptionId": stop.reason, "description": stop.text, "breakMode": "always"}

    # -- sources -------------------------------------------------------------------------------------

    async def _source(self, request: Request) -> Json:
        number = request.part("source").number_of("sourceReference", request.number_of("sourceReference", 0))
        return {"content": self._adapter.files.text(number), "mimeType": "text/x-sgl"}

    async def _sources(self, request: Request) -> Json:
        return {"sources": self._adapter.files.sources()}

    # -- holes ---------------------------------------------------------------------------------------

    def _passages(self) -> list[Passage]:
        return list(self._adapter.standing.debugger.history.holes)

    def passage(self, request: Request) -> Passage:
        """The hole that a request means: by its number from 1, by its name the newest, else the one at which
        the run stands, or the last one. Raises BadRequest."""
        holes, stop = self._passages(), self._adapter.standing.stop
        if not holes:
            raise BadRequest("the run has come to no hole yet")
        wanted = request.arguments.get("hole")
        if wanted is None:
            return stop.passage if stop.passage in holes and stop.passage is not None else holes[-1]
        if isinstance(wanted, int) and not isinstance(wanted, bool) and 1 <= wanted <= len(holes):
            return holes[wanted - 1]
        for each in reversed(holes):
            if wanted in (each.name, each.name.rpartition(".")[2]):
                return each
        raise BadRequest(f"the run has come to no hole `{wanted}`")

    def before_last(self) -> Back:
        """Back before the last hole, or the one before it where the run stands before the last one."""
        holes, stop = self._passages(), self._adapter.standing.stop
        before = stop.token is None and stop.reason in ("hole", "back") and stop.passage is not None
        if before and stop.passage in holes:
            holes = holes[: holes.index(stop.passage)]
        if not holes:
            raise BadRequest("there is no hole before this place")
        return Back(holes[-1])

    @staticmethod
    def _is_of(passage: Passage, frame: Frame) -> bool:
        snapshot = passage.snapshot
        return snapshot is not None and any(state.frame is frame for state in snapshot.frames)

    def first_hole_of(self, number: int) -> Passage:
        """The first hole that was passed since a frame was entered. Raises BadRequest."""
        frame = self._adapter.standing.look(number)[2].frame
        for each in self._passages():
            if self._is_of(each, frame):
                return each
        raise BadRequest("no hole was passed in this frame")

    async def _holes(self, request: Request) -> Json:
        rows = []
        for number, each in enumerate(self._passages(), 1):
            row: dict[str, object] = {"number": number, "name": each.name, "text": each.text}
            row |= {"ended": each.ended, "given": each.forced is not None}
            row |= {"branch": each.strand.machine.branch, "tokens": len(each.tokens)}
            row["line"] = 0 if each.place is None else each.place.line + self._adapter.first_line - 1
            rows.append(row)
        return {"holes": rows}

    async def _conversation(self, request: Request) -> Json:
        frame = self._frame(request)
        rows = [{"role": role, "text": text} for role, text in messages_of(frame)]
        text = "" if frame.conversation is None else frame.conversation.rendered()
        return {"messages": rows, "text": text}

    async def _mask(self, request: Request) -> Json:
        look = await mask_at(self._adapter.standing.stop)
        return {
            **{"hole": look.hole, "written": look.written, "allowed": look.allowed, "size": look.size},
            **{"kept": look.kept, "forced": look.forced},
            "before": [_candidate(each) for each in look.before],
            "after": [_candidate(each) for each in look.after],
        }

    async def _search(self, request: Request) -> Json:
        """Where the search stands in which the run does."""
        look = self._adapter.standing.stop.search
        if look is None:
            raise BadRequest("the run does not stand in a search")
        return search_body(look)

    async def _alternatives(self, request: Request) -> Json:
        passage = self.passage(request)
        found = alternatives_of(passage)
        return {
            **{"hole": passage.name, "text": passage.text, "why": found.why},
            "tokens": [dict(each) for each in found.tokens],
            "scores": dict(found.scores),
            **({} if passage.search is None else {"search": search_body(passage.search)}),
        }


def search_body(look: SearchLook) -> dict[str, object]:
    """A search as clients read it."""
    texts = [
        {"number": each.number, "text": each.text, "score": _finite(each.score), "state": each.state}
        for each in look.texts
    ]
    head = {"strategy": look.strategy, "moment": look.moment, "round": look.round, "told": look.told}
    return {**head, "which": look.which, "texts": texts}


def _finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None


def _candidate(candidate: Candidate) -> dict[str, object]:
    return {"text": candidate.text, "before": candidate.before, "after": candidate.after}
