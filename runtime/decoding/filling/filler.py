"""The face of whoever fills holes: a model of this process, or one elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.conversation_pair import ConversationPair
from sglc.runtime.decoding.filling.scores import Scores
from sglc.runtime.decoding.requests import HoleRequest, HoleResult, Timing
from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
from sglc.runtime.decoding.validated import ValidatorObserver, Verdicts
from sglc.types.decoding import LOCAL, Decoding
from sglc.types.type import Type, TypeTable


def _unwatched() -> None:
    """Nothing may end the run before the hole is filled."""


@dataclass(frozen=True, slots=True)
class Following:
    """A hole that follows in the same message, whatever the holes before it get: the text between the hole
    before and it, and what it asks for."""

    between: str
    request: HoleRequest
    type: Type


@dataclass(frozen=True, slots=True)
class FillRequest:
    """A hole that is to be filled.

    `type` is that of its values, None where they are texts that the run chooses from; `table` has what it
    refers to. `strategy` decides which legal text it gets, `verdicts` are those of its validators. Samples of
    one hole share a `tree`; `wanted` texts are found where one search gives several. `poll` is called before
    each piece of work and raises what ends the run. `known` is a text that an earlier request gave for it.
    The holes of `following` may be filled by the same request.
    """

    request: HoleRequest
    type: Type | None = None
    table: TypeTable = field(default_factory=dict)
    strategy: Decoding = LOCAL
    verdicts: Verdicts | None = None
    tree: PrefixTree | None = None
    wanted: int = 1
    timing: Timing = field(default_factory=Timing)
    poll: Callable[[], None] = _unwatched
    known: str | None = None
    following: tuple[Following, ...] = ()


class FillObserver(ValidatorObserver, Protocol):
    """Hears also of text that was told and does not stand."""

    heard: bool
    """Whether anybody reads pieces as they come."""

    def again(self, reason: str) -> None:
        """The hole is asked again, or its answer written anew: what was told of its text is void."""


class Fill(Protocol):
    """One hole while it is filled. What it took is told also where it failed."""

    @property
    def result(self) -> HoleResult:
        """What it took so far; whole once `run` has ended."""

    @property
    def partial(self) -> str:
        """The text so far, as far as it is legal."""

    @property
    def needed(self) -> int:
        """With so many tokens as its budget, or more, the hole would have gone as it did so far."""

    async def run(self) -> HoleResult:
        """FillRequest the hole and append its text to the conversation; called once. Raises SglError and
        EngineError."""


class Filler(Protocol):
    """Fills holes and scores texts behind conversations."""

    @property
    def scores_texts(self) -> bool:
        """Whether `score` can be asked."""

    @property
    def fuses(self) -> bool:
        """Whether one request may fill several holes, so that it wants to know which follow."""

    def begin(
        self, conversation: Conversation | ConversationPair, asked: FillRequest, observer: FillObserver
    ) -> Fill:
        """A hole behind a conversation as this model reads it. Nothing is asked before the filling runs.
        Raises Unsupported for a strategy that it does not have."""

    async def score(self, conversation: Conversation, texts: list[str], follow: str = "") -> Scores:
        """Scores of texts as continuations of a conversation, with the literal text behind them. Raises
        SglError, EngineError."""
