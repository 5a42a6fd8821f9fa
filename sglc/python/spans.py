"""Where the spans of runs go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sglc.runtime.vm.state.trace import Listener


@dataclass(frozen=True, slots=True)
class Spans:
    """OpenTelemetry spans of runs go to this tracer provider, None being the process's own.

    They have prompts and answers only with `texts`. Needs the extra `observe`.
    """

    provider: Any = None
    texts: bool = False

    def listening(self, model: str) -> Callable[[str, int], Listener]:
        """See `metrics.spans.listening`."""
        from sglc.runtime.metrics.spans import listening, tracer_of

        return listening(tracer_of(self.provider), model, texts=self.texts)
