"""What models elsewhere guarantee of each hole, as `sglc check --model NAME` and `sglc run` show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sglc.targets.projection.core.candidate import Candidates
from sglc.targets.projection.level_findings import losses, sampling_of, shown_loss
from sglc.types.model_use import MAIN

if TYPE_CHECKING:
    from sglc.bytecode.code import Program
    from sglc.project.file import Project
    from sglc.targets.projection.levels import HoleLevel


def candidates_named(program: Program, model: str, project: Project) -> Candidates:
    """What the models of a run on `model` can do, by their kinds and by what the project says of them and of
    the models that the program names. Nothing is asked of them and no key is read.

    Raises ArgumentError for a kind that is none."""
    from sglc.runtime.backends.filling.opening import candidates_of

    named = {name: use for name, use in project.models.items() if name in program.models}
    known = tuple(project.settings.values())
    return {name: candidates_of(use, known) for name, use in {**named, MAIN: model}.items()}


def shown(levels: Sequence[HoleLevel]) -> str:
    """The table as text: a line a hole, and below it what is lost. A line names its model where there are
    several."""
    if not levels:
        return "no hole is filled by a model elsewhere\n"
    wide = max(len(each.name) for each in levels)
    several = len({each.model for each in levels if each.model}) > 1
    lines = []
    for each in levels:
        place = f" at {each.model}" if several and each.model else ""
        carried = f" by {each.carrier}" if each.carrier else ""
        unsure = "" if each.certain else "; values of the run may lower it"
        again = "" if each.again in (None, each.level) else f"; drawn again: {each.again}"
        requests = "1 request" if each.requests == 1 else f"{each.requests} requests"
        lines.append(
            f"{each.name:<{wide}}  {each.level:<7}{place}{carried}; {each.doing}; {requests}{unsure}{again}"
        )
        lines += (f"{'':<{wide}}  lost: {text}" for text in losses(each))
        if each.hints:
            lines.append(f"{'':<{wide}}  use instead: {'; '.join(each.hints)}")
    return "\n".join([*lines, *sampling_of(levels)]) + "\n"


def as_data(levels: Sequence[HoleLevel]) -> list[dict[str, object]]:
    """The table as JSON data."""
    return [
        {
            "hole": each.name,
            "level": each.level,
            "carrier": each.carrier,
            "lost": losses(each),
            "doing": each.doing,
            "hints": list(each.hints),
            "requests": each.requests,
            "certain": each.certain,
            "again": each.again,
            "model": each.model,
            "sampling": [shown_loss(loss) for loss in each.sampling],
        }
        for each in levels
    ]
