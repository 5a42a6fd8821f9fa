"""Progress bars on a terminal, single lines where there is none."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how much is done and how much there is (0: not known)."""

LINE_SECONDS = 5.0
"""Least seconds between two lines about a batch where there is no terminal."""


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


class Figures:
    """How far a batch is. `before` rows were finished when it began; `tokens` are those generated since."""

    window = 1
    """Rows that are run at the same time."""

    def __init__(self, total: int, before: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self.before = before
        self.finished = before
        self.failed = 0
        self.tokens = 0
        self.hit_rate: float | None = None
        """Share of the tokens looked up that the cache of prefixes held, 0 to 1; None where there is none."""
        self._clock = clock
        self._started = clock()

    def rate(self) -> float:
        """Tokens a second since the beginning."""
        return self.tokens / max(self._clock() - self._started, 1e-9)

    def left(self) -> float | None:
        """Seconds that the rest takes at the pace so far; None before a whole window of rows has finished:
        the first come late, because all begin together."""
        since = self.finished - self.before
        if since < self.window:
            return None
        return (self._clock() - self._started) / since * (self.total - self.finished)

    def details(self) -> str:
        """What there is to say besides the rows: failures, tokens a second, cache, time left."""
        parts = [f"{self.failed} failed"] if self.failed else []
        if self.tokens:
            parts.append(f"{self.rate():.0f} tok/s")
        if self.hit_rate is not None:
            parts.append(f"cache {100 * self.hit_rate:.0f} %")
        left = self.left()
        if left is not None:
            parts.append(f"{clock_time(left)} left")
        return ", ".join(parts)


def clock_time(seconds: float) -> str:
    """`1:02:03` or `2:03`."""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


class BatchProgress(Protocol):
    """Shows the figures of a batch; called whenever they may have changed."""

    def __call__(self) -> None: ...


@contextmanager
def batch_progress(
    out: TextIO, title: str, figures: Figures, *, clock: Callable[[], float] = time.monotonic
) -> Iterator[BatchProgress]:
    """A bar with figures on a terminal; elsewhere a line every few seconds while rows finish."""
    if not out.isatty():
        last = clock()
        told = figures.finished

        def line() -> None:
            nonlocal last, told
            if clock() - last < LINE_SECONDS or figures.finished in (told, figures.total):
                return
            last, told = clock(), figures.finished
            out.write(f"{title}: {figures.finished} of {figures.total} rows, {figures.details()}\n")
            out.flush()

        yield line
        return

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[details]}"),
        console=Console(file=out),
        transient=True,
    )
    task = bars.add_task(title, total=figures.total, completed=figures.finished, details="")

    def draw() -> None:
        bars.update(task, completed=figures.finished, details=figures.details())

    with bars:
        yield draw
