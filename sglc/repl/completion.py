"""What may be meant by a word that is being typed. Everything that completes asks `complete`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sglc.repl.session import ReplSession
from sglc.syntax.parser import language

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")
TYPES = ("str", "int", "decimal", "float", "bool", "null", "json", "line", "lines")
ROLES = ("system", "user", "assistant", "tool")
FUNCTIONS = ("len", "sum", "str", "min", "max", "sorted", "range", "abs", "round", "schema")
MOST = 200


@dataclass(frozen=True, slots=True)
class Completion:
    """`text` stands in the place of the last `length` characters. `kind` is a word about it."""

    text: str
    length: int
    kind: str


def complete(session: ReplSession, text: str, commands: Iterable[str] = ()) -> list[Completion]:
    """What may stand at the end of a text, what is nearest first: commands, names of files behind `:load` and
    the like, else names of the session, types and words of the language."""
    if text.startswith(":") and "\n" not in text:
        word, blank, rest = text.partition(" ")
        if not blank:
            found = [each for each in commands if each.startswith(word)]
            return [Completion(each, len(word), "command") for each in found]
        if word in (":load", ":save", ":trace"):
            return _files(rest.strip())
        if word not in (":type", ":preview", ":plan", ":mask"):
            return []
        text = rest
    line = text.rpartition("\n")[2]
    if _is_prompt_text(line):
        return []
    match = _WORD.search(line)
    word = match.group() if match else ""
    if not word or line[: -len(word)].endswith("."):
        return []
    known: dict[str, str] = {}
    for name in session.state.variables:
        known[name] = "variable"
    for declared in session.state.declared:
        for name in declared.names if declared.kind != "test" else ():
            known.setdefault(name, declared.kind)
    for kind, words in (("type", TYPES), ("role", ROLES), ("built in", FUNCTIONS), ("keyword", _keywords())):
        for each in words:
            known.setdefault(each, kind)
    found = [name for name in known if name.startswith(word) and name != word]
    return [Completion(name, len(word), known[name]) for name in found[:MOST]]


def _keywords() -> list[str]:
    return sorted(word for word in language().machine.literals if word.isidentifier() and len(word) > 1)


def _is_prompt_text(line: str) -> bool:
    """Whether the end of a line is text for the model: behind a bar, outside of inserts and holes."""
    bar = re.match(r"\s*(?:\w+:\s*)?\|", line)
    if bar is None:
        return False
    rest = line[bar.end() :]
    opened = max(rest.rfind("${"), rest.rfind("?{"))
    return opened < 0 or "}" in rest[opened:]


def _files(start: str) -> list[Completion]:
    path = Path(start)
    folder = path if start.endswith("/") else path.parent
    name = "" if start.endswith("/") else path.name
    try:
        entries = sorted(each for each in folder.iterdir() if each.name.startswith(name))
    except (OSError, ValueError):
        return []
    shown = [
        (each.name + "/" if each.is_dir() else each.name) for each in entries if name or each.name[0] != "."
    ]
    return [Completion(each, len(name), "file") for each in shown[:MOST]]
