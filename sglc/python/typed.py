"""What a checker of Python types knows of a function of a program: written stubs speak of it.

The objects are those of `sglc.api`. A function of yours may ask for one:
`find: sglc.SglFunction[[str], Crew]`.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Signature
from typing import TYPE_CHECKING, Literal, ParamSpec, Protocol, TypedDict, TypeVar

if TYPE_CHECKING:
    from sglc.debug.doors import Here
    from sglc.python.stream import Stream
    from sglc.runtime.vm.state.run import CheckRecord, HoleRecord, Statistics
    from sglc.runtime.vm.state.trace import Event

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class CallOptions(TypedDict, total=False):
    """What every call takes besides its parameters; `sglc.api.Function` says what each means."""

    seed_: int
    max_tokens_: int | None
    timeout_: float | None
    priority_: int
    concurrency_: int | None
    pressure_: bool | None
    trace_top_: int
    decode_: Literal["local"] | None
    select_: Literal["choose"] | None
    trace_: Callable[[Event], object] | None
    breakpoint_: bool | Callable[[Here], object] | None


class Run(Protocol[R_co]):
    """What a run gives; an object of `sglc.runtime.results.RunResult`."""

    @property
    def value(self) -> R_co:
        """What the function returned."""

    @property
    def text(self) -> str:
        """The whole conversation."""

    @property
    def statistics(self) -> Statistics:
        """What the run took."""

    @property
    def checks(self) -> tuple[CheckRecord, ...]:
        """What `check` found, in order."""

    @property
    def holes(self) -> tuple[HoleRecord, ...]:
        """The holes that were filled, in order."""


class SglFunction(Protocol[P, R_co]):
    """A function of a program: `P` are its parameters with the options of a call, `R_co` is its result."""

    @property
    def signature(self) -> Signature:
        """Parameters and result, as the program declares them."""

    def __call__(self, /, *values: P.args, **named: P.kwargs) -> R_co:
        """Run and wait for the value."""

    async def aio(self, /, *values: P.args, **named: P.kwargs) -> R_co:
        """Run without blocking the caller's event loop."""

    def run(self, /, *values: P.args, **named: P.kwargs) -> Run[R_co]:
        """Run and wait for everything: value, conversation, statistics, checks, holes."""

    def stream(self, /, *values: P.args, **named: P.kwargs) -> Stream[R_co]:
        """Start and give the events as they happen."""
