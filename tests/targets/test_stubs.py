"""The target `stubs`: held against the objects that Python really sees, and judged by mypy."""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest

import sglc.api
from checkout import EXAMPLES, ROOT
from sglc.cli import main
from sglc.driver import write_target
from sglc.python.typed import CallOptions, Run, SglFunction
from sglc.runtime.results import RunResult
from sglc.source import Source
from sglc.targets import stubs

PYRIGHT = os.environ.get("SGLC_BASEDPYRIGHT") or shutil.which("basedpyright") or ""

PROGRAM = """\
record Crew:  ## One member.
    name: str max 20 chars
    note?: str
    level: int in 1..9 = 1
    pay: decimal
    pair: (Post, float)
    chief: Crew?

enum Post: pilot, medic, None

union Mail:
    Invoice:
        total: decimal = 1
        currency: "EUR" | "USD" | 3
    Other

type Names = [Post; 1..4]
type Member = Crew

## Finds one.
fn find(theme: str, class: Names, at: {str: int} = {}) -> Member:
    user: | ${theme} ${class} ${at}
    assistant: | ?{crew: Crew max 60 tok}
    return crew

pure fn mail(x: json) -> Mail?:
    return null
"""
USE = """\
import asyncio
import crew

def use(mail: crew.Mail) -> str:
    match mail:
        case crew.Mail.Invoice(currency="EUR"):
            return "EUR"
        case crew.Mail.Other():
            return "other"
    made = crew.find("a", [crew.Post.pilot], seed_=3)
    post, weight = made.pair
    level: int = made.level
    again = crew.Crew("a", made.pay, (post, weight), None, note="x")
    with crew.find.stream("b", class_=[post]) as stream:
        for piece in stream:
            print(piece.kind)
    member: crew.Member = stream.value
    print(crew.find.run("c", []).value.name, crew.find.signature, again, member, level)
    found = crew.mail({"a": 1})
    return "" if found is None else str(found)

async def wait() -> crew.Crew:
    return await crew.find.aio("d", [], {"a": 1})

print(asyncio.run(wait()).note)
"""
KINDS = """\
pub type Row = sql table "create table row (id integer not null, label varchar(9), at date not null)"
pub type Point = typescript "interface Point { x: number; y?: number; tags: string[] }"
pub type Schema = json schema {"type": "array", "items": {"type": "integer"}}
pub type Code = "none" | (str matching /[0-9]{4}/)

grammar sums:
    start: DIGIT ("+" DIGIT)*
    DIGIT: /[0-9]/

pub union Tree:
    Leaf:
        value: int in 1..9
    Node:
        left: Tree
        right: Tree

## Every kind of type.
pub record Kinds:
    text: str
    one: line
    many: lines
    whole: int multiple of 5
    exact: decimal in 0..9
    real: float
    yes: bool
    nothing: null
    euro: "EUR"
    three: 3 | true
    code: Code
    perhaps: [int?]?
    pairs: {str: (int, [str]); ..8}
    any: json
    listed: Schema
    sum: sums
    row: Row
    point: Point
    tree: Tree

pub pure fn same(kinds: Kinds) -> Kinds:
    return kinds

pub pure fn nothing():
    return

pub pure fn both(trees: [Tree], row: Row | Point) -> (Tree?, Row | Point):
    return (trees[0], row)
"""
KINDS_USE = """\
from collections.abc import Coroutine
from decimal import Decimal
from typing import Any, Literal, assert_type
import sglc
import kinds

def use(one: kinds.Kinds) -> None:
    assert_type(one.text, str)
    assert_type(one.one, str)
    assert_type(one.many, str)
    assert_type(one.whole, int)
    assert_type(one.exact, Decimal)
    assert_type(one.real, float)
    assert_type(one.yes, bool)
    assert_type(one.nothing, None)
    assert_type(one.euro, Literal["EUR"])
    assert_type(one.three, Literal[3, True])
    assert_type(one.code, Literal["none"] | str)
    assert_type(one.perhaps, list[int | None] | None)
    assert_type(one.pairs, dict[str, tuple[int, list[str]]])
    assert_type(one.any, Any)
    assert_type(one.listed, Any)
    assert_type(one.sum, str)
    assert_type(one.row.label, str | None)
    assert_type(one.point.x, float)
    assert_type(one.point.tags, list[str])
    match one.tree:
        case kinds.Tree.Leaf(value=value):
            assert_type(value, int)
        case kinds.Tree.Node(left=left):
            assert_type(left, kinds.Tree)
        case _:
            pass
    assert_type(kinds.same(one), kinds.Kinds)
    waiting: Coroutine[Any, Any, kinds.Kinds] = kinds.same.aio(one, seed_=1)
    waiting.close()
    assert_type(kinds.same.run(kinds=one, decode_="local").value, kinds.Kinds)
    assert_type(kinds.same.stream(one, trace_=print).value, kinds.Kinds)
    kinds.nothing()

def ask(same: sglc.SglFunction[[kinds.Kinds], kinds.Kinds], one: kinds.Kinds) -> kinds.Kinds:
    return same(one)

def pass_on(one: kinds.Kinds) -> kinds.Kinds:
    return ask(kinds.same, one)
"""
WRONG = """\
import crew
crew.find(3, [])
crew.find("a", ["pilot"])
crew.find("a", [], seed=1)
crew.Crew("a").name
x: int = crew.find.run("a", []).value
crew.Mail.Third
"""


