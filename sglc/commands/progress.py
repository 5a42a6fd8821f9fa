"""Progress bars on a terminal, and nothing where there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done and how much there is (0: not known)."""


@contextmanager
def progress_bar(out: TextIO, title: str, *, shown: bool | None = None) -> Iterator[Progress]:
    """A bar on `out` that appears with the first call and goes away at the end.

    `shown` None means on a terminal only. Without a bar each new thing that is done is one line, so that a
    long wait in a log has a reason.
    """
    if not (out.isatty() if shown is None else shown):
        seen: set[str] = set()

        def plain(step: str, done: int, total: int) -> None:
            if step not in seen:
                seen.add(step)
                out.write(f"{title}: {step}\n" if step else f"{title}\n")
                out.flush()

        yield plain
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(file=out),
        transient=True,
    )
    task = None

    def draw(step: str, done: int, total: int) -> None:
        nonlocal task
        text = f"{title}: {step}" if step else title
        if task is None:
            bars.start()
            task = bars.add_task(text, total=total or None)
        bars.update(task, description=text, completed=done, total=total or None)

    try:
        yield draw
    finally:
        bars.stop()
