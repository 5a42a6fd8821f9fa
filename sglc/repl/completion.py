"""What may be meant by a word that is being typed. Everything that completes asks `complete`.

Names, fields, members and words come from `sglc.service`, as in editors; only commands and the names of files
behind them are found here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.repl.session import ReplSession
from sglc.repl.typing import declares

if TYPE_CHECKING:
    from sglc.service.writing.completion import Item

MOST = 200


@dataclass(frozen=True, slots=True)
class Completion:
    """`text` stands in the place of the last `length` characters. `label` is what is shown for it, `kind` a
    word about it, `detail` its type or its meaning."""

    text: str
    length: int
    kind: str
    label: str = ""
    detail: str = ""


def complete(session: ReplSession, text: str, commands: Iterable[str] = ()) -> list[Completion]:
    """What may stand at the end of a text, what fits best first: commands, names of files behind `:load` and
    the like, else what an editor offers there. A line on which nothing stands yet takes anything: nothing is
    offered for it."""
    if text.startswith(":") and "\n" not in text:
        word, blank, rest = text.partition(" ")
        if not blank:
            found = [each for each in commands if each.startswith(word)]
            return [Completion(each, len(word), "command", each) for each in found]
        if word in (":load", ":save", ":trace"):
            return _files(rest.strip())
        if word not in (":type", ":preview", ":plan", ":mask"):
            return []
        text = rest
    if not text.rpartition("\n")[2].strip():
        return []
    return _written(session, text)


def _written(session: ReplSession, text: str) -> list[Completion]:
    """What the language has for the end of a text."""
    from sglc.service.writing.completion import complete as completed

    options, typing = session.compiler.options, session.typing
    with typing.lock:
        snapshot, offset, own = typing.snapshot(
            session.compiler.place, session.state, text, allow_outside=options.allow_outside
        )
        at_margin = not text.rpartition("\n")[2][:1].isspace() and not declares(text)
        answer = completed(snapshot, offset, declares=at_margin)
    word = snapshot.text[answer.start : offset]
    every = [
        Completion(_plain(item), len(word), item.kind, item.label, item.detail or item.kind)
        for item in answer.items
        if item.label.startswith(word) and item.label != own
    ]
    return [each for each in every if each.text != word][:MOST]


def _plain(item: Item) -> str:
    """What is written of an item where there are no stops of the cursor: up to the first of them."""
    head = item.insert.partition("$")[0].partition("\n")[0]
    return head if head.strip() else item.label


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
    return [Completion(each, len(name), "file", each) for each in shown[:MOST]]
