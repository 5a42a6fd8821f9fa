"""A run as one page of HTML: no network, no other files, legible without scripts.

Texts of a run may be hostile. They reach the page through the template's escaping alone, never as code;
control characters and those that change the direction of writing are drawn as visible ones; and the page's
security policy lets nothing run or load but its own style sheet and script, by their digests.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby

from jinja2 import Template

from sglc.viewer.model import Fill, Item, Run, Text
from sglc.viewer.reading import Reading
from sglc.viewer.segments import LEVELS, line_of
from sglc.viewer.templates import resource, template
from sglc.viewer.wording import figures, headline, remarks

CHART_WIDTH, CHART_HEIGHT = 640, 60
"""Size of the line of a figure over tokens, in the units of its drawing; the page scales it."""
MOST_POINTS = 640
"""Most points of such a line: one for each unit of its width."""


def page(run: Run, reading: Reading | None = None) -> str:
    """The page of a run, as text. `reading` is what reading its trace came to."""
    style, script = resource("page.css"), resource("page.js")
    return _template().render(
        run=run,
        title=headline(run),
        figures=figures(run),
        remarks=remarks(run, reading),
        style=style,
        script=script,
        policy="; ".join(
            (
                "default-src 'none'",
                f"style-src '{_digest(style)}'",
                f"script-src '{_digest(script)}'",
                "base-uri 'none'",
                "form-action 'none'",
            )
        ),
    )


def _digest(text: str) -> str:
    """The digest of a style sheet or script, as security policies write it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _template() -> Template:
    found = template("page.html", {"groups": _groups})
    found.globals.update(charts=_charts, levels=LEVELS)
    return found


def _groups(items: Sequence[Item]) -> Iterator[tuple[bool, list[Item]]]:
    """Items in order; texts and fillings that follow each other together, which makes a message."""
    for message, group in groupby(items, lambda item: isinstance(item, Text | Fill)):
        yield message, list(group)


def _charts(fill: Fill) -> list[tuple[str, str, float, float]]:
    """The lines of a hole's figures over its tokens: name, points, least and largest value."""
    found = []
    for name, values in (("alpha", line_of(fill, "alpha")), ("Chernoff", line_of(fill, "chernoff"))):
        if values:
            found.append((name, _points(values), min(values), max(values)))
    return found


def _points(values: Sequence[float]) -> str:
    """Points of a line over the width of a chart, the least value at its bottom."""
    step = max(1, -(-len(values) // MOST_POINTS))
    values = values[::step]
    low, high = min(values), max(values)
    across = CHART_WIDTH / max(1, len(values) - 1)
    tall = (CHART_HEIGHT - 4) / (high - low or 1.0)
    return " ".join(
        f"{at * across:.1f},{CHART_HEIGHT - 2 - (value - low) * tall:.1f}" for at, value in enumerate(values)
    )
