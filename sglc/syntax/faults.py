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
    meant = _MEANT.get(span.text)
    char = fault.detail[:1]
    hint = f"write `{meant}`" if meant else ""
    if char in _QUOTES:
        hint = 'text stands in straight double quotes: "…"'
    return Diagnostic(
        "E0118",
        f"`{span.text[:10]}` means nothing here"
        if char.isprintable() and char.isascii()
        else f"the character {visible(char)} (U+{ord(char):04X}) means nothing here",
        span,
        hint=hint,
    )


def _plain_quoted(text: str) -> bool:
    """Whether a text in single quotes means the same in double ones."""
    return len(text) >= 2 and text[-1] == text[0] and not any(char in text for char in '"\\$')
