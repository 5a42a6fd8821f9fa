"""What a notebook shows: the picture of a run, and findings."""

from __future__ import annotations

import html
import io
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.render import render
from sglc.runtime.vm.state.trace import Event, TraceWriter
from sglc.viewer.building import Builder
from sglc.viewer.fragment import fragment
from sglc.viewer.model import Run
from sglc.viewer.reading import Reading

MOST_EVENTS = 50_000
"""Events of a run that its picture can show."""


@dataclass(slots=True)
class Recorder:
    """Hears a run for its picture."""

    events: list[Event] = field(default_factory=list)

    def __call__(self, event: Event) -> None:
        if len(self.events) < MOST_EVENTS:
            self.events.append(event)

    @property
    def asked(self) -> bool:
        """Whether a hole was begun, so that there is something to look at."""
        return any(event.kind == "hole_start" for event in self.events)


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture of a run: HTML for notebooks, text for others."""

    events: tuple[Event, ...]

    def read(self) -> tuple[Run, Reading]:
        """The run as its trace tells it."""
        text = io.StringIO()
        writer = TraceWriter(text)
        for event in self.events:
            writer(event)
        builder, reading = Builder(), Reading()
        for found in reading.events(io.BytesIO(text.getvalue().encode("utf-8", "surrogatepass"))):
            builder.add(found)
        return builder.end(), reading

    def _repr_html_(self) -> str:
        run, reading = self.read()
        return fragment(run, reading, mark=secrets.token_hex(4))

    def __repr__(self) -> str:
        from sglc.viewer.terminal import TerminalPicture

        run, reading = self.read()
        out = io.StringIO()
        TerminalPicture(run, reading, columns=None, color=False, verbose=False).write(out)
        return out.getvalue().rstrip("\n")


@dataclass(frozen=True, slots=True)
class Findings:
    """Findings about a cell, drawn as the command line draws them."""

    found: Sequence[Diagnostic]
    notes: Sequence[str] = ()

    def _repr_html_(self) -> str:
        style = "white-space: pre-wrap; margin: .3em 0; padding: .5em .8em; border-left: 3px solid "
        parts = [
            f'<pre style="{style}{_COLORS[each.severity]}">{html.escape(render(each).rstrip())}</pre>'
            for each in self.found
        ]
        parts += [f'<p style="opacity: .75; margin: .3em 0">{html.escape(note)}</p>' for note in self.notes]
        return f'<div class="sglc-findings">{"".join(parts)}</div>'

    def __repr__(self) -> str:
        return "\n\n".join([*(render(each).rstrip() for each in self.found), *self.notes])


_COLORS = {"error": "#c0392b", "warning": "#b7791f", "note": "#2b7a9b"}


class CellError(Exception):
    """A cell that was not taken. What is wrong has been shown; notebooks draw one line of it."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def counted_errors(found: Iterable[Diagnostic]) -> str:
    """`the cell was not taken: 2 errors`."""
    count = sum(each.severity == "error" for each in found)
    noun = "error" if count == 1 else "errors"
    return f"the cell was not taken: {count} {noun}"


Show = Callable[[object], None]
"""Shows an object as the output of a cell."""
