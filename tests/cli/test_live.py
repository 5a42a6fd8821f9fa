"""The live view of streamed text, looked at through a small terminal that understands what it writes."""

from __future__ import annotations

import io
import re

from hypothesis import given
from hypothesis import strategies as st

from sglc.commands.running.live import LiveText, PlainText, width_of

STEP = re.compile(r"\x1b\[(\d*)([AGJm])|(.)", re.S)


class Screen:
    """A terminal of some columns: wraps late like a real one, scrolls, moves relatively, erases below."""

    def __init__(self, columns: int, rows: int = 1000) -> None:
        self.columns, self.rows = columns, rows
        self.lines: list[list[str]] = [[]]
        self.row = self.column = 0
        self.top = 0

    def feed(self, text: str) -> None:
        for match in STEP.finditer(text):
            number, action, char = match.groups()
            if action == "A":
                self.row = max(self.top, self.row - int(number or 1))
            elif action == "G":
                self.column = int(number) - 1
            elif action == "J":
                self.lines[self.row] = self.lines[self.row][: self.column]
                del self.lines[self.row + 1 :]
            elif char == "\n":
                self.down()
                self.column = 0
            elif char is not None:
                self.put(char)

    def down(self) -> None:
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append([])
        self.top = max(self.top, self.row - self.rows + 1)

    def put(self, char: str) -> None:
        width = width_of(char)
        if width == 0:
            return
        if self.column + width > self.columns:
            self.down()
            self.column = 0
        line = self.lines[self.row]
        line.extend(" " * (self.column - len(line)))
        line[self.column : self.column + width] = [char] + [""] * (width - 1)
        self.column += width

    def text(self) -> str:
        return "\n".join("".join(line) for line in self.lines)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_forced_text_is_dim_and_generated_text_bright() -> None:
    out = io.StringIO()
    live = LiveText(out, 80, clock=lambda: 0.0)
    live.write('{"name": "', False)
    live.write("Ada", True)
    live.write('"', False)
    live.finish()
    assert out.getvalue() == '\x1b[2m{"name": "\x1b[0m\x1b[1mAda\x1b[0m\x1b[2m"\x1b[0m\n'


def test_without_colour_there_is_no_style() -> None:
    out = io.StringIO()
    live = LiveText(out, 80, color=False, clock=lambda: 0.0)
    live.write("a", False)
    live.write("b", True)
    live.finish()
    assert out.getvalue() == "ab\n"


def test_the_live_line_counts_tokens_and_goes_away() -> None:
    out = io.StringIO()
    live = LiveText(out, 40, clock=Clock())
    screen = Screen(40)
    for word in ("one ", "two ", "three"):
        live.token()
        live.write(word, True)
    screen.feed(out.getvalue())
    assert screen.text().startswith("one two three\n3 tokens · ")
    assert "tok/s" in screen.text()
    live.finish()
    screen = Screen(40)
    screen.feed(out.getvalue())
    assert screen.text() == "one two three\n"


@given(
    st.lists(st.tuples(st.text(alphabet="ab \n漢é", max_size=30), st.booleans()), max_size=12),
    st.integers(20, 30),
    st.integers(3, 6),
)
def test_the_live_line_never_disturbs_the_text(
    pieces: list[tuple[str, bool]], columns: int, rows: int
) -> None:
    out = io.StringIO()
    live = LiveText(out, columns, clock=Clock())
    plain = Screen(columns)
    for text, generated in pieces:
        live.token()
        live.write(text, generated)
        plain.feed(text)
    live.finish()
    screen = Screen(columns, rows)
    screen.feed(out.getvalue())
    assert screen.text().rstrip("\n") == plain.text().rstrip("\n")


def test_control_characters_cannot_steer_the_terminal() -> None:
    out = io.StringIO()
    live = LiveText(out, 80, color=False, clock=lambda: 0.0)
    live.write("a\x1b[2Jb\x07\u202e", True)
    assert out.getvalue() == "a\\u001b[2Jb\\u0007\\u202e"


def test_plain_text_ends_with_one_newline() -> None:
    for text in ("a", "a\n"):
        out = io.StringIO()
        plain = PlainText(out)
        plain.write(text, True)
        plain.finish()
        assert out.getvalue() == "a\n"
