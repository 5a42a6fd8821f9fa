"""The layer law: which room may import which, read from the files with `ast`, late imports included.

A room is a package or a top-level module of sglc. The table says what each room may import besides itself;
whatever is not in it is refused. Third-party packages have rooms of their own too: a parser generator in one
place, tensors in one place.
"""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from checkout import ROOT
from late import LOADED_BY_COLLECTION
from layers import LAW, OPEN, THIRD_PARTY
from source_tree import MAPPED, module_name, source_files


def room_of(module: str) -> str:
    """The longest room of the law that holds a module; the module itself where none does."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        room = ".".join(parts[:length])
        if room in LAW and (room not in ("sglc", "sglc.runtime") or length == len(parts)):
            return room
    return module


class Imported(NamedTuple):
    """One name of an import."""

    line: int
    name: str
    """`from sglc.x import y` is `sglc.x.y`, because y may be a module; the room is the same either way.
    Relative imports keep their dots."""
    for_types: bool = False
    """Whether it stands under `if TYPE_CHECKING`: classes may name each other there."""


def imports(text: str) -> list[Imported]:
    """Every import in a file, whatever it stands inside of."""
    tree = ast.parse(text)
    found = list(_import_statements(tree, False))
    if "import_module" in text or "__import__" in text:
        found += _import_calls(tree)
    return found


@functools.cache
def imports_of(path: Path) -> list[Imported]:
    return imports(path.read_text(encoding="utf-8"))


def _import_statements(parent: ast.AST, for_types: bool) -> Iterator[Imported]:
    for part in ("body", "orelse", "handlers", "cases", "finalbody"):
        hidden = for_types or (part == "body" and _is_for_types(parent))
        for node in getattr(parent, part, ()):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield Imported(node.lineno, alias.name, hidden)
            elif isinstance(node, ast.ImportFrom):
                base = "." * node.level + (node.module or "")
                for alias in node.names:
                    yield Imported(node.lineno, f"{base}.{alias.name}", hidden)
            else:
                yield from _import_statements(node, hidden)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _import_calls(tree: ast.AST) -> Iterator[Imported]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute | ast.Name)
            and (node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id)
            in ("import_module", "__import__")
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            yield Imported(node.lineno, node.args[0].value)


def breaches(path: Path, root: Path = ROOT) -> list[str]:
    """What a file does against the law, one line each."""
    module = module_name(path, root)
    room = room_of(module)
    found: list[str] = []
    if room not in LAW:
        return [f"{module}: no room of that name in the law"]
    face = path.name == "__init__.py" and module not in ("sglc", "sglc.runtime.mask", "sglc.notebook")
    if face and not _is_a_docstring(ast.parse(path.read_text(encoding="utf-8"))):
        found.append(f"{module}: an __init__ holds a docstring and nothing else")
    for line, name, _ in imports_of(path):
        where = f"{module}:{line}"
        top = name.split(".")[0]
        if name.startswith("."):
            found.append(f"{where}: relative import {name}")
        elif top in MAPPED:
            found.append(f"{where}: bare import of {name}, write sglc.{name}")
        elif top == "pickle":
            found.append(f"{where}: pickle")
        elif top == "sglc":
            target = room_of(name) if room_of(name) in LAW else room_of(name.rpartition(".")[0])
            if target != room and target not in LAW[room] and target != "sglc":
                found.append(f"{where}: {room} may not import {target}")
            if target == "sglc" and name not in ("sglc.__version__", "sglc"):
                found.append(f"{where}: {name} is in no room")
        elif top in THIRD_PARTY:
            if room not in THIRD_PARTY[top]:
                found.append(f"{where}: {room} may not import {top}")
        elif top not in sys.stdlib_module_names and top not in OPEN:
            found.append(f"{where}: {top} is in no room")
    return found


def _is_a_docstring(tree: ast.Module) -> bool:
    return len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and ast.get_docstring(tree) is not None


def test_files_import_only_what_their_rooms_may() -> None:
    files = source_files()
    assert len(files) > 1000 and [breach for path in files for breach in breaches(path)] == []


def test_imports_are_found_wherever_they_stand() -> None:
    text = (
        "import a\nif TYPE_CHECKING:\n    from b import c\nelse:\n    import d\n"
        "def f():\n    try:\n        from . import e\n    except E:\n        import_module('g.h')\n"
    )
    assert imports(text) == [
        (1, "a", False),
        (3, "b.c", True),
        (5, "d", False),
        (8, "..e", False),
        (10, "g.h", False),
    ]


@pytest.fixture(scope="module")
def imported() -> dict[str, dict[str, set[str]]]:
    """Module to the modules of ours that it imports: at run time, and in all (with `TYPE_CHECKING`)."""
    modules = {module_name(path): path for path in source_files()}
    found: dict[str, dict[str, set[str]]] = {"at run time": {}, "in all": {}}
    for name, path in modules.items():
        each = imports_of(path)
        for when, some in (("in all", each), ("at run time", [one for one in each if not one.for_types])):
            targets = {
                next((module for module in (full, full.rpartition(".")[0]) if module in modules), name)
                for _, full, _ in some
            }
            found[when][name] = {
                target for target in targets if target != name and modules[target].name != "__init__.py"
            }
    return found


@pytest.mark.slow
def test_no_modules_import_each_other_in_a_cycle(imported: dict[str, dict[str, set[str]]]) -> None:
    assert cycles(imported["at run time"]) == []


def test_no_packages_import_each_other_in_a_cycle(imported: dict[str, dict[str, set[str]]]) -> None:
    """Imports for types count, too. The modules of `sglc` and `runtime` themselves are rooms of their own."""

    def package(module: str) -> str:
        parent = module.rpartition(".")[0]
        return module if parent in ("sglc", "sglc.runtime", "") else parent

    graph: dict[str, set[str]] = {}
    for name, targets in imported["in all"].items():
        if name not in ("sglc", "sglc.runtime"):
            graph.setdefault(package(name), set()).update(map(package, targets))
    assert cycles({name: targets - {name} for name, targets in graph.items()}) == []


def cycles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Names that lead back to themselves, a path of each that is found."""
    found: list[list[str]] = []
    done: set[str] = set()

    def visit(name: str, trail: list[str]) -> None:
        if name in trail:
            found.append([*trail[trail.index(name) :], name])
        elif name not in done:
            for target in sorted(graph.get(name, ())):
                visit(target, [*trail, name])
            done.add(name)

    for name in sorted(graph):
        visit(name, [])
    return found