def _literal(value: object) -> str:
    return ast.unparse(ast.Constant(value))


def shown(annotation: Any) -> str:
    """An annotation as the stub writes it."""
    if annotation in (None, NoneType):
        return "None"
    if annotation is Any:
        return "Any"
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return " | ".join(map(shown, arguments))
    if origin is Literal:
        return f"Literal[{', '.join(map(_literal, arguments))}]"
    if origin is not None:
        return f"{origin.__name__}[{', '.join(map(shown, arguments)) or '()'}]"
    name = annotation.__sgl__.name if hasattr(annotation, "__sgl__") else ""
    if "." in name:  # of another module, or inside of an imported type: no attribute of the program
        return f"_{name.replace('.', '_')}"
    return str(annotation.__qualname__)


def classes_in(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.ClassDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield prefix + node.name, node
            yield from classes_in(node, f"{prefix}{node.name}.")


def fields_of(node: ast.ClassDef) -> dict[str, tuple[str, bool]]:
    """Annotated names with their annotations, and whether they are given by name alone."""
    found: dict[str, tuple[str, bool]] = {}
    by_name = False
    for each in node.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            if ast.unparse(each.annotation) == "KW_ONLY":
                by_name = True
                continue
            assert (each.value is not None) == by_name
            found[each.target.id] = (ast.unparse(each.annotation), by_name)
    return found


def agree(text: str, module: sglc.api.Module) -> None:
    tree = ast.parse(text)
    written = dict(classes_in(tree))
    for name, made in module.types.items():
        if "." in name:
            continue
        variants = [
            each for each in vars(made).values() if isinstance(each, type) and "__sgl__" in vars(each)
        ]
        for each in [made, *variants]:
            node = written[each.__qualname__]
            if dataclasses.is_dataclass(each):
                real = {f.name: (shown(f.type), f.kw_only) for f in dataclasses.fields(each)}
                assert fields_of(node) == real
                assert list(fields_of(node)) == sorted(real, key=lambda field: real[field][1])
            elif issubclass(each, enum.Enum):
                members = {n.targets[0].id: n.value.value for n in node.body if isinstance(n, ast.Assign)}
                assert members == {member.name: member.value for member in each}
    functions = {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name != "_function"
    }
    assert list(functions) == list(module.functions)
    for name, function in module.functions.items():
        node = functions[name]
        assert [ast.unparse(each) for each in node.decorator_list] == ["_function"]
        signature = inspect.signature(function)
        assert node.returns is not None and ast.unparse(node.returns) == shown(signature.return_annotation)
        given = [(a.arg, a.annotation and ast.unparse(a.annotation)) for a in node.args.args]
        assert given == [(p.name, shown(p.annotation)) for p in signature.parameters.values()]
        defaults = [p for p in signature.parameters.values() if p.default is not p.empty]
        assert len(node.args.defaults) == len(defaults)
        assert node.args.kwarg is not None and node.args.kwarg.annotation is not None
        assert ast.unparse(node.args.kwarg.annotation) == "Unpack[CallOptions]"
        assert ast.get_docstring(node) == function.__doc__


def test_the_options_of_a_call_are_said_once_each() -> None:
    options = {f"{name}_" for name in sglc.api._OPTIONS}
    assert set(CallOptions.__annotations__) == options == set(stubs._OPTION_NAMES)


def test_functions_have_the_forms_that_stubs_promise() -> None:
    for form in (SglFunction, Run):
        real = {SglFunction: sglc.api.Function, Run: RunResult}[form]
        for name, said in vars(form).items():
            if name.startswith("_") and name != "__call__":
                continue
            found = inspect.getattr_static(real, name, None)
            if isinstance(said, property):
                assert found is not None or name in inspect.getsource(real), name
            else:
                assert inspect.iscoroutinefunction(found) == inspect.iscoroutinefunction(said), name


def stub_of(text: str, path: str = "crew.sgl") -> str:
    written, found = write_target(Source(path, text), "stubs")
    assert written, found
    return written


@pytest.mark.parametrize("program", [PROGRAM, KINDS])
def test_stubs_agree_with_what_python_sees(program: str) -> None:
    agree(stub_of(program), sglc.loads(program))


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sgl")), ids=lambda path: path.stem)
def test_stubs_of_the_examples_agree(path: Path) -> None:
    agree(stub_of(path.read_text(encoding="utf-8"), str(path)), sglc.load(path))


EDGES = """\
type Word = str?
pub record A:
    h: "a" | 3 | "x | [y"
    i?: Word
    j: [Word]
    k: [1 | null] | null

pub record B:
    a: Word
"""


def test_unions_are_flat_and_literals_hide_no_type() -> None:
    text = stub_of(EDGES)
    agree(text, sglc.loads(EDGES))
    assert "i: str | None = ..." in text and "# Lost" not in text


def test_a_field_that_hides_a_type_is_lost() -> None:
    text, found = write_target(Source("p.sgl", "pub record A:\n    str: int\n    b: str\n"), "stubs")
    assert text == "" and "a field with the name of a type, at A.b" in found[-1].message
    source = Source("p.sgl", "pub record Enum:\n    str: int\n    b: str\n")
    text, found = write_target(source, "stubs", allow_wider=True)
    assert [d.code for d in found] == ["W0224", "W0224"]
    lost = [line for line in text.splitlines() if line.startswith("# Lost: ")]
    assert lost == [
        "# Lost: a type of this name, at Enum; instead: a class that is called _Enum",
        "# Lost: a field with the name of a type, at Enum.b; instead: `Any`",
    ]
    assert "class _Enum:" in text and "b: Any" in text


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with right and wrong uses of a program, its stub, and sglc as checkers find it."""
    package = tmp_path / "packages" / "sglc"
    package.mkdir(parents=True)
    for part in (
        *(ROOT / "sglc").iterdir(),
        ROOT / "runtime",
        ROOT / "kernels",
        ROOT / "stdlib",
        ROOT / "grammar",
    ):
        (package / part.name).symlink_to(part)
    (tmp_path / "crew.sgl").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "kinds.sgl").write_text(KINDS, encoding="utf-8")
    assert main(["stubs", str(tmp_path)]) == 0
    (tmp_path / "kinds_use.py").write_text(KINDS_USE, encoding="utf-8")
    (tmp_path / "right.py").write_text(USE, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    return tmp_path


def refused(project: Path, command: list[str], mark: str) -> set[str]:
    """`FILE:LINE` of each error that a checker tells, once."""
    done = subprocess.run(
        command,
        cwd=project,
        env={**os.environ, "MYPYPATH": "packages"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = {line.partition(mark)[0].strip() for line in done.stdout.splitlines() if mark in line}
    return {":".join(Path(line).name.split(":")[:2]) for line in lines} or {done.stdout + done.stderr}


USES = ("right.py", "kinds_use.py", "wrong.py")
EACH_WRONG_LINE = {f"wrong.py:{number}" for number in range(2, len(WRONG.splitlines()) + 1)}


@pytest.mark.slow
def test_mypy_takes_right_uses_and_no_wrong_ones(project: Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", *USES]
    assert refused(project, command, ": error:") == EACH_WRONG_LINE


@pytest.mark.slow
@pytest.mark.skipif(not PYRIGHT, reason="no basedpyright on PATH, and SGLC_BASEDPYRIGHT not set")
def test_a_second_checker_agrees(project: Path) -> None:
    (project / "pyrightconfig.json").write_text(
        '{"extraPaths": ["packages"], "reportUnusedExpression": false, "reportAny": false,'
        ' "reportExplicitAny": false, "reportMissingModuleSource": false}',
        encoding="utf-8",
    )
    found = refused(project, [PYRIGHT, *USES], " - error:")
    assert found == EACH_WRONG_LINE


def test_the_command_writes_what_the_target_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "crew.sgl"
    program.write_text(PROGRAM, encoding="utf-8")
    assert main(["stubs", str(program)]) == 0
    written = (tmp_path / "crew.pyi").read_text(encoding="utf-8")
    assert written == stub_of(PROGRAM)
    assert "crew.pyi" in capsys.readouterr().out
    assert main(["stubs", str(program), "-o", "-"]) == 0
    assert capsys.readouterr().out == written
    assert main(["stubs", str(tmp_path)]) == 0, "a folder stands for the programs in it"
    (tmp_path / "other.sgl").write_text(KINDS, encoding="utf-8")
    assert main(["stubs", str(tmp_path), "-o", str(tmp_path / "x.pyi")]) == 2, "two programs, one output"
    assert main(["stubs", str(tmp_path / "crew.sglb")]) == 2


def test_the_command_writes_nothing_of_a_program_with_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong, right, lost = (tmp_path / name for name in ("wrong.sgl", "right.sgl", "lost.sgl"))
    wrong.write_text("pub record A:\n    n: Nowhere\n", encoding="utf-8")
    right.write_text("pub record A:\n    n: int\n", encoding="utf-8")
    lost.write_text("pub record A:\n    str: int\n    b: str\n", encoding="utf-8")
    assert main(["stubs", str(wrong), str(right), str(lost)]) == 1
    assert [path.name for path in sorted(tmp_path.glob("*.pyi"))] == ["right.pyi"]
    said = capsys.readouterr().err
    assert "E0204" in said or "Nowhere" in said
    assert "E0817" in said
    assert main(["stubs", str(lost), "--allow-wider"]) == 0
    assert "# Lost: " in (tmp_path / "lost.pyi").read_text(encoding="utf-8")
