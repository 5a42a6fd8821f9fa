"""The page of all diagnostics, written from their catalogue.

`make docs` writes it to `docs/diagnostics.md`.
"""

from __future__ import annotations

from itertools import groupby

from sglc.diagnostics.catalogue.codes import CATALOGUE
from sglc.diagnostics.catalogue.entry import Entry

GROUPS = {
    "E01": "Syntax",
    "E02": "Names and types of values",
    "E03": "Types, patterns and holes",
    "E04": "Functions, messages and control flow",
    "E05": "Programs as Python functions",
    "E06": "Compiled programs",
    "E07": "Failures of a run",
    "E08": "Commands",
    "W01": "Warnings: text",
    "W02": "Warnings: meaning",
}
"""Heading of each group of codes, by their first three characters."""

HEAD = """\
# Diagnostics

Every code that `sglc` reports, what it means, and for most a program that shows it with the same program
put right. `sglc explain CODE` prints an entry, `sglc check --fix` makes the edits of findings whose repair
is certain ([commands](commands.md#check)). A code begins with `E` where it is an error, with `W` where it is
a warning or a note.

This page is written from the catalogue (`sglc/diagnostics/catalogue/`) by `make docs`; a test compares them.
"""


def page() -> str:
    """The page: a table of all codes, and an entry for each below the heading of its group."""
    entries = [CATALOGUE[code] for code in sorted(CATALOGUE)]
    rows = [f"| [{entry.code}](#{entry.code.lower()}) | {_cell(entry.title)} |" for entry in entries]
    parts = [HEAD, "\n".join(("| Code | Meaning |", "|---|---|", *rows)) + "\n"]
    for group, members in groupby(entries, lambda entry: entry.code[:3]):
        parts.append(f"## {GROUPS[group]}\n")
        parts += [_entry(entry) for entry in members]
    return "\n".join(parts)


def _entry(entry: Entry) -> str:
    text = f"### {entry.code}\n\n**{_capital(entry.title)}.** {entry.explanation.strip()}\n"
    examples = (
        ("Reported", entry.bad, "sgl"),
        ("Accepted", entry.good, "sgl"),
        ("Reported", entry.bad_python, "python"),
        ("Accepted", entry.good_python, "python"),
    )
    for word, example, language in examples:
        if example.strip():
            text += f"\n{word}:\n\n{_fenced(example, language)}"
    return text


def _fenced(example: str, language: str) -> str:
    fence = "```"
    while fence in example:
        fence += "`"
    return f"{fence}{language}\n{example.strip(chr(10))}\n{fence}\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
