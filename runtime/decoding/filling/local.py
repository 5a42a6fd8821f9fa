"""The model of this process as a filler: holes are decoded token by token under masks."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.conversation_pair import ConversationPair
from sglc.runtime.decoding.filling.filler import FillObserver, FillRequest
from sglc.runtime.decoding.filling.scores import Scores, score
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.requests import Constraints, HoleResult
from sglc.runtime.decoding.strategies.attempt import Attempts
from sglc.runtime.decoding.strategies.choose import Decoder, decoder_of
from sglc.runtime.decoding.strategies.prefix_tree import PrefixTree
from sglc.runtime.decoding.validated import ValidatedHoleDecoder
from sglc.runtime.engine.drafting.drafts import Drafting
from sglc.runtime.errors import SglError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class LocalFill:
    """A hole that a decoder fills. `account` keeps what it took: the decoder itself, or that of all texts
    which a strategy tries."""

    decoder: Decoder
    account: HoleDecoder | Attempts

    @property
    def result(self) -> HoleResult:
        """The account's result, which is whole only once `run` has returned."""
        return self.account.result

    @property
    def partial(self) -> str:
        """The text of the value as far as it is written."""
        return self.account.partial

    @property
    def needed(self) -> int:
        """The least budget in tokens with which the hole would have gone as it did so far."""
        return self.account.room.needed

    async def run(self) -> HoleResult:
        """Let the decoder write the value. Raises what the decoder does."""
        return await self.decoder.run()


@dataclass(frozen=True, slots=True, eq=False)
class LocalFiller:
    """A model with its vocabulary, the room of its context in tokens, and constraints compiled for it."""

    vocabulary: Vocabulary
    context_length: int
    constraints: Constraints
    drafting: Drafting | None = None
    scores_texts: bool = True
    fuses: bool = False

    def begin(
        self, conversation: Conversation | ConversationPair, asked: FillRequest, observer: FillObserver
    ) -> LocalFill:
        """See `Filler.begin`."""
        parts = (self.vocabulary, self.constraints, asked.request, observer)
        if asked.strategy.strategy == "local":
            more = (asked.timing, self.context_length, asked.poll, self.drafting)
            decoder = (
                HoleDecoder(conversation, *parts, *more)
                if asked.verdicts is None
                else ValidatedHoleDecoder(asked.verdicts, conversation, *parts, *more)
            )
            return LocalFill(decoder, decoder)
        if isinstance(conversation, ConversationPair):
            name = asked.request.name
            raise SglError("Unsupported", f"two models draw hole `{name}` token by token, not by `decode`")
        account = Attempts(conversation, *parts, self.context_length, asked.poll)
        account.result.decode = str(asked.strategy)
        tree = asked.tree or PrefixTree()
        return LocalFill(decoder_of(asked.strategy, account, tree, asked.verdicts, asked.wanted), account)

    async def score(self, conversation: Conversation, texts: list[str], follow: str = "") -> Scores:
        """See `Filler.score`."""
        return await score(conversation, texts, follow)
