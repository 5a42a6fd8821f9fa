"""A token that cannot stand where it stands, and no known slip: what was found, and what is due."""

from __future__ import annotations

from sglc.lalr.machine import Run
from sglc.syntax.errors.core.faulty_line import Line, Mistake

_SAID = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a text in quotes",
    "REGEX": "a regular expression",
    "PIPE": "a pipe line",
    "_NEWLINE": "the end of the line",
    "_INDENT": "an indented block",
    "PATH": "a path",
    "BINARY": "an operator",
    "INLINE_JSON": "JSON",
    "_DEDENT": "the end of the block",
    "$END": "the end",
}
_VALUE = {"NAME", "NUMBER", "STRING", "[", "(", "{"}
_VALUE_MORE = {
    "true",
    "false",
    "null",
    "REGEX",
    "-",
    "not",
    "gen",
    "choose",
    "select",
    "schema",
    "fork",
    "raise",
}
_TYPE_MORE = {"true", "false", "span", "one", "json", "-"}


def unexpected(run: Run, line: Line) -> Mistake:
    """What was found and what could have stood there instead."""
    found = {
        "_NEWLINE": "the end of the line",
        "$END": "the end",
        "_INDENT": "an indented line",
        "_DEDENT": "the end of the block",
        "STRING": "a text in quotes",
        "PIPE": "a pipe line",
        "REGEX": "a regular expression",
    }.get(line.kind) or f"`{line.token if len(line.token) <= 30 else line.token[:29] + '…'}`"
    due = due_here(run)
    start, end = line.start, line.end
    if start == end and line.index > 0 and line.kind in ("_NEWLINE", "$END"):
        end = start + 1 if line.kind == "$END" and start < len(line.text) else start
        start = max(end - 1, line.tokens.starts[line.index - 1]) if end == start else start
    return Mistake(
        "E0101",
        f"{found} cannot stand here" if line.kind != "_NEWLINE" else "the line ends too early",
        start,
        end,
        label="the value before it is complete"
        if run.could_take("BINARY")
        else f"{due} is due"
        if due
        else "",
    )


def due_here(run: Run) -> str:
    """The few things that could come next, in words; empty if there are many."""
    kinds = run.expected() - {"BROKEN"}
    words: list[str] = []
    if kinds >= _VALUE:
        typed = "span" in kinds
        words.append("a type" if typed else "a value")
        kinds -= _VALUE | (_TYPE_MORE if typed else _VALUE_MORE)
    marks = [
        kind for kind in ("NAME", ":", "=", "->", "(", ")", "]", "}", ",", "in", "as", "of") if kind in kinds
    ]
    rest = sorted(kinds - set(marks) - {"BINARY", "_NEWLINE", ".", "[", "AUGMENTED"})
    if not words and len(marks) + len(rest) <= 4:
        words += [_SAID.get(kind, f"`{kind}`") for kind in (*marks, *rest)]
        if not words and "_NEWLINE" in kinds:
            words.append(_SAID["_NEWLINE"])
    elif marks and len(words) + len(marks) <= 3:
        words += [_SAID.get(kind, f"`{kind}`") for kind in marks if kind not in ("(", ",")]
    if len(words) > 4:
        return ""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1] if words else ""
