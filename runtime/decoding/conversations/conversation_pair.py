"""A conversation as two models read it, for a hole that both fill: in place of one conversation there."""

from __future__ import annotations

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.engine.drafting.prompt_lookup import Lookup
from sglc.runtime.engine.pairs import BranchPair


class ConversationPair:
    """Two conversations that get the same text from here on; the two may be one.

    Tokens are those of the first: the vocabularies are equal, so what is drawn is a token of both.
    """

    def __init__(self, base: Conversation, teacher: Conversation) -> None:
        self.base, self.teacher = base, teacher
        self._branch: BranchPair | None = None

    @property
    def encoder(self) -> Encoder | None:
        """The first one's."""
        return self.base.encoder

    @property
    def lookup(self) -> Lookup:
        """The first one's."""
        return self.base.lookup

    @property
    def branch(self) -> BranchPair:
        """The branches that `sync` has opened."""
        if self._branch is None:
            raise AssertionError("the conversations have not been synchronised yet")
        return self._branch

    @property
    def _both(self) -> tuple[Conversation, ...]:
        return (self.base,) if self.base is self.teacher else (self.base, self.teacher)

    def start(self) -> None:
        """See `Conversation.start`."""
        for each in self._both:
            each.start()

    def lead(self) -> None:
        """See `Conversation.lead`."""
        for each in self._both:
            if not each.state.closed:
                each.lead()

    def text(self, text: str) -> None:
        """Append text to both."""
        for each in self._both:
            each.text(text)

    def sync(self, tail: str = "") -> BranchPair:
        """The branches, each holding exactly its conversation's canonical tokens, with `tail` at the end."""
        first = self.base.sync(tail)
        second = first if self.base is self.teacher else self.teacher.sync(tail)
        if self._branch is None:
            self._branch = BranchPair(first, second)
        self._branch.align()
        return self._branch

    def floor(self) -> int:
        """The first token that may be taken back: both end with the same tokens from there on.

        One token of each is left to predict from, unless both conversations can be led in.
        """
        if self.base is self.teacher:
            return self.base.floor()
        first, second = self.base.branch.tokens, self.teacher.branch.tokens
        most = min(len(first) - self.base.floor(), len(second) - self.teacher.floor())
        if self.base.state.closed or self.teacher.state.closed:
            most = min(most, len(first) - 1, len(second) - 1)
        same = 0
        while same < most and first[-1 - same] == second[-1 - same]:
            same += 1
        return len(first) - same
