"""Messages about text that cannot be cut into tokens: a table, and functions where the text matters."""

from __future__ import annotations

import re
from collections.abc import Callable

from sglc.diagnostics.diagnostic import Diagnostic, Edit, Label
from sglc.diagnostics.render import visible
from sglc.immutable import value
from sglc.source import Source, Span
from sglc.syntax.lexer.tokens import MAX_BRACKETS, MAX_INDENTS, MAX_LINE, Fault

_CLOSER = {"(": ")", "[": "]", "{": "}"}
_MEANT = {"&": "and", "&&": "and", "!": "not", "^": "**", "|": "or"}
_WORD = re.compile(r"@?\w+")
_ATTRIBUTES = {
    "description": "what a field means stands behind `##`, at the end of its line",
    "alias": "the model writes the name of the field: give it the name that it should write",
    "assert": "a condition stands behind `where`, and calls the value `it`: `int where it > 0`",
    "check": "a condition stands behind `where`, and calls the value `it`: `int where it > 0`",
    "skip": "leave the field out",
    "dynamic": "values that are known in the run are `one of xs`",
}
"""What stands here for BAML's attributes of fields."""
_QUOTES = "‘’“”„«»"


Edits = tuple[Edit, ...]


def describe_fault(fault: Fault, source: Source) -> Diagnostic:
    """The diagnostic of one fault of the lexer."""
    span = Span(source, fault.start, max(fault.end, fault.start))
    message = _MESSAGES.get(fault.kind)
    if message is None:
        return _DESCRIBED[fault.kind](fault, span)
    marked = Span(source, fault.start, fault.start + message.marked) if message.marked else span
    return Diagnostic(
        message.code,
        message.text,
        marked,
        label=message.label,
        reason=message.reason,
        hint=message.hint,
        edits=message.edits(fault, span),
    )


# -- edits -----------------------------------------------------------------------------------------


def _no_edits(fault: Fault, span: Span) -> Edits:
    return ()


def _blanks(fault: Fault, span: Span) -> Edits:
    """Blanks in the place of tabs."""
    return (Edit(span, span.text.expandtabs(4).replace("\u00a0", " ")),)


def _plain_quoted(text: str) -> bool:
    """Whether a text in single quotes means the same in double ones."""
    return len(text) >= 2 and text[-1] == text[0] and not any(char in text for char in '"\\')


def _rest(source: Source, place: int) -> str:
    """What stands on the line from a place on, without blanks and comment."""
    line, column = source.position(place)
    return source.line(line)[column - 1 :].split("#")[0].strip()


def _is_left_over(source: Source, span: Span) -> bool:
    """Whether a bracket ends its line behind something that is complete."""
    before = source.text[: span.start].rstrip(" ")[-1:]
    return not _rest(source, span.end) and (before.isalnum() or before in '_)]}"')


def _quote(fault: Fault, span: Span) -> Edits:
    """A quote at the end of the line, where nothing but the text can stand behind the opening one."""
    source = span.source
    text = source.text[fault.start : fault.end].rstrip()
    line, column = source.position(fault.start)
    before = source.line(line)[: column - 1]
    opened = any(before.count(mark) > before.count(_CLOSER[mark]) for mark in _CLOSER)
    if opened or len(text) < 2 or "#" in text or text[-1] in "\\,:" or not before.strip():
        return ()
    end = fault.start + len(text)
    return (Edit(Span(source, end, end), '"'),)


def _closing(fault: Fault, span: Span) -> Edits:
    """The missing bracket at the end of its line; in the header of a function before its arrow or colon."""
    source = span.source
    line, column = source.position(fault.start)
    text = source.line(line)
    rest = text[column:].split("#")[0].rstrip()
    if any(mark in rest for mark in "([{}])\"'") or not rest.strip() or rest.rstrip()[-1] in ",+-*/=(":
        return ()
    arrow = min((place for place in (rest.find(" ->"), rest.find("->")) if place >= 0), default=-1)
    if fault.detail == "(" and arrow >= 0:
        end = fault.start + 1 + arrow
    elif rest.endswith(":"):
        end = fault.start + len(rest)
    else:
        end = fault.start + 1 + len(rest)
    return (Edit(Span(source, end, end), _CLOSER[fault.detail]),)


def _line_comment(fault: Fault, span: Span) -> Edits:
    """`# …` in the place of a comment that ends its line; nothing where it does not."""
    text = span.text
    if not text.endswith("*/") or _rest(span.source, span.end):
        return ()
    column = span.source.position(span.start)[1] - 1
    lines = [line.strip().lstrip("*").strip() for line in text[2:-2].strip("*").split("\n")]
    made = [f"# {line}" for line in lines if line]
    return (Edit(span, ("\n" + " " * column).join(made)),) if made else ()


def _begins_its_line(span: Span) -> bool:
    line, column = span.source.position(span.start)
    return not span.source.line(line)[: column - 1].strip()


def _without_decorator(span: Span) -> Edits:
    """The line of a decorator left out, where it ends on that line."""
    after = span.source.text.find("\n", span.start) + 1
    if not after or "(" in _rest(span.source, span.start):
        return ()
    return (Edit(Span(span.source, span.start, after), ""),)


# -- messages --------------------------------------------------------------------------------------


@value
class _Message:
    """What is said about every fault of one kind; `marked` counts the characters shown, 0 shows all."""

    code: str
    text: str
    label: str = ""
    reason: str = ""
    hint: str = ""
    marked: int = 0
    edits: Callable[[Fault, Span], Edits] = _no_edits