def test_a_cycle_is_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c", "d"}, "c": set(), "d": {"b"}}) == [["b", "d", "b"]]


MOST_FILES = 16
"""Python files of a room, its `__init__` counted: what one can look over."""


def test_every_room_can_be_looked_over() -> None:
    folders = {path.parent for folder in ("sglc", *MAPPED, "tests") for path in (ROOT / folder).rglob("*.py")}
    sizes = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {folder: size for folder, size in sizes.items() if size > MOST_FILES} == {}


def test_the_law_itself_has_no_upward_arrow() -> None:
    """The rooms can be put in one order in which each imports only earlier ones."""
    placed: set[str] = set()
    rest = set(LAW) - {"sglc"}
    while rest:
        free = {room for room in rest if LAW[room] - {"sglc", room} <= placed}
        assert free, f"a cycle among {sorted(rest)}"
        placed |= free
        rest -= free


PLANTED = {
    "an upward import": (
        "sglc/automata/x.py",
        "from sglc.types.type import Str",
        "may not import sglc.types",
    ),
    "a late import": (
        "runtime/vm/x.py",
        "def f():\n    from sglc.syntax.parse import parse\n    return parse",
        "may not import sglc.syntax",
    ),
    "an import for types only": (
        "sglc/types/x.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sglc.check.core.result import Symbol",
        "may not import sglc.check",
    ),
    "a relative import": ("sglc/ir/x.py", "from .ops import Op", "relative import"),
    "a bare import": ("sglc/cli.py", "import runtime.session", "bare import"),
    "an import by name": (
        "sglc/check/x.py",
        "import importlib\nm = importlib.import_module('torch')",
        "may not import torch",
    ),
    "a package in the wrong room": ("sglc/check/x.py", "import lark", "may not import lark"),
    "an unknown package": ("sglc/check/x.py", "import leftpad", "is in no room"),
    "a package under an import of several": (
        "sglc/check/x.py",
        "import os, torch.nn",
        "may not import torch",
    ),
    "a face with code": ("runtime/vm/__init__.py", '"""Doc."""\nX = 1', "docstring and nothing else"),
    "a face without a docstring": ("runtime/vm/__init__.py", "", "docstring and nothing else"),
    "pickle": ("sglc/bytecode/x.py", "import pickle", "pickle"),
    "a room that is not in the law": ("sglc/manager.py", "X = 1", "no room of that name"),
    "the engine reaching up to the session": (
        "runtime/engine/x.py",
        "from sglc.runtime.session import Session",
        "may not import sglc.runtime.session",
    ),
}


@pytest.mark.parametrize("case", PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_breach_is_caught(case: tuple[str, str, str], tmp_path: Path) -> None:
    where, text, message = case
    path = tmp_path / where
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert any(message in line for line in breaches(path, tmp_path)), breaches(path, tmp_path)


def test_what_is_allowed_is_not_caught(tmp_path: Path) -> None:
    path = tmp_path / "sglc/commands/x.py"
    path.parent.mkdir(parents=True)
    path.write_text(
        "import json\nimport click\nfrom sglc import __version__\n"
        "def f():\n    from sglc.runtime.session import Session\n    import rich.console\n",
        encoding="utf-8",
    )
    assert breaches(path, tmp_path) == []


def test_collection_imports_nothing_heavy(pytestconfig: pytest.Config) -> None:
    """torch and transformers take three seconds, mcp one: a test that is run by its name does not wait for
    them."""
    assert pytestconfig.stash[LOADED_BY_COLLECTION] == []


def test_the_mask_engine_stands_alone() -> None:
    """A mask is compiled and found without commands, syntax, templates or a model: engines embed it."""
    code = (
        "import sys\n"
        "import numpy as np\n"
        "from sglc.runtime.mask import compile_constraint\n"
        "from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary\n"
        "vocabulary = Vocabulary([bytes([byte]) for byte in range(256)])\n"
        "matcher = compile_constraint(json_schema={'type': 'integer'}).matcher(vocabulary)\n"
        "row = np.zeros(vocabulary.words, np.int32)\n"
        "matcher.fill_mask(row)\n"
        "heavy = {'click', 'rich', 'jinja2', 'lark', 'tokenizers', 'torch'} & set(sys.modules)\n"
        "rooms = {name.split('.')[1] for name in sys.modules if name.startswith('sglc.')}\n"
        "print(sorted(heavy), int(np.unpackbits(row.view(np.uint8)).sum()), sorted(rooms))\n"
    )
    run = subprocess.run(
        [sys.executable, "-P", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    rooms = ["automata", "cache_files", "immutable", "kernels", "runtime", "schema"]
    assert run.stdout == f"[] 11 {rooms}\n"
