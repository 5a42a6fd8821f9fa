"""Going on after a fault: one line is given up, and what follows is read as if it had been right.

Since a pipe line never leaves its line and a statement begins a line, the next line is always a safe place.
The faulty line (with the block below it) becomes one `BROKEN` token; the stack is taken down to where that
can stand. Small slips (a missing colon, `=` for `==`) are repaired in place, so that nothing is given up.
"""

from __future__ import annotations

from sglc.lalr.machine import Run, Tokens
from sglc.source import Span
from sglc.syntax.errors.core.faulty_line import DECLARATION_WORDS, FOLLOWERS, Line, Mistake
from sglc.syntax.errors.core.reporter import Replacements
from sglc.syntax.errors.hole_mistakes import inside_mistake
from sglc.syntax.errors.mistake_reporter import MistakeReporter
from sglc.syntax.errors.mistakes import line_mistake
from sglc.syntax.lexer.literals import end_of_line, start_of_next_line
from sglc.syntax.lexer.tokens import INDENT_MARK

_BREAKS = ("_NEWLINE", "_INDENT", "_DEDENT")
_STATEMENT_BLOCKS = frozenset(
    "fn pure part aside pub def test if elif else for while try except fuzz".split()
    + "system user assistant tool".split()
)


class Recovery:
    """Recovers one run. `depth` counts the faulty lines around its text."""

    def __init__(self, run: Run, reporter: MistakeReporter, depth: int = 0) -> None:
        self.run = run
        self.reporter = reporter
        self.text = reporter.text
        self.level = depth
        self.levels: list[int] = []
        """How many blocks are open before each token."""
        self.skipped: tuple[int, int] = (-1, -1)
        """Depth and end of the line given up last."""

    def report_inside(self, start: str, place: Span) -> None:
        """Say what is wrong inside an insert, a hole or a fragment."""
        self.reporter.tell(inside_mistake(self.run, self.text, start, (place.start, place.end)))

    def go_on(self) -> None:
        """Report the fault the run stopped at, and every later one, until the end is reached."""
        run = self.run
        last = (-1, "")
        self._measure()
        while True:
            repair = self._fault(last)
            last = (run.index, repair)
            if run.step():
                return

    # -- one fault -------------------------------------------------------------------------------------

    def _measure(self) -> None:
        """Set the levels of the tokens."""
        level = 0
        self.levels = []
        for kind in self.run.tokens.kinds:
            self.levels.append(level)
            if kind == "_INDENT":
                level += 1
            elif kind == "_DEDENT":
                level -= 1

    def _fault(self, last: tuple[int, str]) -> str:
        run = self.run
        kinds = run.tokens.kinds
        index = run.index
        level = self.levels[index]
        if kinds[index] == "$END":
            self._unfinished(index)
            self._give_up(0)
            if not run.can_take("$END"):
                # Not even a broken line helps: the text was empty of anything to keep.
                run.drop(1)
                run.feed("BROKEN")
            return ""
        depth = sum(value is INDENT_MARK for value in run.values)
        if depth < level:
            # The block around this line was given up already.
            self._leave_block(index, depth)
            return ""
        if kinds[index] == "_INDENT":
            self._indented(index)
            return ""
        at_line_start = index == 0 or kinds[index - 1] in _BREAKS
        if at_line_start and not (run.can_take("BROKEN") and depth == level):
            self._unfinished(index)
            self._give_up(level)
            return ""
        first = index
        while first > 0 and kinds[first - 1] not in _BREAKS:
            first -= 1
        if kinds[index] == "_DEDENT":
            run.index += 1
            return ""
        line = Line(self.text, run.tokens, first, index)
        word = line.word
        follows = word in FOLLOWERS and self.skipped == (level, first)
        if not follows and not self.reporter.is_told(run.tokens.starts[first]):
            mistake = line_mistake(run, line, level == 0 and self.level == 0 and run.goal == "<module>")
            self.reporter.tell_line(mistake, run.tokens.starts[first], line.end)
            if (mistake.repair or mistake.skip) and last != (index, mistake.repair):
                if self._repaired(mistake, index):
                    return mistake.repair
        end = self._line_end(index)
        if kinds[end] == "_INDENT":
            stop = self._block_end(end)
            if word in _STATEMENT_BLOCKS and self.level < 20:
                self._read_block(end + 1, stop - 1)
            end = stop
        run.index = end
        self._give_up(level)
        self.skipped = (level, end)
        return ""

    def _repaired(self, mistake: Mistake, index: int) -> bool:
        """Go on as if the line had been written right."""
        run, kinds = self.run, self.run.tokens.kinds
        if mistake.repair == "BINARY":
            kinds[index] = "BINARY"
            run.index = index
            for _ in range(mistake.skip - 1):
                self._drop(index + 1)
            return True
        if mistake.repair and not run.feed(mistake.repair):
            return False
        run.index = index + mistake.skip
        return True

    def _drop(self, index: int) -> None:
        tokens = self.run.tokens
        del tokens.kinds[index], tokens.starts[index], tokens.ends[index]
        del self.levels[index]

    def _line_end(self, index: int) -> int:
        """The token after the end of the line."""
        kinds = self.run.tokens.kinds
        while kinds[index] not in ("_NEWLINE", "$END"):
            index += 1
        return index + 1 if kinds[index] == "_NEWLINE" else index

    def _block_end(self, index: int) -> int:
        """The token after the DEDENT that belongs to the INDENT at `index`."""
        kinds = self.run.tokens.kinds
        level = 0
        while kinds[index] != "$END":
            level += (kinds[index] == "_INDENT") - (kinds[index] == "_DEDENT")
            index += 1
            if level == 0:
                break
        return index

    def _give_up(self, level: int) -> None:
        """Take the stack down to a place where a broken line can stand, and put one there."""
        run = self.run
        depth = sum(value is INDENT_MARK for value in run.values)
        height = len(run.values)
        while height > 1 and (depth > level or not run.can_take("BROKEN")):
            height -= 1
            depth -= run.values[height] is INDENT_MARK
            run.drop(height)
        run.feed("BROKEN")

    def _leave_block(self, index: int, depth: int) -> None:
        """Skip to where only `depth` blocks are open."""
        levels, kinds = self.levels, self.run.tokens.kinds
        while kinds[index] != "$END" and levels[index] > depth:
            index += 1
        self.run.index = index

    def _indented(self, index: int) -> None:
        """An indented line that no block asked for: read it and its like as if they were not indented."""
        tokens = self.run.tokens
        start = tokens.starts[index]
        line_start = self.text.rfind("\n", 0, start) + 1
        if not self.reporter.already_told(line_start, start):
            self.reporter.tell(
                Mistake(
                    "E0117",
                    "this line is indented, but no block begins above it",
                    line_start,
                    start,
                    hint="give it the indentation of the line above"
                    if index > 0
                    else "begin at the left margin",
                    edits=self._moved_left(index, start - line_start),
                )
            )
        stop = self._block_end(index)
        if self.reporter.full:
            self.run.index = stop
            self._give_up(self.levels[index])
            return
        for place in (stop - 1, index):
            if tokens.kinds[place] in ("_INDENT", "_DEDENT"):
                del tokens.kinds[place], tokens.starts[place], tokens.ends[place]
        self._measure()

    def _moved_left(self, index: int, column: int) -> Replacements:
        """The lines of an indented block with the indentation of the line above it."""
        tokens = self.run.tokens
        before = next((i for i in range(index - 1, -1, -1) if tokens.kinds[i] not in _BREAKS), None)
        margin = 0
        if before is not None:
            while before > 0 and tokens.kinds[before - 1] not in _BREAKS:
                before -= 1
            begin = tokens.starts[before]
            margin = begin - self.text.rfind("\n", 0, begin) - 1
        if margin == 0 and tokens.kinds[index + 1] not in DECLARATION_WORDS:
            return ()
        end = tokens.ends[max(index, self._block_end(index) - 2)]
        edits: list[tuple[int, int, str]] = []
        position = self.text.rfind("\n", 0, tokens.starts[index]) + 1
        while 0 <= position < end:
            line = self.text[position : end_of_line(self.text, position)]
            if line.strip() and not line.startswith(" " * column):
                return ()
            if line.strip():
                edits.append((position, position + column - margin, ""))
            position = start_of_next_line(self.text, position + len(line))
        return tuple(edits) if 0 <= margin < column and "\t" not in self.text[:end] else ()

    def _unfinished(self, index: int) -> None:
        """Something above ended before it was whole: an empty block, a `try` without `except`."""
        run, tokens = self.run, self.run.tokens
        before = index - 1
        while before > 0 and tokens.kinds[before] in _BREAKS:
            before -= 1
        first = before
        while first > 0 and tokens.kinds[first - 1] not in _BREAKS:
            first -= 1
        start, end = tokens.starts[first], tokens.ends[before]
        if self.reporter.already_told(start, end):
            return
        if run.can_take("_INDENT"):
            here = tokens.starts[index]
            comment = "#" in self.text[end:here]
            self.reporter.tell(
                Mistake(
                    "E0114",
                    "this block is empty",
                    start,
                    end,
                    label="nothing stands in it",
                    reason="a comment is not a statement" if comment else "",
                    hint="indent what belongs to it by four blanks",
                )
            )
        elif run.can_take("except"):
            if tokens.kinds[index] == "NAME" and self.text.startswith(
                ("catch", "finally"), tokens.starts[index]
            ):
                return
            start = next(
                (
                    s
                    for s, v in zip(reversed(run.begins), reversed(run.values), strict=True)
                    if self.text.startswith("try", s)
                ),
                start,
            )
            self.reporter.tell(
                Mistake(
                    "E0122",
                    "this `try` has no `except`",
                    start,
                    start + 3,
                    hint="add `except E:` at its indentation",
                )
            )
        else:
            line = Line(self.text, tokens, first, before)
            self.reporter.tell(
                Mistake(
                    "E0101",
                    f"what `{line.word}` begins is not finished",
                    start,
                    end,
                    label="more is due here",
                )
            )

    def _read_block(self, start: int, stop: int) -> None:
        """Read the block below a faulty line for its own faults."""
        tokens = self.run.tokens
        place = tokens.ends[stop - 1] if stop > start else tokens.ends[start]
        inner = Tokens(
            [*tokens.kinds[start:stop], "$END"],
            [*tokens.starts[start:stop], place],
            [*tokens.ends[start:stop], place],
        )
        run = self.run.over(inner, "block")
        if not run.step():
            Recovery(run, self.reporter, self.level + 1).go_on()
