"""The page that lists the standard library, made from the modules and their comments.

`make docs` writes it to `docs/library.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

_HEADER = re.compile(r"pub (?:(?P<kind>type|record|enum|union|error|const|grammar) )?(?P<rest>.*)")
_NAME = re.compile(r"(?:pure |aside |tool )?(?:fn |part |aside )?(?P<name>\w+)")
_INTRODUCTION = """# Standard library

The modules are written in SGL and come with the language; `use std.time (date, days_between)` imports from
one. What a function asks a model is in its file in `stdlib/`, to be read and copied where a program wants
other words. The grammars of the library (`import grammar std.json`) are in
[grammars.md](grammars.md#grammars-of-the-library).
"""


@dataclass(frozen=True)
class Exported:
    """A public declaration: its kind (`fn` where it is a function), its header as written, its comment."""

    kind: str
    name: str
    header: str
    comment: str


def page() -> str:
    """The text of `docs/library.md`."""
    folder = files("sglc.stdlib")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sgl"))
    parts = [_INTRODUCTION]
    for name in names:
        parts.append(_module(name.removesuffix(".sgl"), (folder / name).read_text(encoding="utf-8")))
    return "\n".join(parts)


def exported(text: str) -> Iterator[Exported]:
    """The public declarations of a module in their order."""
    comment: list[str] = []
    for line in text.splitlines():
        if line.startswith("## "):
            comment.append(line[3:])
            continue
        if header := _HEADER.fullmatch(line):
            named = _NAME.match(header["rest"])
            assert named is not None, line
            shown = header["rest"].split("  ##")[0].rstrip()
            yield Exported(header["kind"] or "fn", named["name"], shown, " ".join(comment))
        comment = []


def _module(name: str, text: str) -> str:
    """The section of one module: types first, then functions."""
    about, _, _ = text.partition("\n\n")
    lines = [f"## std.{name}", "", *(line.removeprefix("##").strip() for line in about.splitlines()), ""]
    found = list(exported(text))
    kinds = [one for one in found if one.kind != "fn"]
    if kinds:
        lines += ["| type | |", "|---|---|"]
        lines += [f"| `{one.name}` | {_cell(one.comment)} |" for one in kinds] + [""]
    functions = [one for one in found if one.kind == "fn"]
    if functions:
        lines += ["| function | |", "|---|---|"]
        lines += [f"| `{_cell(one.header.rstrip(':'))}` | {_cell(one.comment)} |" for one in functions] + [""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
