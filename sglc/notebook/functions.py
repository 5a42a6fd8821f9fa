"""Functions of a program as a notebook has them: a call gives a value, `run` a value and its picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.render import render
from sglc.notebook.pictures import Picture, Recorder
from sglc.python.errors import RunError

if TYPE_CHECKING:
    from sglc.api import Function
    from sglc.python.stream import Stream
    from sglc.runtime.results import RunResult
    from sglc.runtime.vm.state.trace import Event

Told = Callable[[Diagnostic], Diagnostic]
"""Gives a finding the place where it was typed."""
TOP = 5
"""Tokens that a picture shows beside each token."""


@contextmanager
def _placed(told: Told) -> Iterator[None]:
    """Errors that leave a run point at the cell in which they arose."""
    try:
        yield
    except RunError as error:
        error.diagnostic = told(error.diagnostic)
        error.args = (render(error.diagnostic),)
        raise


class TracedRun:
    """A run: all that `run` of a function gives, and a picture of it as the output of a cell."""

    def __init__(self, result: RunResult, picture: Picture) -> None:
        self.result = result
        self.picture = picture

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        found: object = getattr(self.result, name)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), "value", "text", "statistics", "checks", "holes", "type"})

    def _repr_html_(self) -> str:
        return self.picture._repr_html_()

    def __repr__(self) -> str:
        return f"{self.picture!r}\nvalue: {self.result.value!r}"


class NotebookFunction:
    """A function of the session: an `SglFunction`, whose `run` notes what its picture needs. It is that of
    the newest program of the session, whatever it was when the name was bound."""

    def __init__(self, name: str, find: Callable[[], tuple[Function, Told]], seed: int | None = None) -> None:
        self._find = find
        self._seed = seed
        self.__name__ = self.__qualname__ = name
        function, _ = find()
        self.__doc__ = function.__doc__
        self.__signature__ = self.signature = function.signature
        self.__annotations__ = dict(function.__annotations__)

    def __call__(self, /, *values: object, **named: object) -> object:
        """Run and wait for the value."""
        function, told = self._find()
        with _placed(told):
            found: object = function(*values, **self._with_seed(named))
        return found

    async def aio(self, /, *values: object, **named: object) -> object:
        """Run without blocking the caller's event loop."""
        function, told = self._find()
        with _placed(told):
            found: object = await function.aio(*values, **self._with_seed(named))
        return found

    def stream(self, /, *values: object, **named: object) -> Stream[object]:
        """Start and give the events as they happen."""
        return self._find()[0].stream(*values, **self._with_seed(named))

    def run(self, /, *values: object, **named: object) -> TracedRun:
        """Run and wait for everything; as the output of a cell it is a picture."""
        recorder = Recorder()
        theirs = named.pop("trace_", None)

        def heard(event: Event) -> None:
            recorder(event)
            if callable(theirs):
                theirs(event)

        options = {"trace_top_": TOP, **self._with_seed(named), "trace_": heard}
        function, told = self._find()
        with _placed(told):
            result = function.run(*values, **options)
        return TracedRun(result, Picture(tuple(recorder.events)))

    def _with_seed(self, named: dict[str, object]) -> dict[str, object]:
        return named if self._seed is None else {"seed_": self._seed, **named}

    def __repr__(self) -> str:
        return f"<function {self.__name__}{self.signature} of the notebook's session>"
