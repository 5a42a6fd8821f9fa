"""What a backend cannot do for a hole: why it cannot be filled there, and what is left out where it can."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.bytecode.code import HoleSpec
from sglc.targets.projection.core.capabilities import Capabilities
from sglc.targets.projection.core.loss import Loss
from sglc.types.decoding import UNSCORED_BY

OWN_SAMPLING = "the sampling of the service"
_SAMPLERS = ("top_k", "top_p", "min_p")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the options of a run change of how holes are filled.

    local     every hole is drawn token by token (`--decode local`)
    unscored  where no scores are told, a model writes the option of a `select` itself (`--select=choose`)
    """

    local: bool = False
    unscored: bool = False


def refusal(hole: HoleSpec, able: Capabilities, options: RunOptions, place: str) -> tuple[Loss, str] | None:
    """Why a hole cannot be filled there at all, and what to write in its place; None where it can."""
    if hole.models is not None and hole.models.teacher is not None:
        return Loss("a blend of two models", place), "one model (`using NAME`)"
    distinct = hole.decoding is not None and hole.decoding.distinct
    decoded = hole.decoding is not None and hole.decoding.strategy != "local"
    if decoded and (distinct or not options.local) and (hole.mode == "gen" or not able.scores):
        own = "a model of your own, which sees all probabilities"
        return Loss(f"`decode {hole.decoding}`", place), own if distinct else f"{own}, or `--decode local`"
    if hole.mode != "gen" and not able.scores:
        if hole.mode == "select" and hole.by == "contrast":
            return Loss("scores of options by contrast", place), "`choose`, or a model that scores texts"
        if (hole.mode == "select" or hole.told) and not options.unscored:
            allowed = f"`choose`, a model that scores texts, or the weaker meaning by {UNSCORED_BY}"
            return Loss("the scores of options", place), allowed
    lacking = [name for name in _SAMPLERS if name in hole.options and name not in able.samplers]
    if lacking and not _is_scored(hole, able, options):
        names = ", ".join(f"`{name}`" for name in lacking)
        return Loss(names, place), f"a hole without {names}, or another model"
    return None


def sampling_losses(hole: HoleSpec, able: Capabilities, place: str) -> tuple[Loss, ...]:
    """What a backend does not take of how a hole is drawn, where it fills the hole all the same."""
    found = []
    if not able.temperature:
        wanted = "`temp`" if "temp" in hole.options else "drawing the most probable tokens"
        found.append(Loss(wanted, place, OWN_SAMPLING))
    if "seed" in hole.options and not able.seed:
        found.append(Loss("`seed`", place, OWN_SAMPLING))
    return tuple(found)


def _is_scored(hole: HoleSpec, able: Capabilities, options: RunOptions) -> bool:
    """Whether options are scored, so that the backend draws nothing."""
    token_by_token = options.local or (hole.decoding is not None and hole.decoding.strategy == "local")
    return able.scores and (hole.mode == "select" or (hole.mode == "choose" and not token_by_token))
