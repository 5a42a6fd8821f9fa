"""From events to a run as data.

Events of branches come mixed: each goes to the line of execution that its `branch` names, which has calls of
its own. Whatever the order of events, the result is a run: what does not fit is put where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from sglc.viewer.filling import INSIDE, add, settle, token_of
from sglc.viewer.model import (
    Branch,
    Call,
    Check,
    Error,
    Fill,
    Fork,
    Item,
    Mark,
    Rejected,
    Role,
    Run,
    Text,
    Token,
    height_of,
)
from sglc.viewer.reading import Event

DEEPEST = 60
"""Most groups (calls, branches, what was rejected) that stand in each other. Browsers give up nesting at 512
elements and a group takes five; what is deeper is told in the group that is open."""
MOST_DETAILED = 10_000
"""Most tokens of a run whose details are kept: with five candidates each, 10,000 are 250,000 elements of a
page. Chromium took 5 s of processor time to open one of 9 MB, and 8 s for one with 20,000. The text of all
others is shown."""


@dataclass(slots=True, eq=False)
class _Flow:
    """Items in their order, and how many groups they stand in."""

    items: list[Item]
    depth: int
    fills: list[tuple[str, int]] = field(default_factory=list)
    """Holes and the places of their newest fillings, ascending."""
    places: dict[str, int] = field(default_factory=dict)

    def filled(self, hole: str, at: int) -> None:
        """Item `at` is the newest filling of a hole."""
        self.fills.append((hole, at))
        self.places[hole] = at

    def cut(self, at: int) -> list[Item]:
        """Take out all items from `at` on."""
        while self.fills and self.fills[-1][1] >= at:
            hole, place = self.fills.pop()
            if self.places.get(hole) == place:
                del self.places[hole]
        taken = self.items[at:]
        del self.items[at:]
        return taken


@dataclass(slots=True, eq=False)
class _Strand:
    """One line of execution: the open calls, the hole that is being filled, the branches of its last fork."""

    path: str
    flow: _Flow
    calls: list[tuple[Call | None, _Flow]] = field(default_factory=list)
    """Open calls, None where one is too deep; each with the flow that it was made from."""
    fill: Fill | None = None
    fork: Fork | None = None
    fork_at: tuple[_Flow, int] | None = None
    children: dict[int, _Strand] = field(default_factory=dict)
    began: str = ""
    """Where the fork was made that this is a branch of."""


class Builder:
    """Takes events one by one; `run` is what they tell so far."""

    def __init__(self, most_detailed: int = MOST_DETAILED) -> None:
        self.run = Run()
        self._most = most_detailed
        self._root = _Strand("", _Flow(self.run.items, 0))
        self._handlers: dict[str, Callable[[_Strand, Event], None]] = {
            "start": self._start,
            "role": lambda strand, event: self._put(strand, Role(event.text("role"))),
            "text": self._text,
            "hole_start": self._hole_start,
            "hole_end": self._hole_end,
            "token": self._token,
            "fallback": self._fallback,
            "again": lambda strand, event: self._put(strand, Mark(_again(event))),
            "retry": self._retry,
            "check": self._check,
            "fork": self._fork,
            "adopt": self._adopt,
            "mark": lambda strand, _: self._put(strand, Mark("what follows is forgotten")),
            "forget": lambda strand, _: self._put(strand, Mark("forgotten from the mark on")),
            "python": lambda strand, event: self._put(strand, Mark(_python(event))),
            "call": self._call,
            "return": self._return,
            "error": self._error,
            "finish": self._finish,
        }

    def add(self, event: Event) -> None:
        """One event more."""
        if event.kind in self._handlers:
            self._handlers[event.kind](self._strand(event.text("branch")), event)
        elif event.kind in INSIDE:
            strand = self._strand(event.text("branch"))
            add(self._open(strand, event), event)
        else:
            self.run.skipped[event.kind] = self.run.skipped.get(event.kind, 0) + 1

    def end(self) -> Run:
        """The run, when there are no more events. Holes that did not end show what there was."""
        for fill in self.run.fills:
            if fill.end is None:
                settle(fill)
        return self.run

    # -- where events go ---------------------------------------------------------------------------------

    def _strand(self, path: str) -> _Strand:
        strand = self._root
        if not path:
            return strand
        for part in path.split(".", DEEPEST)[:DEEPEST]:
            index = int(part) if part.isdecimal() and part.isascii() and len(part) < 10 else 0
            strand = strand.children.get(index) or self._branch(strand, index)
        return strand

    def _branch(self, parent: _Strand, index: int) -> _Strand:
        """A branch that is heard of for the first time; without a fork, one is supposed."""
        path = f"{parent.path}.{index}".lstrip(".")
        flow, span = parent.flow, ""
        if flow.depth < DEEPEST:
            if parent.fork is None:
                self._new_fork(parent, Fork(0))
            assert parent.fork is not None
            branch = Branch(index)
            parent.fork.branches.append(branch)
            parent.fork.count = max(parent.fork.count, index + 1)
            flow, span = _Flow(branch.items, flow.depth + 1), parent.fork.span
        parent.children[index] = _Strand(path, flow, began=span)
        return parent.children[index]

    def _put(self, strand: _Strand, item: Item) -> None:
        strand.flow.items.append(item)

    def _open(self, strand: _Strand, event: Event) -> Fill:
        """The filling that is open; one is begun where its beginning is missing."""
        hole = event.text("hole")
        if strand.fill is None or (hole and strand.fill.hole != hole):
            strand.fill = self._begin(strand, event)
        return strand.fill

    def _begin(self, strand: _Strand, event: Event) -> Fill:
        run, flow = self.run, strand.flow
        mode = event.text("mode")
        fill = Fill(event.text("hole"), mode, strand.path, len(run.fills) + 1, event.text("span"))
        run.fills.append(fill)
        flow.filled(fill.hole, len(flow.items))
        flow.items.append(fill)
        return fill

    # -- what they say -----------------------------------------------------------------------------------

    def _start(self, strand: _Strand, event: Event) -> None:
        run = self.run
        run.function, run.program = event.text("function"), event.text("program")
        run.seed = event.count("seed")

    def _text(self, strand: _Strand, event: Event) -> None:
        text, inserted = event.text("text"), event.data.get("inserted") is True
        self._put(strand, Text(text, inserted, event.text("span")))

    def _hole_start(self, strand: _Strand, event: Event) -> None:
        fill = strand.fill = self._begin(strand, event)
        parent = self._root
        if not strand.path or not fill.span or strand.began != fill.span:
            return
        for part in strand.path.split(".")[:-1]:
            parent = parent.children[int(part)]
        if parent.fork is not None:  # made at the hole itself: samples of it
            parent.fork.samples = fill.hole

    def _hole_end(self, strand: _Strand, event: Event) -> None:
        fill = self._open(strand, event)
        fill.end = event.data
        fill.value = event.text("text") if isinstance(event.data.get("text"), str) else None
        settle(fill)
        strand.fill = None

    def _fallback(self, strand: _Strand, event: Event) -> None:
        """A model failed, and the next one of its chain is asked."""
        strand.fill = None
        self._put(strand, Mark(f"{event.text('model')} failed: {event.text('message')}"))

    def _token(self, strand: _Strand, event: Event) -> None:
        run = self.run
        if run.detailed < self._most:
            token = token_of(event)
            run.detailed += 1
            token.number = run.detailed
        else:
            token = Token(event.text("text"), pressure=event.number("pressure"))
            run.left_out += 1
        self._open(strand, event).pieces.append(token)

    def _retry(self, strand: _Strand, event: Event) -> None:
        self.run.retries += 1
        flow, hole, reason = strand.flow, event.text("hole"), event.text("reason")
        strand.fill = None
        at = flow.places.get(hole)
        height = 0 if at is None else height_of(flow.items[at:])
        if at is None or flow.depth + 1 + height > DEEPEST:
            self._put(strand, Mark(f"retry of {hole}: {reason}"))
            return
        items = flow.cut(at)
        _reject(items)
        strategy, text = event.text("strategy"), event.text("rejected")
        rejected = Rejected(hole, strategy, text, reason, items, event.text("span"), 1 + height)
        self._put(strand, rejected)

    def _check(self, strand: _Strand, event: Event) -> None:
        passed = event.data.get("passed") is True
        self.run.checks += 1
        self.run.failed_checks += not passed
        self._put(strand, Check(passed, event.text("reason"), event.text("span")))

    def _fork(self, strand: _Strand, event: Event) -> None:
        self._new_fork(strand, Fork(event.count("branches") or 0, span=event.text("span")))

    def _new_fork(self, strand: _Strand, fork: Fork) -> None:
        strand.children = {}
        if strand.flow.depth < DEEPEST:
            strand.fork, strand.fork_at = fork, (strand.flow, len(strand.flow.items))
            self._put(strand, fork)
        else:
            strand.fork = strand.fork_at = None

    def _adopt(self, strand: _Strand, event: Event) -> None:
        index, fork = event.count("index"), strand.fork
        if fork is None or index is None:
            return
        if not fork.samples:
            self._put(strand, Mark(f"the conversation goes on from branch {index}"))
        for branch in fork.branches:
            branch.adopted = branch.index == index
        if fork.samples and strand.fork_at is not None:
            flow, at = strand.fork_at
            behind = not flow.fills or flow.fills[-1][1] < at
            if behind and at < len(flow.items) and flow.items[at] is fork:
                flow.filled(fork.samples, at)

    def _call(self, strand: _Strand, event: Event) -> None:
        function, flow = event.text("function"), strand.flow
        strand.fill = None
        if flow.depth >= DEEPEST:
            self._put(strand, Mark(f"call of {function}"))
            strand.calls.append((None, flow))
            return
        call = Call(function, span=event.text("span"))
        self._put(strand, call)
        strand.calls.append((call, flow))
        strand.flow = _Flow(call.items, flow.depth + 1)

    def _return(self, strand: _Strand, event: Event) -> None:
        strand.fill = None
        if not strand.calls:
            return
        call, strand.flow = strand.calls.pop()
        error = event.text("error")
        if call is not None:
            call.ended, call.error = True, error
        else:
            self._put(strand, Mark(f"return of {event.text('function')}{': ' + error if error else ''}"))

    def _error(self, strand: _Strand, event: Event) -> None:
        partial = event.data.get("partial")
        if strand.fill is not None and isinstance(partial, str):
            strand.fill.value = partial
        strand.fill = None
        caught = event.data.get("caught") is True
        skipped = event.count("skipped")
        error = Error(event.text("name"), event.text("message"), caught, skipped, event.text("span"))
        self._put(strand, error)
        if not caught and skipped is None and not strand.path:
            self.run.error = error

    def _finish(self, strand: _Strand, event: Event) -> None:
        run = self.run
        run.finished = True
        run.tokens, run.forced = event.count("tokens"), event.count("forced")
        run.forwards, run.seconds = event.count("forwards"), event.number("seconds")


def _reject(items: Iterable[Item]) -> None:
    """Note at all fillings in some items that they were taken back."""
    for item in items:
        if isinstance(item, Fill):
            item.rejected = True
        elif isinstance(item, Fork):
            for branch in item.branches:
                _reject(branch.items)
        elif isinstance(item, Call):
            _reject(item.items)


def build(events: Iterable[Event], most_detailed: int = MOST_DETAILED) -> Run:
    """The run that events tell of. `most_detailed` bounds the tokens whose details are kept."""
    builder = Builder(most_detailed)
    for event in events:
        builder.add(event)
    return builder.end()


def _again(event: Event) -> str:
    return f"{event.text('hole')} was asked again: {event.text('reason')}"


def _python(event: Event) -> str:
    """A call of a function of Python on one line: arguments, result or error, and how it was found."""
    given = event.data.get("arguments")
    shown = ", ".join(f"{k}={v}" for k, v in given.items()) if isinstance(given, dict) else ""
    head = f"Python {event.text('target')}({shown})"
    if event.text("error"):
        return f"{head} failed: {event.text('error')}: {event.text('message')}"
    how = event.text("how")
    return f"{head} gave {event.text('result')}" + (f" ({how})" if how not in ("", "called") else "")
