"""The words of programs that are written as Python functions: read by the compiler, never run.

They are there so that editors and type checkers know them. `State` is what the first parameter of such a
function stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")
Word = TypeVar("Word", bound=Callable[..., object])
Text = object
"""A text with inserts and holes."""


class SglType:
    """A type that is written in the language: `Annotated[str, SglType("email max 30 chars")]`."""

    def __init__(self, text: str) -> None:
        self.sgl_type = text

    def __repr__(self) -> str:
        return f"SglType({self.sgl_type!r})"


class Untrusted:
    """What a parameter is marked by whose values may have been written to be obeyed:
    `Annotated[str, Untrusted]`."""

    __sgl_untrusted__ = True


def _never(word: str) -> NoReturn:
    raise TypeError(
        f"`{word}` is read by the compiler and never run: write it in a function under @sglc.sgl_function"
    )


class State:
    """The conversation that a function writes: `s += "Age: " + s.gen("age", type=int)`."""

    def __iadd__(self, text: Text) -> State:
        _never("s += …")

    def __getitem__(self, name: str) -> Any:
        """The value of a hole."""
        _never("s[…]")

    def system(self, *text: Text) -> AbstractContextManager[None]:
        """A system message: of a text, or of the statements under `with`."""
        _never("system")

    def user(self, *text: Text) -> AbstractContextManager[None]:
        """A user's message: of a text, or of the statements under `with`."""
        _never("user")

    def assistant(
        self, *text: Text, tools: Sequence[Callable[..., object]] = (), limit: int = 8
    ) -> AbstractContextManager[None]:
        """The assistant's message: of a text, or of the statements under `with`.

        The model may call the `tools` before, `limit` times."""
        _never("assistant")

    def gen(self, name: str = "", **options: object) -> Any:
        """A hole: the model writes a value."""
        _never("gen")

    def choose(self, name: str, choices: object, **options: object) -> Any:
        """A hole that draws one of some options as a whole."""
        _never("choose")

    def select(self, name: str, choices: object, *, by: str = "greedy", **options: object) -> Any:
        """A hole that scores every option and takes the best."""
        _never("select")

    def think(self, **options: object) -> None:
        """A line that the model writes for itself."""
        _never("think")

    def schema(self, type: object, style: str = "") -> str:
        """The text that shows a type to a model."""
        _never("schema")

    def include(self, path: str) -> None:
        """The text of a file."""
        _never("include")

    def fork(self, count: int, *, seed: bool = True, skip: bool = False) -> Sequence[Any]:
        """Branches from here; the loop that follows says what each does."""
        _never("fork")

    def finish(self, value: object = None) -> None:
        """End a branch with a value."""
        _never("finish")

    def adopt(self, branch: object) -> None:
        """Go on with the conversation of a branch."""
        _never("adopt")

    def forget(self) -> AbstractContextManager[None]:
        """The text of the block is taken out at its end."""
        _never("forget")

    def par(self) -> AbstractContextManager[None]:
        """The calls in the block are meant to run together."""
        _never("par")

    def using(self, model: str) -> AbstractContextManager[None]:
        """The holes of the block are filled by another model."""
        _never("using")

    def ensure(
        self, condition: bool, message: str = "", *, retry: int = 0, strategy: str = "resample"
    ) -> None:
        """A condition that must hold."""
        _never("ensure")

    def check(
        self, condition: bool, message: str = "", *, retry: int = 0, strategy: str = "resample"
    ) -> None:
        """A condition that is recorded."""
        _never("check")

    def limit(self, rounds: int) -> bool:
        """In the condition of a `while`: more rounds raise `Budget`."""
        _never("limit")

    def __iter__(self) -> Iterator[Any]:
        _never("iter(s)")


def _word(function: Word) -> Word:
    function.__sgl_word__ = function.__name__  # type: ignore[attr-defined]
    return function


@_word
def system(*text: Text) -> AbstractContextManager[None]:
    """A system message."""
    _never("system")


@_word
def user(*text: Text) -> AbstractContextManager[None]:
    """A user's message."""
    _never("user")


@_word
def assistant(
    *text: Text, tools: Sequence[Callable[..., object]] = (), limit: int = 8
) -> AbstractContextManager[None]:
    """The assistant's message. The model may call the `tools` before, `limit` times."""
    _never("assistant")


@_word
def gen(name: str = "", **options: object) -> Any:
    """A hole: the model writes a value."""
    _never("gen")


@_word
def choose(name: str, choices: object, **options: object) -> Any:
    """A hole that draws one of some options as a whole."""
    _never("choose")


@_word
def select(name: str, choices: object, *, by: str = "greedy", **options: object) -> Any:
    """A hole that scores every option and takes the best."""
    _never("select")


@_word
def schema(type: object, style: str = "") -> str:
    """The text that shows a type to a model."""
    _never("schema")


@_word
def trust(value: T) -> T:
    """The value, as one that may go into a system's message or a write."""
    _never("trust")


def _error(name: str, meaning: str) -> Any:
    """An error of the language as a name for `except` and `raise`."""
    return type(name, (Exception,), {"__doc__": meaning, "__module__": __name__, "__sgl_error__": True})


Truncated = _error("Truncated", "A budget ran out.")
Rejected = _error("Rejected", "A condition failed.")
Refused = _error("Refused", "The model refused.")
Unsatisfiable = _error("Unsatisfiable", "No text is legal.")
Budget = _error("Budget", "Too many rounds, steps or tokens.")
Failure = _error("Failure", "Something failed, such as an index out of range.")
