"""What is asked for between a run and its models elsewhere: recording, replaying, keeping answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_TOGETHER: Sequence[tuple[str, str, str]] = (
    ("record", "replay", "a replay sends nothing that could be recorded"),
    ("record", "cache_answers", "an answer that was kept sends no request, so the recording would lack it"),
    ("replay", "cache_answers", "a replay gives all answers, and sends no request that could be saved"),
)


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """`record`: the file that traffic is written to; `replay`: the file that takes the network's place;
    `cache_answers`: whether the same question is given the answer that it had before."""

    record: Path | None = None
    replay: Path | None = None
    cache_answers: bool = False

    @property
    def wanted(self) -> bool:
        """Whether anything is asked for."""
        return self.record is not None or self.replay is not None or self.cache_answers

    @property
    def clash(self) -> tuple[str, str, str] | None:
        """Two options that exclude each other, by their names here, and why; None for none."""
        given = {name for name in self.__dataclass_fields__ if getattr(self, name)}
        return next((each for each in _TOGETHER if given >= {*each[:2]}), None)
