"""What was typed at a prompt as a program."""

from __future__ import annotations

from sglc.driver import compile_source
from sglc.repl.session import ReplSession
from sglc.source import Source

NAME = "conversation"


def program_text(session: ReplSession) -> str:
    """The declarations, and the statements as a function `conversation`; where they are no function together,
    because names were bound anew or text goes on without its role, as comments."""
    parts = [each.span.text.strip("\n") for each in session.state.declared]
    for entry in session.state.entries:
        if entry.aside:
            parts.append(_comment(f"set aside: {entry.reason}\n{entry.declared.span.text.strip()}"))
    head = "\n\n".join(parts)
    typed = [text.strip("\n") for step in session.steps for text in step.statements]
    if not typed:
        return head + "\n" if head else ""
    name = NAME
    while name in session.state.names():
        name += "_"
    body = "\n".join("    " + line if line.strip() else "" for line in "\n".join(typed).split("\n"))
    function = f"fn {name}():\n{body}"
    whole = f"{head}\n\n{function}\n" if head else f"{function}\n"
    if compile_source(Source(session.compiler.place, whole), session.compiler.options).program is not None:
        return whole
    comment = _comment("typed at a prompt:\n" + "\n".join(typed))
    return f"{head}\n\n{comment}\n" if head else f"{comment}\n"


def _comment(text: str) -> str:
    return "\n".join(f"# {line}".rstrip() for line in text.split("\n"))
