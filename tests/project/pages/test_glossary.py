"""docs/GLOSSARY.md: retired words stand in no name and no docstring."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from checkout import DOCS, ROOT
from source_tree import source_files

KINDS = ("class", "name", "word")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True)
class Retired:
    word: str
    instead: str
    kind: str
    rooms: tuple[str, ...]
    """Folders in which the word is retired; none for all."""


Lines = dict[str, set[int]]
"""The lines on which a word stands."""


@dataclass(frozen=True)
class Said:
    """What the names and docstrings of a file say, by line."""

    classes: Lines
    """Names of classes, and of types that are assigned (`Work = list[…]`), without `_` in front."""
    parts: Lines
    """Parts of names, in lower case."""
    words: Lines
    """Words of docstrings, in lower case."""


def retired_words(page: str) -> list[Retired]:
    """The table under the heading "Retired words"."""
    table = page.partition("## Retired words")[2]
    found = []
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0] != "retired":
            words, instead, kind, where = cells
            rooms = tuple(re.findall(r"`([\w/]+)`", where))
            assert kind in KINDS and (rooms or where == "everywhere"), line
            found += [Retired(word, instead, kind, rooms) for word in words.split(", ")]
    return found


def statements(tree: ast.Module) -> Iterator[tuple[bool, str, int]]:
    """(whether it is a name, text, line) of all that a file defines or assigns, and of its docstrings, those
    behind attributes too: every statement that is a text."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield True, name, node.lineno
            case ast.arg(arg=name):
                yield True, name, node.lineno
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield True, name, node.lineno
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield False, text, node.lineno
        waiting += ast.iter_child_nodes(node)


@cache
def said(path: Path) -> Said:
    classes: Lines = defaultdict(set)
    parts: Lines = defaultdict(set)
    words: Lines = defaultdict(set)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for is_name, text, line in [(True, path.stem, 1), *statements(tree)]:
        if not is_name:
            for word in re.findall(r"[A-Za-z]+", text):
                words[word.lower()].add(line)
            continue
        if re.fullmatch(r"_?[A-Z]+[a-z]\w*", text):
            classes[text.lstrip("_")].add(line)
        for part in PART.findall(text):
            parts[part.lower()].add(line)
    return Said(dict(classes), dict(parts), dict(words))


def places(path: Path, retired: Retired) -> list[int]:
    """The lines on which a file says a retired word."""
    file = said(path)
    if retired.kind == "class" or not retired.word.islower():
        return sorted(file.classes.get(retired.word, ()))
    documented = file.words.get(retired.word, set()) if retired.kind == "word" else set()
    return sorted(file.parts.get(retired.word, set()) | documented)


def uses(files: Iterable[Path], words: Iterable[Retired], root: Path = ROOT) -> dict[str, list[str]]:
    """`word room` to the places where a retired word stands, with what to say instead."""
    found: dict[str, list[str]] = {}
    words = list(words)
    for path in files:
        name = str(path.relative_to(root))
        room = str(path.parent.relative_to(root))
        for retired in words:
            if retired.rooms and not any(room == r or room.startswith(r + "/") for r in retired.rooms):
                continue
            for line in places(path, retired):
                place = f"{name}:{line}: {retired.word}: say {retired.instead}"
                found.setdefault(f"{retired.word} {room}", []).append(place)
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    page = (DOCS / "GLOSSARY.md").read_text(encoding="utf-8")
    return uses(source_files(), retired_words(page))


@pytest.mark.slow
def test_retired_words_stand_nowhere_else(found: dict[str, list[str]]) -> None:
    assert [place for _, places in sorted(found.items()) for place in places] == []


def test_every_term_is_defined_in_a_module_that_is_there() -> None:
    page = (DOCS / "GLOSSARY.md").read_text(encoding="utf-8").partition("## Retired words")[0]
    rows = re.findall(r"^\| (?!word |---)(.+?) \| (.+) \| `([\w/.]+\.py)` \|$", page, re.M)
    assert len(rows) == len(re.findall(r"^\| (?!word \||---)", page, re.M)) >= 60
    assert [path for _, _, path in rows if not (ROOT / path).is_file()] == []


TABLE = """## Retired words

| retired | say instead | as | in |
|---|---|---|---|
| leaf | lexeme | word | `runtime/mask` |
| Work | Worklist | class | everywhere |
| bar | forbidden next | name | everywhere |
"""


@pytest.mark.parametrize(
    ("path", "text", "due"),
    [
        ("runtime/mask/x.py", "class LeafTable: pass", ["leaf runtime/mask"]),
        ("runtime/mask/nodes/x.py", 'X = 1\n"""Each leaf."""', ["leaf runtime/mask/nodes"]),
        ("runtime/mask/leaf_walk.py", "", ["leaf runtime/mask"]),
        ("runtime/mask/x.py", "leaflet = 1", []),
        ("runtime/kv/x.py", "leaf = 1", []),
        ("sglc/x.py", "Work = list[int]", ["Work sglc"]),
        ("sglc/x.py", "class WorkAccount:\n    def work(self): pass", []),
        ("sglc/x.py", 'def f(bar): """A bar."""', ["bar sglc"]),
        ("sglc/x.py", '"""A bar."""', []),
    ],
)
def test_a_retired_word_is_found_where_it_is_meant(
    path: str, text: str, due: list[str], tmp_path: Path
) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    assert sorted(uses([file], retired_words(TABLE), tmp_path)) == due
