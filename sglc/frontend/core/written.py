"""A decorated function as the decorators hand it over: nothing of it has been read yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from sglc.callables.extern_spec import Effect


@dataclass(frozen=True, slots=True, eq=False)
class WrittenFunction:
    """A Python function that stands for one of the language.

    `form` is `docstring` (the docstring has the statements) or `state` (its own statements are meant).
    `within`, `using` and `raises` are the clauses of the header, `pure` says that no model is asked. `around`
    are the names of the function that it is defined in, which annotations and docstrings may use.
    """

    function: Callable[..., object]
    form: Literal["docstring", "state"]
    within: int | None = None
    using: str | None = None
    raises: tuple[object, ...] = ()
    pure: bool = False
    doc: str = ""
    around: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Promises:
    """What is said of a function of Python that programs call.

    `effects` is what a call does at most, `key` the parameter that tells writes apart, `timeout` in seconds,
    `raises` the exceptions that become errors of the program.
    """

    effects: Effect = "read"
    key: str | None = None
    timeout: float | None = None
    raises: tuple[type[BaseException], ...] = ()


def promises_of(function: object) -> Promises:
    """What was said of a function by `sglc.extern`; what holds of any other."""
    found = getattr(function, "__sgl_promises__", None)
    return found if isinstance(found, Promises) else Promises()


def written(value: object) -> WrittenFunction | None:
    """What a decorated function was made of; None for any other object."""
    found = getattr(type(value), "__sgl_written__", None)
    return getattr(value, "written", None) if found else None
