"""The options of `load` that record, replay or keep what models elsewhere answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sglc.diagnostics.render import render
from sglc.runtime.backends.recording.options import AnswerOptions

if TYPE_CHECKING:
    from sglc.project.models import ModelSettings
    from sglc.runtime.backends.recording.wiring import Wiring


def wiring_of(
    given: Mapping[str, Any], models: Sequence[str], settings: Mapping[str, ModelSettings]
) -> Wiring | None:
    """What `record`, `replay` and `cache_answers` ask for, if they do. `models` are the names of those that
    may run, `settings` what the project says of them. Raises ValueError, having said why."""
    record, replay = given.get("record"), given.get("replay")
    options = AnswerOptions(
        None if record is None else Path(record),
        None if replay is None else Path(replay),
        bool(given.get("cache_answers", False)),
    )
    if not options.wanted:
        return None
    from sglc.runtime.backends.filling.opening import wired
    from sglc.runtime.errors import ArgumentError

    try:
        return wired(options, models, tuple(settings.values()))
    except ArgumentError as problem:
        raise ValueError(render(problem.diagnostic())) from None
