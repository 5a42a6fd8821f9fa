"""A recorded run, run again: `replay "run.jsonl"`.

The function is called with the arguments of the trace, its holes are filled with what they were filled with
then, and calls of Python come to what they came to: nothing is imported or called. What the program writes,
what it asks, what it calls and how it goes on must be what the trace tells. So a change of a prompt, of a
type or of what is computed between holes is seen without a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sglc.recorded.answers import answer_of, outcome_of
from sglc.recorded.goldens import diff
from sglc.recorded.pressures import Pressures
from sglc.runtime.errors import ArgumentError, SglError
from sglc.runtime.session import Session
from sglc.runtime.vm.state.run import CallOutcome, Written
from sglc.runtime.vm.state.trace import Event
from sglc.viewer.reading import MOST_BYTES, Reading

_TOLD: dict[str, tuple[str, ...]] = {
    "role": ("role",),
    "text": ("text",),
    "hole_start": ("hole", "mode"),
    "hole_end": ("hole", "text"),
    "retry": ("hole", "strategy", "rejected", "reason"),
    "mark": (),
    "forget": (),
    "check": ("passed", "reason"),
    "fork": ("branches",),
    "adopt": ("index",),
    "python": ("function", "arguments", "error", "message"),
    "call": ("function",),
    "return": ("function", "error"),
    "error": ("name", "message", "caught"),
    "finish": ("function",),
}
"""Events that must be the same, by what of them must be. Tokens, figures and times belong to a model."""


class ReplayFault(Exception):
    """A trace that cannot be run again; the message says why."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a run did, as a line, and the place of it in the program."""

    line: str
    span: str
    branch: str = ""


@dataclass(slots=True)
class RecordedRun:
    """A run as its trace tells it: the call, answers to its holes and calls of Python, its steps, the
    pressure of its masks."""

    function: str = ""
    seed: int = 0
    arguments: Mapping[str, object] = field(default_factory=dict)
    answers: dict[str, list[Written | CallOutcome]] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    pressures: Pressures = field(default_factory=Pressures)


@dataclass(frozen=True, slots=True)
class Deviation:
    """Where a run goes another way than the recorded one: the place (`file:line:column`) and the lines that
    differ."""

    span: str
    lines: str


def read_run(path: Path) -> RecordedRun:
    """The recorded run in a file. Reads at most 48 MiB and 200,000 events of it. Raises ReplayFault."""
    reading, run, joined = Reading(), RecordedRun(), Joined()
    begun = False
    try:
        with path.open("rb") as file:
            for event in reading.events(file, most_bytes=MOST_BYTES):
                if event.kind == "start":
                    if begun:
                        raise ReplayFault(f"line {event.line} of {path} begins a second run")
                    begun = True
                    _begin(run, event.data, path)
                elif event.kind == "hole_end":
                    try:
                        name, answer = answer_of(event.data)
                    except (KeyError, TypeError, ValueError):
                        raise ReplayFault(f"line {event.line} of {path} is no end of a hole") from None
                    run.answers.setdefault(name, []).append(answer)
                elif event.kind == "python":
                    try:
                        found = outcome_of(event.data)
                    except (KeyError, TypeError, ValueError):
                        raise ReplayFault(f"line {event.line} of {path} is no call of Python") from None
                    if found is not None:
                        run.answers.setdefault(found[0], []).append(found[1])
                joined.add(event.kind, event.data, event.text("branch"), event.text("span"))
                run.pressures.add(event)
    except FileNotFoundError:
        raise ReplayFault(f"there is no file {path}") from None
    except OSError as problem:
        raise ReplayFault(f"{path} cannot be read: {problem.strerror or problem}") from None
    if reading.damaged or reading.left_out:
        first = reading.faults[0] if reading.faults else None
        told = f"line {first.line}: {first.reason}" if first else "it is too large"
        raise ReplayFault(f"{path} is no whole trace: {told}")
    if not begun:
        raise ReplayFault(f"{path} has no event `start`")
    run.steps = joined.ordered()
    return run


def _begin(run: RecordedRun, data: Mapping[str, object], path: Path) -> None:
    function, seed, arguments = data.get("function"), data.get("seed"), data.get("arguments", {})
    if not isinstance(function, str) or type(seed) is not int or not isinstance(arguments, dict):
        raise ReplayFault(f"the event `start` of {path} tells no call")
    run.function, run.seed, run.arguments = function, seed, arguments


class Joined:
    """Events as steps. Texts that follow each other are one: where a text is cut is no matter of the run."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._texts: dict[str, int] = {}
        self._said: dict[int, str] = {}

    def ordered(self) -> list[Step]:
        """The steps branch by branch: which of several branches is first at something is a matter of time."""
        return sorted(self.steps, key=lambda step: step.branch)

    def add(self, kind: str, data: Mapping[str, object], branch: str, span: str) -> None:
        """One event more."""
        keys = _TOLD.get(kind)
        if keys is None:
            return
        at = f"[{branch}] " if branch else ""
        if kind == "text":
            place = self._texts.get(branch)
            if place is None:
                place = self._texts[branch] = len(self.steps)
                self.steps.append(Step("", span, branch))
            self._said[place] = self._said.get(place, "") + str(data.get("text", ""))
            self.steps[place] = Step(f"{at}text {self._said[place]!r}", self.steps[place].span, branch)
            return
        self._texts.pop(branch, None)
        told = " ".join(f"{key}={data[key]!r}" for key in keys if key in data)
        self.steps.append(Step(f"{at}{kind} {told}".rstrip(), span, branch))


async def replay(session: Session, run: RecordedRun) -> Deviation | None:
    """Run a recorded run again: where it goes another way, or None. Raises ReplayFault where it cannot
    begin."""
    joined = Joined()

    def hear(event: Event) -> None:
        joined.add(event.kind, event.data, event.branch, event.span)

    try:
        await session.rerun(run.function, run.arguments, run.answers, seed=run.seed, on_event=hear)
    except ArgumentError as problem:
        told = problem.diagnostic()
        raise ReplayFault(f"{told.message}{f': {told.reason}' if told.reason else ''}") from None
    except SglError:
        pass  # which the events tell
    steps = joined.ordered()
    old, new = [step.line for step in run.steps], [step.line for step in steps]
    if old == new:
        return None
    first = next(
        (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    span = _place(steps, first) or _place(run.steps, first)
    return Deviation(span, diff(_cut(old), _cut(new)))


def _place(steps: list[Step], number: int) -> str:
    return next((step.span for step in reversed(steps[: number + 1]) if step.span), "")


def _cut(lines: Iterable[str]) -> list[str]:
    """Steps line by line, texts at their line breaks, so that a difference in a long text is a short one."""
    return [part for line in lines for part in line.replace("\\n", "\\n\n").split("\n")]
