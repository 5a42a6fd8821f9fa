"""Diagnostics as workflow commands of GitHub Actions, which shows them beside the lines of a change.

GitHub, "Workflow commands for GitHub Actions": `::error file=…,line=…,col=…,title=…::message`.
"""

from __future__ import annotations

from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.sarif import told

_KINDS = {"error": "error", "warning": "warning", "note": "notice"}


def github_command(diagnostic: Diagnostic) -> str:
    """One line that GitHub reads; whatever the program holds stays inside of its message."""
    properties = {}
    if diagnostic.span is not None:
        source = diagnostic.span.source
        line, column = source.position(diagnostic.span.start)
        end_line, end_column = source.position(diagnostic.span.end)
        properties = {"file": source.name, "line": line, "endLine": end_line, "col": column}
        if end_line == line:
            properties["endColumn"] = end_column
    properties["title"] = diagnostic.code
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_KINDS[diagnostic.severity]} {listed}::{_message(told(diagnostic))}"


def _message(text: str) -> str:
    """Text without what ends a command: a line end."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """The same of a property, which also ends at a comma and at a colon."""
    return _message(text).replace(":", "%3A").replace(",", "%2C")
