"""How the text of a hole is found: what `decode` says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from sglc.immutable import value

Strategy = Literal["local", "exact", "smc", "beam"]

TRIES = 200
"""Walks of `decode exact` where the program names no number."""
COUNTS: dict[str, tuple[int, int]] = {"local": (0, 0), "exact": (1, 10_000), "smc": (1, 256), "beam": (1, 64)}
"""By strategy the fewest and the most of what it counts: nothing, walks, particles, beams. Particles and
beams are rows of one step; walks come one after the other."""

FEW_TEXTS = 1024
"""Most texts of a hole that are scored and drawn as wholes: the tokens of all of them are computed before one
is drawn. Where there are more, texts are drawn token by token, or by walks."""

UNSCORED_BY = '--select=choose (in Python `select_="choose"`)'
"""What allows that a model which tells no scores writes the option of a `select` itself."""


@value
class Decoding:
    """What decides which legal text a hole gets.

    `local` draws token by token under the mask. `exact` draws from the model's distribution given that the
    text is legal, by at most `count` walks. `smc` does the same approximately, by `count` particles. `beam`
    looks for the most probable legal text with `count` beams: by the sum of the tokens' log-probabilities,
    or by their mean. `distinct` is of `exact`: samples of one hole are drawn without replacement.
    """

    strategy: Strategy = "local"
    count: int = 0
    by: Literal["sum", "mean"] = "sum"
    distinct: bool = False

    def fault(self) -> str:
        """What is wrong with the fields; empty where nothing is."""
        least, most = COUNTS.get(self.strategy, (1, 0))
        if not least <= self.count <= most:
            return f"`decode {self.strategy}` counts {least} to {most}, not {self.count}"
        if self.by not in ("sum", "mean") or (self.by == "mean" and self.strategy != "beam"):
            return f"`decode {self.strategy}` has no `by {self.by}`"
        if self.distinct and self.strategy != "exact":
            return f"`decode {self.strategy}` draws no distinct samples"
        return ""

    def __str__(self) -> str:
        """As a program writes it."""
        if self.strategy == "local":
            return "local"
        inside = f"tries = {self.count}" if self.strategy == "exact" else str(self.count)
        named = f"{self.strategy}({inside}" + (', by = "mean")' if self.by == "mean" else ")")
        return f"{named} distinct" if self.distinct else named


LOCAL = Decoding()

Figure = float | int | bool
FIGURES: Mapping[Strategy, Mapping[str, Literal["float", "int", "bool"]]] = {
    "local": {},
    "exact": {"bound": "float", "walks": "int"},
    "smc": {"weight": "float", "ess": "float", "ancestors": "int"},
    "beam": {"score": "float", "proved": "bool"},
}
"""By strategy what it tells of its search beside the text, with the types: for programs (`x.weight`), for
records of runs and for the event `hole_end`."""


def certain_figures(decoding: Decoding) -> dict[str, Figure]:
    """What a strategy tells of a text that could be no other: the model has nothing to say about it.

    The logarithm of its probability is 0, no walk is needed, and particles are all alike.
    """
    match decoding.strategy:
        case "exact":
            return {"bound": 0.0, "walks": 0}
        case "smc":
            return {"weight": 0.0, "ess": float(decoding.count), "ancestors": decoding.count}
        case "beam":
            return {"score": 0.0, "proved": True}
    return {}
