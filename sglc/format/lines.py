"""The rows of one logical line: on one row where it fits, else over several."""

from __future__ import annotations

from sglc.format.breaking import STEP, WIDTH, Breaker
from sglc.format.reading import Line, Reading
from sglc.format.rows import Row
from sglc.format.spacing import gaps

_BODIED = frozenset(
    "if elif else for while try except case fn pure part aside test ROLE forget par using fuzz".split()
)
"""First words of lines whose colon may have a statement behind it."""
_LISTED = frozenset(("record", "enum", "error"))
_TEXTS = frozenset(("PIPE", "FENCE"))
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


def line_rows(made: Reading, line: Line) -> list[Row]:
    """The rows of a line, the comment behind it on the last one."""
    tokens, first, last = made.tokens, line.first, line.last
    indent = line.depth * STEP
    blanks = gaps(tokens, first, last, line.grammar)
    final = tokens.kinds[last - 1]
    if final == "FENCE":
        return [Row(indent, _flat(made, line, blanks, last - 1) + _fence(made, last - 1, first, indent))]
    if line.inner and _keeps_lines(made, line):
        return _kept(made, line, blanks, indent)
    commented = any(gap.has_comment() for gap in line.inner.values())
    text = "" if commented else _flat(made, line, blanks, last)
    end = len(text) if final != "PIPE" else len(text) - len(tokens.written[last - 1])
    if not commented and (indent + end <= WIDTH or _keeps_lines(made, line)):
        rows = [Row(indent, text)]
    else:
        rows = _broken(made, line, blanks, indent)
    rows[-1].comment = line.behind
    return rows


def _flat(made: Reading, line: Line, blanks: list[str], last: int) -> str:
    """Tokens of a line up to `last` on one row, without commas that mean nothing."""
    written, kinds, first = made.tokens.written, made.tokens.kinds, line.first
    commas = "," in kinds[first:last]
    if commas and any(kinds[at] == "," and kinds[at + 1] in _CLOSING for at in range(first, last)):
        return Breaker(made.tokens, first, line.last, blanks, {}, line.grammar).flat(first, last)
    return "".join([part for pair in zip(blanks, written[first:last], strict=False) for part in pair])


def _fence(made: Reading, index: int, first: int, indent: int) -> str:
    """A fenced text behind what stands before it on its line; its own lines are final."""
    margin = indent if index == first else indent + STEP
    text = made.tokens.text
    lines = [text[start:end] for start, end in made.fences[made.tokens.starts[index]]]
    shown = [" " * margin + line if line else "" for line in lines]
    ends = ["\r\n" if line.endswith("\r") else "\n" for line in lines]
    body = "".join(line + end for line, end in zip(shown, ends, strict=True))
    opening = "" if index == first else " "
    return f'{opening}text """\n{body}{" " * margin}"""'


# -- lines that keep their ends --------------------------------------------------------------------


def _keeps_lines(made: Reading, line: Line) -> bool:
    """Whether a `##` comment belongs to the line, or to a part of it, by where physical lines end."""
    if line.behind.startswith("##"):
        return True
    if any(
        gap.behind.startswith("##") or any(comment.text.startswith("##") for comment in gap.own)
        for gap in line.inner.values()
    ):
        return True
    above = line.above
    if not above.own or above.blanks or not above.own[-1].text.startswith("##"):
        return False
    kinds = made.tokens.kinds
    word = kinds[line.first + 1] if kinds[line.first] == "pub" else kinds[line.first]
    return word in _LISTED or word == "NAME"


def _kept(made: Reading, line: Line, blanks: list[str], indent: int) -> list[Row]:
    """The rows of a line that go on where they did, with their blanks and indentation in order."""
    rows = [Row(indent, "")]
    opened = 0
    for index in range(line.first, line.last):
        kind, gap = made.tokens.kinds[index], line.inner.get(index)
        if gap is None:
            rows[-1].text += blanks[index - line.first] + made.tokens.written[index]
        else:
            inner = indent + STEP * max(opened, 1)
            rows[-1].comment = gap.behind
            rows += [Row(inner, comment.text, blank=comment.blanks > 0) for comment in gap.own]
            margin = indent + STEP * (opened - 1) if kind in _CLOSING else inner
            rows.append(Row(margin, made.tokens.written[index], blank=gap.blanks > 0))
        opened += (kind in _OPENING) - (kind in _CLOSING)
    rows[-1].comment = line.behind
    return rows


# -- lines that go over several rows ---------------------------------------------------------------


def _broken(made: Reading, line: Line, blanks: list[str], indent: int) -> list[Row]:
    """The rows of a line that is too long or has comments in it."""
    tokens, first, last = made.tokens, line.first, line.last
    if tokens.kinds[last - 1] in _TEXTS:
        rows = _run(made, line, blanks, first, last - 1, indent)
        rows[-1].text += " " + tokens.written[last - 1]
        return rows
    colon = _body_colon(tokens.kinds, first, last)
    if colon < 0:
        return _run(made, line, blanks, first, last, indent)
    rows = _run(made, line, blanks, first, colon + 1, indent)
    word = tokens.kinds[first + 1] if tokens.kinds[first] == "pub" else tokens.kinds[first]
    if word in _LISTED:
        return rows + _list(made, line, blanks, colon + 1, indent + STEP, one_each=word == "record")
    return rows + _run(made, line, blanks, colon + 1, last, indent + STEP)


def _run(made: Reading, line: Line, blanks: list[str], first: int, last: int, indent: int) -> list[Row]:
    own = blanks[first - line.first : last - line.first]
    breaker = Breaker(made.tokens, first, last, own, line.inner, line.grammar)
    breaker.begin(indent)
    groups = breaker.groups
    if line.grammar:
        breaker.alternatives(indent + STEP)
    else:
        breaker.sequence(first, last, groups, indent)
    breaker.end(indent)
    return breaker.rows


def _body_colon(kinds: list[str], first: int, last: int) -> int:
    """The colon that has a statement or parts behind it on the line; -1 if there is none."""
    word = kinds[first + 1] if kinds[first] == "pub" else kinds[first]
    begin = first
    if word not in _BODIED and word not in _LISTED:
        if "fork" not in kinds[first:last]:
            return -1
        begin = kinds.index("fork", first)
    opened = 0
    for index in range(begin, last - 1):
        kind = kinds[index]
        opened += (kind in _OPENING) - (kind in _CLOSING)
        if kind == ":" and not opened:
            return index
    return -1


def _list(
    made: Reading, line: Line, blanks: list[str], first: int, indent: int, *, one_each: bool
) -> list[Row]:
    """The fields of a record, each on its row, or the names of an enum, as many on a row as fit."""
    breaker = Breaker(made.tokens, first, line.last, blanks[first - line.first :], line.inner, line.grammar)
    rows: list[Row] = []
    for start, stop in breaker.parts():
        text = breaker.flat(start, stop)
        if rows and not one_each and rows[-1].width() + len(text) + 3 <= WIDTH:
            rows[-1].text += f", {text}"
        else:
            rows += _run(made, line, blanks, start, stop, indent)
    return rows
