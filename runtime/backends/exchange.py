"""What is asked of a backend and what it answers: plain data, the same for every protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from sglc.runtime.engine.sampling.options import Sampling
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.enforcement import Enforcement

GREEDY = Sampling()
Cause = Literal["connection", "overloaded", "rate", "access", "request", "protocol", "deadline", "budget"]
"""Why a backend failed: it was not reached or the connection broke; it is overloaded or faulty (5xx); it
limits the rate (429); the key is refused; the request is refused; the answer breaks the protocol; the query's
deadline has passed. Policies give up with one more: a budget is used up."""


@dataclass(frozen=True, slots=True)
class Message:
    """A whole message. The role of text outside of messages is empty."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """One text that is asked for, behind some messages.

    `begun` is the text of the assistant's message so far, empty at its beginning. A backend that does not
    continue messages is never asked with one. `seed` and `max_tokens` are None where the backend decides;
    `deadline` is a time of the clock. `purpose` names the hole, for traces: it is never sent. `live` says
    that somebody reads the answer as it comes: what was told cannot be taken back when the answer breaks off.
    An answer that is not live may be told when it is whole.
    """

    messages: tuple[Message, ...]
    begun: str = ""
    enforced: Enforcement | None = None
    sampling: Sampling = GREEDY
    seed: int | None = None
    max_tokens: int | None = None
    stops: tuple[str, ...] = ()
    top_logprobs: int = 0
    deadline: float | None = None
    purpose: str = ""
    live: bool = True


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a request as the backend counts them; `cached` are those of the prompt that it had."""

    prompt: int = 0
    output: int = 0
    cached: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.prompt + other.prompt, self.output + other.output, self.cached + other.cached)


@dataclass(frozen=True, slots=True)
class TokenChance:
    """A token that the backend might write next, and the natural logarithm of its probability."""

    text: str
    logprob: float


@dataclass(frozen=True, slots=True)
class Piece:
    """Text of the answer as it comes, in whole characters. `top` are chances of its tokens, if asked for."""

    text: str
    logprob: float | None = None
    top: tuple[tuple[TokenChance, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of an answer: why it ended, and what it took. Always the last event of a stream.

    stop      the model ended it, or a stop text came
    length    the bound of tokens was reached
    refused   the model refuses to answer; `message` is what it says
    filtered  a filter of contents cut it off
    """

    reason: Literal["stop", "length", "refused", "filtered"]
    usage: Usage | None = None
    message: str = ""
    answered_by: str = ""
    """The backend that answered, where others were asked before it."""
    attempts: int = 1
    """Requests that it took; 0 where the answer had been kept."""
    kept: bool = False
    """Whether the answer was given before, and no request was sent."""


Event = Piece | Ending


@dataclass(frozen=True, slots=True)
class TextScore:
    """Natural log-probabilities of the tokens of a text that was given, and the tokens."""

    tokens: tuple[str, ...]
    logprobs: tuple[float, ...]


class BackendFault(Exception):
    """A backend did not do what it was asked.

    `again` says that the same request may succeed later, `retry_after` after how many seconds. No secret is
    in it: `endpoint` is the address without keys, `message` is cut to a line.
    """

    def __init__(
        self,
        cause: Cause,
        message: str,
        *,
        endpoint: str = "",
        status: int | None = None,
        again: bool = False,
        retry_after: float | None = None,
        attempts: int = 1,
        partial: str = "",
        differs: bool = False,
    ) -> None:
        super().__init__(message)
        self.cause: Cause = cause
        self.message = message
        self.endpoint = endpoint
        self.status = status
        self.again = again
        self.retry_after = retry_after
        self.attempts = attempts
        self.partial = partial
        """Text of the answer that had come."""
        self.differs = differs
        """Whether the answer was begun anew as another one than what was told: who can take that back may ask
        again."""


class Backend(Protocol):
    """A model elsewhere. Policies, fallback chains and recordings are backends around others."""

    @property
    def name(self) -> str:
        """As `--model` has it."""

    @property
    def endpoint(self) -> str:
        """The address that is asked, without secrets."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do."""

    def stream(self, query: Query) -> AsyncIterator[Event]:
        """The answer as it comes; the last event is an `Ending`. Closing the iterator ends the request.
        Raises BackendFault."""

    async def score(self, query: Query, texts: Sequence[str]) -> list[TextScore]:
        """Scores of texts behind the query's begun message. Raises BackendFault."""

    async def close(self) -> None:
        """Give connections back."""


@runtime_checkable
class LimitedBackend(Protocol):
    """A backend whose service says with its replies how much of its limits is left."""

    def closed_for(self) -> float:
        """Seconds before it takes requests again; 0 where it takes them."""


@runtime_checkable
class BreakingBackend(Protocol):
    """A backend that leaves endpoints alone which keep failing."""

    def breakers(self) -> Mapping[str, tuple[str, float]]:
        """By endpoint: `closed`, `open` or `probing`, and seconds before it is tried again, 0 for none."""


@runtime_checkable
class PreparingBackend(Protocol):
    """A backend that may have to ask its service something before a query: for the text that a chat template
    makes of the messages. It keeps what it was told for when the query is sent again."""

    def is_prepared(self, query: Query) -> bool:
        """Whether nothing has to be asked before the query."""

    async def prepare_for(self, query: Query) -> None:
        """Ask it, by one request. Raises BackendFault."""


class Clock(Protocol):
    """Time as policies see it; tests set it."""

    def now(self) -> float:
        """Seconds, from any beginning, which only grow."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""
