"""Lines and named thresholds of the mask engine: its own rooms, and those that only it uses.

    python tests/benchmarks/mask/house_counts.py [--each] [--root CHECKOUT]

A threshold is a constant of a module or class that is a number and bounds something: it is compared by order
with what is met (`<`, `<=`, `>`, `>=`), is an argument of `min` or `max` or the size of a cache, or has a
name that says so (`BOUNDING`), whatever is done with it. No thresholds are:

- what is compared by equality only, and names that one statement numbers from -1 or 0 up: kinds and states;
- numbers written in hexadecimal: characters and bits;
- numbers from 2**30 on, which nothing that is counted reaches: costs without end, marks of codes;
- units of work, bytes and bits, which are added up.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import operator
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOMS = ("runtime/mask", "kernels", "sglc/automata", "sglc/cfg", "sglc/schema")
LEFT_OUT = ("kernels/llama", "kernels/triton")
BOUNDS = ("min", "max")
"""Functions whose arguments bound what they give."""
CACHES = ("BoundedCache", "LeastUsed", "lru_cache", "small_cache")
"""Functions whose first argument, or `most` or `maxsize`, bounds what they keep."""
BOUNDING = frozenset("FEW MANY MOST MAX LARGEST LONGEST SMALLEST WIDEST WIDE NEAR DEEP DEEPEST LIMIT".split())
"""Words in names of what bounds something."""
ENDLESS = 1 << 30
"""Nothing that is counted reaches this."""


def files(root: Path, room: str) -> list[Path]:
    """The modules of a room and of those inside."""
    left_out = [root / folder for folder in LEFT_OUT]
    return [
        path
        for path in sorted((root / room).rglob("*.py"))
        if not any(path.is_relative_to(folder) for folder in left_out)
    ]


def numbers_of(text: str) -> dict[str, int]:
    """The constants of a module and its classes that may be thresholds, with their lines."""
    found: dict[str, int] = {}
    body = ast.parse(text).body
    classes = [statement for statement in body if isinstance(statement, ast.ClassDef)]
    for statement in [*body, *[inner for each in classes for inner in each.body]]:
        some = [(name, value, _number(value)) for name, value in _assigned(statement)]
        numbers = [number for _, _, number in some]
        if len(some) > 2 and numbers in ([*range(-1, len(some) - 1)], [*range(len(some))]):
            continue
        for name, value, number in some:
            if name.isupper() and number is not None and number < ENDLESS:
                if not (ast.get_source_segment(text, value) or "").startswith("0x"):
                    found[name] = statement.lineno
    return found


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """(name, value) of what a statement gives names to."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            yield name, value
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
            for target, value in zip(names, values, strict=False):
                if isinstance(target, ast.Name):
                    yield target.id, value


OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.LShift: operator.lshift,
    ast.Pow: operator.pow,
}


def _number(node: ast.expr) -> float | None:
    """The value of an expression of numbers; None for any other."""
    match node:
        case ast.Constant(value=value) if type(value) in (int, float):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _number(operand)
            return None if value is None else -value
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            a, b = _number(left), _number(right)
            return None if a is None or b is None else OPERATORS[type(op)](a, b)
    return None


def bounding(text: str) -> set[str]:
    """The names that bound something in a module."""
    found = {name for name in numbers_of(text) if BOUNDING & set(name.split("_"))}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for before, order, after in zip(sides, node.ops, sides[1:], strict=False):
                if isinstance(order, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                    found |= set(_names(before)) | set(_names(after))
        elif isinstance(node, ast.Call):
            found |= {name for argument in _bounds(node) for name in _names(argument)}
    return found


def _bounds(call: ast.Call) -> list[ast.expr]:
    """The arguments of a call that bound something."""
    called = _names_of_call(call)
    if called & set(BOUNDS):
        return call.args
    if called & set(CACHES):
        return call.args[:1] + [word.value for word in call.keywords if word.arg in ("most", "maxsize")]
    return []


def _names_of_call(node: ast.Call) -> set[str]:
    return {
        part.id if isinstance(part, ast.Name) else part.attr
        for part in ast.walk(node.func)
        if isinstance(part, ast.Name | ast.Attribute)
    }


def _names(node: ast.expr) -> Iterator[str]:
    """The upper-case names that an expression of one side of a comparison is about."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id.isupper():
            yield part.id
        elif isinstance(part, ast.Attribute) and part.attr.isupper():
            yield part.attr


def thresholds(paths: list[Path]) -> list[tuple[Path, int, str]]:
    """(module, line, name) of all thresholds of some modules, which may compare those of each other."""
    texts = {path: path.read_text("utf-8") for path in paths}
    used = {path: bounding(text) for path, text in texts.items()}
    public = {name for names in used.values() for name in names if not name.startswith("_")}
    found = []
    for path, text in texts.items():
        found += [
            (path, line, name)
            for name, line in numbers_of(text).items()
            if name in used[path] or name in public
        ]
    return found


def without_reason(paths: list[Path]) -> list[tuple[Path, int, str]]:
    """The thresholds that no docstring follows."""
    with_reason: dict[Path, set[int]] = {}
    for path in paths:
        body = ast.parse(path.read_text("utf-8")).body
        with_reason[path] = {
            statement.lineno
            for statement, after in itertools.pairwise(body)
            if isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        }
        for each in body:
            if isinstance(each, ast.ClassDef) and ast.get_docstring(each):
                with_reason[path].update(statement.lineno for statement in each.body)
    return [entry for entry in thresholds(paths) if entry[1] not in with_reason[entry[0]]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--each", action="store_true", help="every threshold with its place")
    parser.add_argument("--root", default=Path(__file__).resolve().parents[3], type=Path)
    arguments = parser.parse_args()
    root: Path = arguments.root.resolve()
    every = [path for room in ROOMS for path in files(root, room)]
    found = thresholds(every)
    totals = [0, 0, 0]
    for room in ROOMS:
        paths = files(root, room)
        lines = sum([len(path.read_text("utf-8").splitlines()) for path in paths])
        named = [entry for entry in found if entry[0] in paths]
        print(f"{room:16} {len(paths):4} files {lines:7,} lines {len(named):4} thresholds")
        totals = [a + b for a, b in zip(totals, (len(paths), lines, len(named)), strict=True)]
        for path, line, name in named if arguments.each else ():
            print(f"    {path.relative_to(root)}:{line} {name}")
    print(f"{'all':16} {totals[0]:4} files {totals[1]:7,} lines {totals[2]:4} thresholds")


if __name__ == "__main__":
    main()
