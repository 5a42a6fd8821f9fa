"""The target `stubs`: held against the objects that Python really sees, and judged by mypy."""

from __future__ import annotations

import ast
import dataclasses
import enum
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import pytest

import sglc
from checkout import EXAMPLES, ROOT
from sglc.driver import write_target
from sglc.source import Source

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
        node.target.id: written[ast.unparse(node.annotation)]
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert list(functions) == list(module.functions)
    for name, function in module.functions.items():
        forms = {
            n.name: n for n in functions[name].body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert set(forms) == {"__call__", "aio", "run", "stream"}
        assert isinstance(forms["aio"], ast.AsyncFunctionDef) == inspect.iscoroutinefunction(function.aio)
        signature = inspect.signature(function)
        result = shown(signature.return_annotation)
        for form, returned in zip(
            forms, (result, result, f"_Run[{result}]", f"_Stream[{result}]"), strict=True
        ):
            arguments = forms[form].args
            assert ast.unparse(forms[form].returns) == returned
            given = [(a.arg, ast.unparse(a.annotation)) for a in arguments.args[1:]]
            assert given == [(p.name, shown(p.annotation)) for p in signature.parameters.values()]
            defaults = [p for p in signature.parameters.values() if p.default is not p.empty]
            assert len(arguments.defaults) == len(defaults)
            assert {a.arg.removesuffix("_") for a in arguments.kwonlyargs} == set(sglc.api._OPTIONS)


def stub_of(text: str, path: str = "crew.sgl") -> str:
    written, found = write_target(Source(path, text), "stubs")
    assert written, found
    return written


def test_stubs_agree_with_what_python_sees() -> None:
    agree(stub_of(PROGRAM), sglc.loads(PROGRAM))


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


@pytest.mark.slow
def test_mypy_takes_right_uses_and_no_wrong_ones(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
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
    (tmp_path / "crew.pyi").write_text(stub_of(PROGRAM), encoding="utf-8")
    (tmp_path / "right.py").write_text(USE, encoding="utf-8")
    (tmp_path / "wrong.py").write_text(WRONG, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "right.py", "wrong.py"],
        cwd=tmp_path, env={**os.environ, "MYPYPATH": "packages"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = {line.split(": error")[0] for line in done.stdout.splitlines() if ": error" in line}
    assert lines == {f"wrong.py:{number}" for number in range(2, 8)}, done.stdout
