"""A run as a piece of a page, for notebooks: it needs no script, no network, and no other files.

Tokens are tinted by their probabilities; under the pointer, or focused, one shows what else could have stood
there. Retries and branches are tabs, made of style sheets alone. Texts are escaped as on the page of a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count

from jinja2 import Template

from sglc.viewer.model import Fill, Fork, Item, Rejected, Run, Text, Token
from sglc.viewer.reading import Reading
from sglc.viewer.templates import resource, template
from sglc.viewer.wording import figures, headline, remarks

MOST_CARDS = 2000
"""Tokens of a run that show a card; others have its text as their title. A card takes some 600 bytes."""
MOST_OPTIONS = 12
"""Options of a `choose` or `select` that its card lists, the best first."""
MOST_TABS = 16
"""Tabs beside each other, as many as the style sheet knows."""
TINTS = (0.1, 0.5, 0.9)
"""Borders of the tints of a token, as probabilities in the model's whole distribution."""


def fragment(run: Run, reading: Reading | None = None, *, mark: str) -> str:
    """A run as HTML to be put into a page. `mark` is a word for the names of its tabs, which no other piece
    of the page may have."""
    numbers = count()
    return _template().render(
        run=run,
        title=headline(run),
        figures=figures(run),
        remarks=remarks(run, reading),
        style=resource("fragment.css"),
        most_cards=MOST_CARDS,
        most_tabs=MOST_TABS,
        most_options=MOST_OPTIONS,
        tab_id=lambda: f"sglc-{mark}-{next(numbers)}",
    )


@cache
def _template() -> Template:
    return template(
        "fragment.html",
        {
            "bodies": bodies,
            "branch_bodies": branch_bodies,
            "branch_heads": branch_heads,
            "heads": heads,
            "shelves": shelves,
            "tint": tint,
        },
    )


def tint(token: Token) -> str:
    """The class of a token's probability; empty where it is high or not known."""
    if token.probability is None or token.probability >= TINTS[-1]:
        return ""
    return f"p{sum(token.probability >= border for border in TINTS)}"


def shelves(items: Sequence[Item]) -> Iterator[tuple[str, list[Item]]]:
    """Items in order, put together: texts and fillings of a message; what was rejected with what came instead
    of it; others by themselves."""
    at = 0
    while at < len(items):
        first = at
        if isinstance(items[at], Rejected):
            while at < len(items) and isinstance(items[at], Rejected):
                at += 1
            if at - first < MOST_TABS:
                while at < len(items) and isinstance(items[at], Text | Fill):
                    at += 1
                yield "tries", list(items[first:at])
                continue
            for item in items[first:at]:
                assert isinstance(item, Rejected)
                yield from shelves(item.items)
        elif isinstance(items[at], Text | Fill):
            while at < len(items) and isinstance(items[at], Text | Fill):
                at += 1
            yield "message", list(items[first:at])
        else:
            at += 1
            yield "other", list(items[first:at])


def heads(items: Sequence[Item]) -> list[str]:
    """What the tabs of tries are called."""
    found = []
    for number, each in enumerate((item for item in items if isinstance(item, Rejected)), 1):
        found.append(f"try {number}: rejected" + (f", {each.reason}" if each.reason else ""))
    return [*found, f"try {len(found) + 1}"] if len(found) < len(items) else found


def bodies(items: Sequence[Item]) -> list[list[Item]]:
    """What stands in the tabs of tries."""
    found = [item.items for item in items if isinstance(item, Rejected)]
    rest: list[Item] = [item for item in items if not isinstance(item, Rejected)]
    return [*found, rest] if rest else found


def branch_heads(fork: Fork) -> list[str]:
    """What the tabs of branches are called."""
    word = "sample" if fork.samples else "branch"
    return [
        f"{word} {each.index}" + (", taken" if each.adopted else "")
        for each in sorted(fork.branches, key=lambda branch: branch.index)
    ]


def branch_bodies(fork: Fork) -> list[list[Item]]:
    """What stands in the tabs of branches."""
    return [each.items for each in sorted(fork.branches, key=lambda branch: branch.index)]
