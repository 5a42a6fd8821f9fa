"""What is said about text that cannot be cut into tokens."""

from __future__ import annotations

from sglc.diagnostics.diagnostic import Diagnostic, Edit, Label
from sglc.diagnostics.render import visible
from sglc.source import Source, Span
from sglc.syntax.tokens import MAX_BRACKETS, MAX_INDENTS, MAX_LINE, Fault

_CLOSER = {"(": ")", "[": "]", "{": "}"}
_MEANT = {"&": "and", "&&": "and", "!": "not", "^": "**", "|": "or"}
_QUOTES = "‘’“”„«»"


def describe_fault(fault: Fault, source: Source) -> Diagnostic:
    """The diagnostic of one fault of the layout."""
    span = Span(source, fault.start, max(fault.end, fault.start))
    match fault.kind:
        case "tab indentation":
            return Diagnostic(
                "E0109",
                "a tab in the indentation",
                span,
                label="must be blanks",
                reason="how wide a tab is depends on who looks at it, and indentation has a meaning here",
                hint="indent with four blanks",
                edits=(Edit(span, span.text.expandtabs(4).replace("\u00a0", " ")),),
            )
        case "dedent":
            return Diagnostic(
                "E0108",
                "this line is indented like no block around it",
                span,
                label=f"{len(span.text)} columns" if span.text.isspace() else "",
                hint=f"the block above it is indented by {fault.detail}",
            )
        case "string":
            return Diagnostic(
                "E0105",
                "this text in quotes is not closed on its line",
                Span(source, fault.start, fault.start + 1),
                label="opened here",
                hint='add `"`; a quote inside is written \\", a line end \\n',
                edits=_quote(fault, source),
            )
        case "insert":
            return Diagnostic(
                "E0104",
                "this insert is not closed on its line",
                span,
                label="`${` opens it",
                hint="add `}`, or write `\\${` for the text itself",
            )
        case "bracket":
            return Diagnostic(
                "E0106",
                f"`{fault.detail}` is never closed",
                span,
                label="opened here",
                hint=f"add `{_CLOSER[fault.detail]}`",
                edits=_closing(fault, source),
            )
        case "mismatch":
            assert fault.other is not None
            opened = Span(source, *fault.other)
            return Diagnostic(
                "E0106",
                f"`{fault.detail}` does not close `{opened.text}`",
                span,
                label=f"`{_CLOSER[opened.text]}` is due here",
                secondary=(Label(opened, "opened here"),),
            )
        case "stray bracket":
            return Diagnostic(
                "E0107",
                f"`{fault.detail}` closes nothing",
                span,
                label="no bracket is open here",
                hint="remove it",
                edits=(Edit(span, ""),) if _is_left_over(source, span) else (),
            )
        case "regex":
            return Diagnostic(
                "E0124",
                "this regular expression is not closed on its line",
                Span(source, fault.start, fault.start + 1),
                label="opened here",
                hint="add `/`; a slash inside is written `\\/`",
            )
        case "json":
            return Diagnostic(
                "E0129",
                "this is not JSON",
                span,
                label=fault.detail[:1].lower() + fault.detail[1:],
            )
        case "fence":
            return Diagnostic(
                "E0123",
                "this block of text is never closed",
                span,
                label="opened here",
                hint='end it with a line `"""`',
            )
        case "fence indentation":
            return Diagnostic(
                "E0123",
                'this line begins left of the `"""` that closes its block',
                span,
                hint='indent the text at least as far as the closing `"""`',
            )
        case "insert in code":
            return Diagnostic(
                "E0112",
                "`${…}` stands outside prompt text and strings",
                span,
                label="this is code",
                hint="in code, write the expression itself"
                if not span.text[2:-1].isidentifier()
                else f"write `{span.text[2:-1]}`",
            )
        case "single quotes":
            return Diagnostic(
                "E0113",
                "text stands in double quotes",
                span,
                label="single quotes mean nothing",
                hint=f'write "{span.text.strip(chr(39))}"',
                edits=(Edit(span, f'"{span.text[1:-1]}"'),) if _plain_quoted(span.text) else (),
            )
        case "block comment":
            return Diagnostic(
                "E0113",
                "a comment begins with `#`",
                Span(source, fault.start, fault.start + 2),
                label="from another language",
                hint="write `# …`",
                edits=_line_comment(span),
            )
        case "deep":
            return Diagnostic(
                "E0131",
                "this is nested too deeply",
                span,
                reason=f"the limits are {MAX_BRACKETS} brackets and {MAX_INDENTS} blocks in one another",
                hint="give inner parts names with `let`, or make functions of them",
            )
        case "long line":
            return Diagnostic(
                "E0132",
                "this line is too long",
                span,
                reason=f"the limit is {MAX_LINE:,} characters",
                hint="keep long prose in its own file and `include` it",
            )
    meant = "not" if span.text == "!" else _MEANT.get(span.text)
    char = fault.detail[:1]
    hint = f"write `{meant}`" if meant else ""
    edits = (Edit(span, meant),) if meant else ()
    if span.text == "!":
        edits = (Edit(span, "!=" if source.text.startswith("=", span.end) else "not "),)
    if (
        char == "@"
        and not source.line(source.position(span.start)[0])[: source.position(span.start)[1] - 1].strip()
    ):
        hint = "there are no decorators: leave the line out"
        after = source.text.find("\n", span.start) + 1
        edits = (
            (Edit(Span(source, span.start, after), ""),)
            if after and "(" not in _rest(source, span.start)
            else ()
        )
    if char in _QUOTES:
        hint = 'text stands in straight double quotes: "…"'
    return Diagnostic(
        "E0118",
        f"`{span.text[:10]}` is written `{meant}`"
        if meant
        else f"`{span.text[:10]}` means nothing here"
        if char.isprintable() and char.isascii()
        else f"the character {visible(char)} (U+{ord(char):04X}) means nothing here",
        span,
        hint=hint,
        edits=edits,
    )


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


def _quote(fault: Fault, source: Source) -> tuple[Edit, ...]:
    """A quote at the end of the line, where nothing but the text can stand behind the opening one."""
    text = source.text[fault.start : fault.end].rstrip()
    line, column = source.position(fault.start)
    before = source.line(line)[: column - 1]
    opened = any(before.count(mark) > before.count(_CLOSER[mark]) for mark in _CLOSER)
    if opened or len(text) < 2 or "#" in text or text[-1] in "\\,:" or not before.strip():
        return ()
    end = fault.start + len(text)
    return (Edit(Span(source, end, end), '"'),)


def _closing(fault: Fault, source: Source) -> tuple[Edit, ...]:
    """The missing bracket at the end of its line; in the header of a function before its arrow or colon."""
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


def _line_comment(span: Span) -> tuple[Edit, ...]:
    """`# …` in the place of a comment that ends its line; nothing where it does not."""
    text = span.text
    if not text.endswith("*/") or _rest(span.source, span.end):
        return ()
    column = span.source.position(span.start)[1] - 1
    lines = [line.strip().lstrip("*").strip() for line in text[2:-2].strip("*").split("\n")]
    made = [f"# {line}" for line in lines if line]
    return (Edit(span, ("\n" + " " * column).join(made)),) if made else ()
