"""`select` and `choose` where the model tells no scores: what is refused, and what a run may allow.

The weaker meaning is `--select=choose`. The model is asked for one of the options, as an enum or in words.
The one that it writes has all the probability: that is what `p`, `margin` and `scores` tell then.
"""

from __future__ import annotations

from sglc.automata.term import Language, Words
from sglc.bytecode.code import HoleSpec
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.filling.filler import Filler, FillRequest
from sglc.runtime.decoding.requests import HoleRequest, HoleResult, Silent
from sglc.runtime.errors import SglError
from sglc.runtime.vm.holes.budgets import budget_of
from sglc.runtime.vm.holes.models import filler_of
from sglc.runtime.vm.state.frame import Frame
from sglc.runtime.vm.state.strand import Strand
from sglc.types.decoding import UNSCORED_BY
from sglc.types.model_use import ModelUse


class Unheard(Silent):
    """Nobody hears of the text while it comes: the option is told as a whole."""

    heard = False

    def pruned(self, token: int, data: bytes, part: bytes) -> None:
        """Drop it."""

    def stepped_back(self, data: bytes) -> None:
        """Drop it."""

    def again(self, reason: str) -> None:
        """Drop it."""


def is_scored(machine: Strand, spec: HoleSpec, use: ModelUse | None) -> bool:
    """Whether the model of a `choose` scores its options; else it writes one of them. Raises Unsupported
    where the program needs scores that it does not tell."""
    name = (use or ModelUse()).base.name
    if filler_of(machine.run.models[name]).scores_texts:
        return True
    if spec.decoding is not None and spec.decoding.distinct:
        raise _unsupported(spec, "draws distinct samples", "fill it by a model of this machine")
    if spec.told and not machine.run.unscored:
        hint = f"allow the weaker meaning by {UNSCORED_BY}: the option that it writes has all the probability"
        raise _unsupported(spec, "reads the scores of its options", hint)
    return False


def certain_scores(text: str, options: list[str]) -> dict[str, float]:
    """All the probability for one of some options."""
    return {option: float(option == text) for option in options}


async def written_option(
    machine: Strand,
    frame: Frame,
    spec: HoleSpec,
    filler: Filler,
    seen: Conversation,
    texts: list[str],
    result: HoleResult,
) -> tuple[int, list[float]]:
    """Index of the option that a model writes, and every option's probability. `result` gets what it took.

    The conversation is left as it was. Raises Unsupported where the run does not allow it.
    """
    if spec.by == "contrast":
        hint = "write `by sum`, `mean` or `greedy`, or fill it by a model of this machine"
        raise _unsupported(spec, "selects by contrast, which compares scores", hint)
    if not machine.run.unscored:
        raise _unsupported(spec, "scores its options", f"let the model choose one by {UNSCORED_BY}")
    words = frozenset(text.encode() for text in texts)
    budget = budget_of(frame, None)
    request = HoleRequest(
        spec.name, words, Language(Words(words)), stops=spec.stops, budget=budget, whole=budget
    )
    work = filler.begin(seen, FillRequest(request, poll=machine.run.check), Unheard())
    try:
        found = await work.run()
    finally:
        result.remote = work.result.remote
    result.tokens, result.sampled, result.saved = found.tokens, found.sampled, found.saved
    place = texts.index(found.text)
    return place, [*certain_scores(found.text, texts).values()]


def _unsupported(spec: HoleSpec, what: str, hint: str) -> SglError:
    message = f"hole `{spec.name}` {what}, and its model tells no scores"
    return SglError("Unsupported", message, hint=hint)
