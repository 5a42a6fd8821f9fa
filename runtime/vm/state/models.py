"""Models as a run uses them: the run's own, and those that its program names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from sglc.runtime.decoding.conversations.conversation import Chat, Conversation
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.decoding.filling.filler import Filler
from sglc.runtime.decoding.requests import Constraints, Steering
from sglc.runtime.engine.scheduling.branch import Branch
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.model_use import MAIN


class Script(Protocol):
    """What a scripted model answers in one run."""

    def answer(self, hole: str, stops: tuple[str, ...]) -> Steering | None:
        """What makes the model write the scripted answer to a hole; None where the script has none for it."""

    @property
    def in_order(self) -> bool:
        """Whether an answer depends on what was asked before. Then no call of a program runs ahead."""

    def option(self, hole: str, options: list[str]) -> int | None:
        """Which of the options a `select` takes; None where the script does not say."""

    def mark(self) -> Mapping[str, int]:
        """What was given so far, for `restore`."""

    def restore(self, mark: Mapping[str, int]) -> None:
        """Give again what was given since the mark."""

    def skip(self, hole: str) -> None:
        """Use up the answer of a hole that is filled otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class RunModel:
    """A model in one run. Without a `filler` it cannot be asked: it stands for a model in tests.

    `chat` is its template (None: it knows no roles). Of a model in this process, `encoder` has the tokenizer,
    `open_branch` gives a branch for tokens, `release` takes it back. A model elsewhere has none of them: its
    conversations are text. `constraints` are compiled for its `vocabulary`. `fallbacks` are the names of the
    models that are asked where it fails.
    """

    vocabulary: Vocabulary
    constraints: Constraints
    encoder: Encoder | None = None
    chat: Chat | None = None
    open_branch: Callable[[tuple[int, ...]], Branch] | None = None
    release: Callable[[Branch], None] | None = None
    script: Script | None = None
    filler: Filler | None = None
    name: str = MAIN
    fallbacks: tuple[str, ...] = ()

    @property
    def can_be_asked(self) -> bool:
        """Whether there is a model behind it."""
        return self.filler is not None

    def conversation(self) -> Conversation:
        """An empty one."""
        return Conversation(
            encoder=self.encoder, chat=self.chat, open_branch=self.open_branch, release=self.release
        )
