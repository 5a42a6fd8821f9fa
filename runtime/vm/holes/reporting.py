"""What is told of a hole while it is filled: events for listeners, pieces for the reader of a stream."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.vm.holes.models import share_figures
from sglc.runtime.vm.state.strand import Strand


class Report:
    """Turns what a hole's decoder reports into events."""

    def __init__(self, machine: Strand, hole: str, texts: Sequence[bytes | None]) -> None:
        """`texts` are those of the tokens of the model that fills the hole."""
        self._machine = machine
        self._hole = hole
        self.detailed = machine.run.detailed and bool(machine.run.listeners)
        self.weighed = machine.run.weighed
        self.top = machine.run.top if self.detailed else 0
        self._texts = texts
        self.heard = bool(machine.run.listeners) or machine.stream is not None

    def piece(self, text: str, forced: bool) -> None:
        """Emit `forced` or `generated`, and give the text to the reader of the stream."""
        self._machine.emit("forced" if forced else "generated", {"hole": self._hole, "text": text})
        if self._machine.stream is not None:
            self._machine.stream.wrote(self._machine, self._hole, text)

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: tuple[str, int] | None = None) -> None:
        """Emit `token`: text, log-probability and pressure, natural logarithms with 4 digits, and the refused
        draft if there was one."""
        shown: dict[str, object] = {
            "hole": self._hole,
            "token": drawn.token,
            "text": data.decode("utf-8", "backslashreplace"),
            "logprob": round(drawn.logprob, 4),
            "pressure": round(0.0 - drawn.log_mass, 4),
            "mask": allowed,
            **({"top": [self._candidate(*each) for each in drawn.top]} if self.top else {}),
            **(share_figures(drawn.share._asdict()) if drawn.share else {}),
        }
        if draft is not None:
            shown["draft"], token = draft
            if token != drawn.token:
                shown["refused"] = token
        self._machine.emit("token", shown)

    def _candidate(self, token: int, logprob: float, legal: bool) -> list[object]:
        data = self._texts[token] or b""
        return [data.decode("utf-8", "backslashreplace"), round(logprob, 4), legal]

    def walk(self, number: int, data: bytes, weight: float | None, outcome: str) -> None:
        """Emit `walk` with its outcome; a weight of minus infinity is left out."""
        told = {} if weight is None or weight == -math.inf else {"weight": round(weight, 4)}
        shown = {"hole": self._hole, "walk": number, "text": data.decode("utf-8", "backslashreplace")}
        self._machine.emit("walk", {**shown, **told, "outcome": outcome})

    def beams(self, step: int, texts: list[bytes], scores: list[float]) -> None:
        """Emit `beam`: the texts and their scores with 4 digits."""
        shown = [data.decode("utf-8", "backslashreplace") for data in texts]
        rows = {"texts": shown, "scores": [round(score, 4) for score in scores]}
        self._machine.emit("beam", {"hole": self._hole, "step": step, **rows})

    def again(self, reason: str) -> None:
        """Emit `again`: the value is written anew for a reason, and the reader of the stream begins anew."""
        self._machine.emit("again", {"hole": self._hole, "reason": reason})
        if self._machine.stream is not None:
            self._machine.stream.begins(self._machine, self._hole)

    def pruned(self, token: int, data: bytes, part: bytes) -> None:
        """Emit `pruned`: a validator found a token dead, because of the bytes `part` of it."""
        shown = {"hole": self._hole, "token": token, "text": data.decode("utf-8", "backslashreplace")}
        self._machine.emit("pruned", {**shown, "dead": part.decode("utf-8", "backslashreplace")})

    def stepped_back(self, data: bytes) -> None:
        """Emit `stepped_back` with the bytes that were taken back."""
        shown = data.decode("utf-8", "backslashreplace")
        self._machine.emit("stepped_back", {"hole": self._hole, "text": shown})