_MESSAGES = {
    "tab indentation": _Message(
        "E0109", "a tab in the indentation", label="must be blanks",
        reason="how wide a tab is depends on who looks at it, and indentation has a meaning here",
        hint="indent with four blanks", edits=_blanks,
    ),
    "string": _Message(
        "E0105", "this text in quotes is not closed on its line", label="opened here", marked=1,
        hint='add `"`; a quote inside is written \\", a line end \\n', edits=_quote,
    ),
    "insert": _Message(
        "E0104", "this insert is not closed on its line", label="`${` opens it",
        hint="add `}`, or write `\\${` for the text itself",
    ),
    "regex": _Message(
        "E0124", "this regular expression is not closed on its line", label="opened here", marked=1,
        hint="add `/`; a slash inside is written `\\/`",
    ),
    "fence": _Message(
        "E0123", "this block of text is never closed", label="opened here", hint='end it with a line `"""`',
    ),
    "fence indentation": _Message(
        "E0123", 'this line begins left of the `"""` that closes its block',
        hint='indent the text at least as far as the closing `"""`',
    ),
    "block comment": _Message(
        "E0113", "a comment begins with `#`", label="from another language", hint="write `# …`", marked=2,
        edits=_line_comment,
    ),
    "deep": _Message(
        "E0131", "this is nested too deeply",
        reason=f"the limits are {MAX_BRACKETS} brackets and {MAX_INDENTS} blocks in one another",
        hint="give inner parts names with `let`, or make functions of them",
    ),
    "long line": _Message(
        "E0132", "this line is too long", reason=f"the limit is {MAX_LINE:,} characters",
        hint="keep long prose in its own file and `include` it",
    ),
}  # fmt: skip
"""Kind of fault to its message, where that is always the same."""


def _dedent(fault: Fault, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0108",
        "this line is indented like no block around it",
        span,
        label=f"{len(span.text)} columns" if span.text.isspace() else "",
        hint=f"the block above it is indented by {fault.detail}",
    )


def _bracket(fault: Fault, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0106",
        f"`{fault.detail}` is never closed",
        span,
        label="opened here",
        hint=f"add `{_CLOSER[fault.detail]}`",
        edits=_closing(fault, span),
    )


def _mismatch(fault: Fault, span: Span) -> Diagnostic:
    assert fault.other is not None
    opened = Span(span.source, *fault.other)
    return Diagnostic(
        "E0106",
        f"`{fault.detail}` does not close `{opened.text}`",
        span,
        label=f"`{_CLOSER[opened.text]}` is due here",
        secondary=(Label(opened, "opened here"),),
    )


def _stray_bracket(fault: Fault, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0107",
        f"`{fault.detail}` closes nothing",
        span,
        label="no bracket is open here",
        hint="remove it",
        edits=(Edit(span, ""),) if _is_left_over(span.source, span) else (),
    )


def _json(fault: Fault, span: Span) -> Diagnostic:
    return Diagnostic("E0129", "this is not JSON", span, label=fault.detail[:1].lower() + fault.detail[1:])


def _insert_in_code(fault: Fault, span: Span) -> Diagnostic:
    inner = span.text[2:-1]
    return Diagnostic(
        "E0112",
        "`${…}` stands outside prompt text and strings",
        span,
        label="this is code",
        hint=f"write `{inner}`" if inner.isidentifier() else "in code, write the expression itself",
    )


def _single_quotes(fault: Fault, span: Span) -> Diagnostic:
    return Diagnostic(
        "E0113",
        "text stands in double quotes",
        span,
        label="single quotes mean nothing",
        hint=f'write "{span.text.strip(chr(39))}"',
        edits=(Edit(span, f'"{span.text[1:-1]}"'),) if _plain_quoted(span.text) else (),
    )


def _character(fault: Fault, span: Span) -> Diagnostic:
    """Characters that mean nothing here, or that another language writes for a word."""
    char = fault.detail[:1]
    meant = _MEANT.get(span.text)
    hint = f"write `{meant}`" if meant else ""
    edits: Edits = (Edit(span, meant),) if meant else ()
    if span.text == "!":
        edits = (Edit(span, "!=" if span.source.text.startswith("=", span.end) else "not "),)
    if char == "@" and _begins_its_line(span):
        hint = "there are no decorators: leave the line out"
        edits = _without_decorator(span)
    elif char == "@":
        word = _WORD.match(span.source.text, span.end)
        hint = _ATTRIBUTES.get("" if word is None else word[0], "")
    if char in _QUOTES:
        hint = 'text stands in straight double quotes: "…"'
    shown = f"`{span.text[:10]}`"
    if meant:
        message = f"{shown} is written `{meant}`"
    elif char.isprintable() and char.isascii():
        message = f"{shown} means nothing here"
    else:
        message = f"the character {visible(char)} (U+{ord(char):04X}) means nothing here"
    return Diagnostic("E0118", message, span, hint=hint, edits=edits)


_DESCRIBED = {
    "dedent": _dedent,
    "bracket": _bracket,
    "mismatch": _mismatch,
    "stray bracket": _stray_bracket,
    "json": _json,
    "insert in code": _insert_in_code,
    "single quotes": _single_quotes,
    "character": _character,
}
"""Kind of fault to what describes it, where that depends on the text."""
