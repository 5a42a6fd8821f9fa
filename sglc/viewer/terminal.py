"""A run on a terminal: the conversation with its tokens, then the list of holes.

Lines are `rich` texts. Without colours, marks say what colours and strokes say with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import IO

from rich.console import Console
from rich.text import Text as Styled

from sglc.diagnostics.render import plain
from sglc.viewer.model import (
    Call,
    Check,
    Error,
    Fill,
    Fork,
    Item,
    Mark,
    Rejected,
    Role,
    Run,
    Text,
    Thought,
    Token,
)
from sglc.viewer.reading import Reading
from sglc.viewer.segments import (
    Segment,
    brief_items,
    facts,
    line_of,
    scores,
    segments,
    spark,
)
from sglc.viewer.trees import trees
from sglc.viewer.wording import (
    branches,
    details,
    figures,
    headline,
    name_of,
    one_line,
    percent,
    quoted,
    remarks,
    row_of,
)

PRESSURE_STYLES = ("bold", "bold yellow", "bold dark_orange", "bold red", "bold white on red")
"""Styles of drawn text by level of pressure."""
STYLES = {
    "forced": "dim",
    "value": "bold",
    "whole": "bold",
    "kept": "bold",
    "wrong": "strike red",
    "put": "bold green",
    "back": "strike dim",
    "pruned": "strike red",
}
MARKS = {"wrong": ("~~", "~~"), "put": ("++", "++"), "back": ("~~", "~~"), "pruned": ("~~", "~~")}
"""What stands around text where there are no colours."""
LEAST_COLUMNS = 20
"""Columns that text gets at least, however deep it stands: a word or two, so that narrow terminals and deep
calls stay legible."""
DEEPEST_BAR = 8
"""Most bars before a line: with two columns each, deeper groups would leave no room on 80 columns."""


class TerminalPicture:
    """The lines of a picture. `columns` is the width of the terminal, None for lines of any length."""

    def __init__(
        self, run: Run, reading: Reading | None, *, columns: int | None, color: bool, verbose: bool
    ) -> None:
        self._run = run
        self._reading = reading
        self._columns = columns
        self._color = color
        self._verbose = verbose
        self._console = Console(width=columns or 1000, color_system=None, force_jupyter=False)

    def write(self, out: IO[str]) -> None:
        """Write all lines."""
        console = Console(
            file=out,
            width=self._columns or 1000,
            force_terminal=self._color,
            force_jupyter=False,
            color_system="256" if self._color else None,
            no_color=not self._color,
            highlight=False,
            markup=False,
            emoji=False,
        )
        for line in self.lines():
            console.print(line, soft_wrap=True)

    def lines(self) -> Iterator[Styled]:
        """All lines, none longer than the terminal is wide."""
        yield from self._put(Styled(headline(self._run), "bold"))
        told = " · ".join(f"{name} {value}" for name, value in figures(self._run))
        yield from self._put(Styled(told, "dim"))
        for remark in remarks(self._run, self._reading):
            yield from self._put(Styled(f"! {remark}", "yellow"))
        yield Styled("")
        yield from self._flow(self._run.items, 0)
        if self._run.fills:
            yield Styled("")
            yield from self._holes()
            yield Styled("")
            yield from self._put(self._legend())

    # -- lines -------------------------------------------------------------------------------------------

    def _put(self, text: Styled, depth: int = 0, indent: int = 0) -> Iterator[Styled]:
        """The lines of a text, wrapped, each behind its bars."""
        bars = Styled("│ " * min(depth, DEEPEST_BAR) + " " * indent, "dim")
        for line in text.split("\n", allow_blank=True):
            if self._columns is None:
                wrapped: Iterable[Styled] = [line]
            else:
                room = max(LEAST_COLUMNS, self._columns - bars.cell_len)
                wrapped = line.wrap(self._console, room, overflow="fold") or [line]
            for part in wrapped:
                part.rstrip()
                yield Styled.assemble(bars, part) if part.plain else Styled(bars.plain.rstrip(), "dim")

    def _flow(self, items: list[Item], depth: int) -> Iterator[Styled]:
        """Items in order. Text and fillings that follow each other are one message."""
        message = Styled()
        for item in items:
            if isinstance(item, Text):
                message.append(plain(item.text), "cyan" if item.inserted and self._color else "")
            elif isinstance(item, Fill):
                message.append_text(self._fill(item))
            else:
                yield from self._message(message, depth)
                message = Styled()
                yield from self._item(item, depth)
        yield from self._message(message, depth)

    def _message(self, message: Styled, depth: int) -> Iterator[Styled]:
        if message.plain:
            yield from self._put(message, depth, indent=2)

    def _item(self, item: Item, depth: int) -> Iterator[Styled]:
        """An item that is no text of a message."""
        match item:
            case Role(role=role):
                yield from self._put(Styled(one_line(role), "bold blue"), depth)
            case Check(passed=True):
                yield from self._put(Styled(f"✓ check held {one_line(item.reason)}".rstrip(), "green"), depth)
            case Check():
                yield from self._put(Styled(f"✗ check failed: {one_line(item.reason)}", "red"), depth)
            case Error():
                yield from self._put(_error(item), depth)
            case Mark(text=text):
                yield from self._put(Styled(f"· {one_line(text)}", "dim"), depth)
            case Call():
                yield from self._call(item, depth)
            case Rejected():
                yield from self._rejected(item, depth)
            case Fork():
                yield from self._fork(item, depth)

    def _call(self, call: Call, depth: int) -> Iterator[Styled]:
        head = Styled(f"▸ {one_line(call.function)}", "magenta")
        if call.error:
            head.append(f" left by {one_line(call.error)}", "red")
        elif not call.ended:
            head.append(" not ended", "yellow")
        yield from self._put(head, depth)
        yield from self._flow(call.items, depth + 1)

    def _rejected(self, item: Rejected, depth: int) -> Iterator[Styled]:
        strategy = f" ({one_line(item.strategy)})" if item.strategy else ""
        reason = f": {one_line(item.reason)}" if item.reason else ""
        head = f"↺ {one_line(item.hole)} was rejected{strategy}{reason}"
        yield from self._put(Styled(head, "red"), depth)
        for line in self._flow(item.items, depth + 1):
            line.stylize("strike dim")
            yield line

    def _fork(self, fork: Fork, depth: int) -> Iterator[Styled]:
        yield from self._put(Styled(f"⑂ {branches(fork)}", "magenta"), depth)
        for branch in sorted(fork.branches, key=lambda branch: branch.index):
            head = Styled(f"{'sample' if fork.samples else 'branch'} {branch.index}", "magenta")
            if branch.adopted:
                head.append(" ← the conversation goes on here", "green")
            yield from self._put(head, depth + 1)
            yield from self._flow(branch.items, depth + 2)

    def _fill(self, fill: Fill) -> Styled:
        """The text of a hole. Without colours it stands in brackets."""
        found = Styled()
        for each in segments(fill):
            found.append_text(self._segment(each))
        if fill.end is None:
            found.append("…", "yellow")
        return found if self._color else Styled.assemble("⟦", found, "⟧")

    def _segment(self, segment: Segment) -> Styled:
        text = plain(segment.text)
        if not text:
            return Styled()
        if segment.kind == "whole":
            text = f" = {text}"
        if not self._color:
            before, behind = MARKS.get(segment.kind, ("", ""))
            return Styled(before + text + behind)
        style = PRESSURE_STYLES[segment.level] if segment.kind == "drawn" else STYLES[segment.kind]
        return Styled(text, style)

    # -- holes -------------------------------------------------------------------------------------------

    def _holes(self) -> Iterator[Styled]:
        fills = self._run.fills
        rows = [{"hole": f"{fill.number} {name_of(fill)}", **row_of(fill)} for fill in fills]
        heads = [head for head in rows[0] if head == "hole" or any(row[head] for row in rows)]
        widths = {head: max(len(head), *(len(row[head]) for row in rows)) for head in heads}
        yield from self._table_line({head: head for head in heads}, widths, "bold")
        for fill, row in zip(fills, rows, strict=True):
            yield from self._table_line(row, widths, "strike dim" if fill.rejected else "")
            yield from self._about(fill)
            if self._verbose:
                for token in fill.tokens:
                    if token.number:
                        yield from self._put(self._token(token), indent=4)

    def _table_line(self, row: dict[str, str], widths: dict[str, int], style: str) -> Iterator[Styled]:
        cells = [
            row[head].ljust(width) if head in ("hole", "ended") else row[head].rjust(width)
            for head, width in widths.items()
        ]
        yield from self._put(Styled("  ".join(cells).rstrip(), style))

    def _about(self, fill: Fill) -> Iterator[Styled]:
        """What a hole has besides its figures: scores, lines, trees, facts."""
        for text, score in scores(fill)[:20]:
            bar = "█" * round(20 * max(0.0, min(1.0, score)))
            yield from self._put(Styled(f"{percent(score):>8} {bar:<20} {one_line(text)}"), indent=4)
        room = max(LEAST_COLUMNS, (self._columns or 80) - 40)
        for name, values in (("alpha", line_of(fill, "alpha")), ("Chernoff", line_of(fill, "chernoff"))):
            if values:
                told = f"{name:<9}{spark(values, room)} {min(values):.3g} to {max(values):.3g}"
                yield from self._put(Styled(told, "cyan"), indent=4)
        for title, rows, left_out in trees(fill):
            yield from self._put(Styled(title + (f", {left_out} left out" if left_out else "")), indent=4)
            for row in rows:
                line = Styled("  " * min(row.level, DEEPEST_BAR) + "└ ")
                line.append(one_line(row.text) or "(nothing)", "bold" if row.kept else "dim strike")
                line.append(f"  {one_line(row.note)}" if row.note else "", "dim")
                yield from self._put(line, indent=4)
        for name, value in facts(fill):
            yield from self._put(Styled(f"{one_line(name)}: {one_line(value)}", "dim"), indent=4)

    def _token(self, token: Token) -> Styled:
        line = Styled(quoted(token.text), "bold")
        more = [*details(token), *brief_items(token.more)]
        line.append("  " + ", ".join(f"{one_line(name)} {one_line(value)}" for name, value in more))
        for thought in token.top:
            line.append("  ")
            line.append_text(self._thought(thought, token))
        return line

    def _thought(self, thought: Thought, token: Token) -> Styled:
        text = quoted(thought.text, 30)
        if not thought.legal and not self._color:
            text = f"~~{text}~~"
        style = "green" if thought.text == token.text else "" if thought.legal else "strike red"
        return Styled.assemble((text, style), (f" {percent(thought.probability)}", "dim"))

    def _legend(self) -> Styled:
        if not self._color:
            return Styled("⟦…⟧ text of a hole, ~~taken out~~, ++put in++")
        parts = [("inserted ", "cyan"), ("forced ", "dim"), ("drawn, by pressure: ", "")]
        names = ("little ", "a tenth ", "half ", "nine tenths ", "99 %")
        parts += [(name, style) for name, style in zip(names, PRESSURE_STYLES, strict=True)]
        return Styled.assemble(*parts, ("  of what the model wanted was illegal", "dim"))


def _error(error: Error) -> Styled:
    """An error at its place."""
    head = f"✗ {one_line(error.name)}: {one_line(error.message)}".rstrip(": ")
    found = Styled(head, "yellow" if error.caught else "bold red")
    if error.caught:
        found.append(" (caught)", "dim")
    if error.skipped is not None:
        found.append(f" (branch {error.skipped} was left out)", "dim")
    if error.span:
        found.append(f"  {one_line(error.span)}", "dim")
    return found
