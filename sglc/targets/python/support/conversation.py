"""Conversations: messages that grow, holes that a model fills, conditions that draw them again, forks."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from sglc.targets.python.support.types import Str, WrongValue, check, fault, read
from sglc.targets.python.support.values import (
    Branch,
    Budget,
    Failure,
    Rejected,
    Scored,
    SglError,
    shortened,
    show,
)


class Complete(Protocol):
    """Asks a model. The answer goes on behind the last message where that is the assistant's.

    `schema` is a JSON Schema of the answer, `regex` a pattern that all of it matches, `stop` texts that end
    it and are no part of it, `sampling` what the program says of temperature, top_p, top_k, min_p and seed.
    A provider that can mask keeps the answer to schema or regex; the module checks it in any case.
    """

    def __call__(
        self,
        messages: list[dict[str, str]],
        *,
        schema: dict[str, object] | None,
        regex: str | None,
        stop: list[str],
        max_tokens: int | None,
        sampling: dict[str, object],
    ) -> str: ...


@dataclass
class Session:
    """A run: who answers, how often an answer that is wrong is asked for again, and what `check` found."""

    complete: Complete
    attempts: int = 3
    checks: list[tuple[bool, str]] = field(default_factory=list)


SESSION: ContextVar[Session] = ContextVar("SESSION")


@dataclass(frozen=True)
class Hole:
    """What is asked of the model: a type, and how answers look."""

    name: str
    type: object
    schema: dict[str, object] | None = None
    regex: str | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True)
class State:
    """Finished messages and the open one. `begun` tells the first line, `glued` a line that goes on."""

    messages: tuple[tuple[str, str], ...] = ()
    begun: bool = False
    glued: bool = False


class Again(BaseException):
    """Goes back to a hole whose value was rejected."""

    def __init__(self, point: Point) -> None:
        self.point = point


@dataclass
class Point:
    """A hole that conditions draw again: the conversation before it, and what was rejected."""

    state: State
    excluded: list[str] = field(default_factory=list)
    repairs: list[tuple[str, str]] = field(default_factory=list)
    used: dict[int, int] = field(default_factory=dict)
    text: str | None = None

    def retry(self, number: int, attempts: int, strategy: str, reason: object) -> None:
        """Condition `number` does not hold: go back while it has attempts left."""
        if self.text is None or self.used.get(number, 0) >= attempts:
            return
        self.used[number] = self.used.get(number, 0) + 1
        if strategy == "repair":
            self.repairs.append((self.text, show(reason)))
        else:
            self.excluded.append(self.text)
        raise Again(self)


class Conversation:
    """The messages of one call of a function."""

    def __init__(self, state: State | None = None) -> None:
        self.state = state or State()
        self.holes: dict[str, object] = {}
        self.seed: object = None

    # -- text ----------------------------------------------------------------------------------------------

    @contextmanager
    def role(self, name: str) -> Iterator[None]:
        """A message."""
        self.state = State((*self.state.messages, (name, "")))
        yield

    def line(self, *values: object) -> None:
        """A line of text: on a new line, unless it is the first of its message or goes on."""
        if self.state.begun and not self.state.glued:
            self.text("\n")
        self.state = State(self.state.messages or (("text", ""),), True)
        self.text(*values)

    def text(self, *values: object) -> None:
        """Texts of values, in the line at hand."""
        more = "".join(map(show, values))
        *closed, (role, text) = self.state.messages or (("text", ""),)
        self.state = State((*closed, (role, text + more)), True, self.state.glued)

    def glue(self) -> None:
        """The next line goes on in the line at hand."""
        self.state = State(self.state.messages, self.state.begun, True)

    def mark(self) -> Callable[[], None]:
        """What goes back to the state at hand."""
        state = self.state
        return lambda: self.restore(state)

    def restore(self, state: State) -> None:
        """Go back to an earlier state."""
        self.state = state

    # -- holes ---------------------------------------------------------------------------------------------

    def fill(
        self,
        hole: Hole,
        *,
        max_tokens: int | None = None,
        where: Callable[[Any], bool] | None = None,
        judged: Callable[[str], bool] | None = None,
        point: Point | None = None,
        **sampling: object,
    ) -> Any:
        """The value of a hole, whose text goes on the message. Raises Rejected where no answer is right."""
        session = SESSION.get()
        seed = {} if self.seed is None else {"seed": self.seed}
        before, why = self.state, ""
        for text, reason in point.repairs if point is not None else ():
            self.turn(before, text, reason)
        for _ in range(session.attempts):
            answer = session.complete(
                [{"role": role, "content": text} for role, text in self.asked()],
                schema=hole.schema,
                regex=hole.regex,
                stop=list(hole.stop),
                max_tokens=max_tokens,
                sampling={**seed, **sampling},
            )
            if not isinstance(answer, str):
                raise TypeError(f"`complete` returned {answer.__class__.__name__}, not a text")
            try:
                value = _value(hole, answer)
                if point is not None and answer in point.excluded:
                    raise WrongValue(f"{shortened(answer)} was rejected before")
                if (where is not None and not where(value)) or (judged is not None and not judged(answer)):
                    raise WrongValue(f"{shortened(answer)} does not meet its condition")
            except WrongValue as wrong:
                why = str(wrong)
                self.turn(before, shortened(answer), why)
                continue
            self.state = before
            self.text(answer)
            if point is not None:
                point.text = answer
            return value
        self.state = before
        raise Rejected(f"no answer of {session.attempts} for `{hole.name}` was right; the last: {why}")

    def asked(self) -> tuple[tuple[str, str], ...]:
        """The messages that the model sees: an empty beginning of its answer is no message."""
        messages = self.state.messages
        return messages[:-1] if messages and messages[-1] == ("assistant", "") else messages

    def turn(self, before: State, answer: str, reason: str) -> None:
        """Show the model its answer and what is wrong with it, and begin the message again."""
        self.text(answer)
        *_, (role, begun) = before.messages or (("text", ""),)
        if role == "text":
            self.text(f"\n\n(Not accepted: {reason} Once more.)\n\n", begun)
            return
        told = ("user", f"That is not accepted: {reason}\nAnswer again, in the same form.")
        self.state = State((*self.state.messages, told, (role, begun)), before.begun, before.glued)

    def select(self, hole: Hole, options: Sequence[object], *, point: Point | None = None) -> Scored:
        """One of some options. A model that only answers gives no scores: the answer has all probability."""
        value = self.choose(hole, options, point=point)
        return Scored(value, tuple(options))

    def choose(self, hole: Hole, options: Sequence[object], **settings: Any) -> Any:
        """One of some options, by its text."""
        known: dict[str, object] = {}
        for option in options:
            known.setdefault(show(option), option)
        regex = "|".join(map(re.escape, known))
        return known[self.fill(Hole(hole.name, Str(), None, regex, hole.stop), **settings)]

    def samples(
        self, count: int, fill: Callable[[Conversation], object], point: Point | None = None
    ) -> list[Any]:
        """Several answers of one hole. The conversation goes on with the first; conditions reject it."""
        found, before, first = [], self.state, self.state
        text: str | None = None
        for number in range(count):
            self.state = before
            found.append(fill(self))
            if number == 0:
                first, text = self.state, point.text if point is not None else None
        self.state = first
        if point is not None:
            point.text = text
        return found

    def keep(self, name: str, value: object) -> Any:
        """A hole of a branch, which the branch has by name."""
        self.holes[name] = value
        return value

    # -- forks ---------------------------------------------------------------------------------------------

    def fork(
        self, values: Sequence[object], body: Callable[[Conversation, Any], object], *, skip: bool = False
    ) -> list[Branch]:
        """Run the body for each value, one after the other, each from this conversation."""
        branches = []
        for value in values:
            inner = Conversation(self.state)
            inner.seed = self.seed
            try:
                result = body(inner, value)
            except SglError:
                if not skip:
                    raise
                continue
            branches.append(Branch(result, inner.holes, inner.state))
        return branches

    def adopt(self, branch: Branch) -> None:
        """Go on with the conversation of a branch."""
        if branch.state is None:
            raise Failure("a branch can be adopted once, in the function that forked it")
        self.state, branch.state = branch.state, None


def _value(hole: Hole, answer: str) -> object:
    """The value of an answer. Raises WrongValue."""
    if hole.regex is not None and re.fullmatch(hole.regex, answer) is None:
        raise WrongValue(f"{shortened(answer)} is not in the form that is asked for")
    value = read(answer, hole.type)
    why = fault(value, hole.type)
    if why is not None:
        raise WrongValue(why)
    return value


def note(passed: bool, reason: object) -> None:
    """What a `check` found."""
    SESSION.get().checks.append((passed, show(reason)))


def spend(left: int, name: str) -> int:
    """One round less. Raises Budget where none is left."""
    if left <= 0:
        raise Budget(f"{name} went beyond its limit")
    return left - 1


PROGRAM: dict[str, tuple[Callable[..., object], dict[str, object]]] = {}
"""The functions by their names in the program, each with the types of its parameters."""


def run(
    function: Callable[..., object] | str, /, *, complete: Complete, attempts: int = 3, **arguments: object
) -> Any:
    """Call a function of the program, itself or by its name. `complete` asks the model.

    Arguments go by their names in the program, or in this module where that has an underscore more. An
    answer that is wrong is asked for again, `attempts` times in all; then Rejected is raised. What `complete`
    raises is raised here. Raises LookupError for a function, TypeError for an argument that the program
    does not have, ValueError for no attempts.
    """
    if attempts < 1:
        raise ValueError(f"attempts={attempts}: a model is asked once at least")
    called = next((name for name, each in PROGRAM.items() if function in (name, each[0])), None)
    if called is None:
        raise LookupError(f"no function {function!r}; the program has {', '.join(PROGRAM)}")
    made, types = PROGRAM[called]
    here = dict(zip(types, inspect.signature(made).parameters, strict=True))
    names = {**{name: key for key, name in here.items()}, **{key: key for key in here}}
    if unknown := [name for name in arguments if name not in names]:
        raise TypeError(f"{called} takes no `{unknown[0]}`; it takes {', '.join(here) or 'nothing'}")
    checked = {here[names[name]]: check(value, types[names[name]]) for name, value in arguments.items()}
    token = SESSION.set(Session(complete, attempts))
    try:
        return made(**checked)
    finally:
        SESSION.reset(token)
