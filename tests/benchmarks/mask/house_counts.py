"""Lines and named thresholds of the mask engine: its own rooms, and those that only it uses.

    python tests/benchmarks/mask/house_counts.py [--each] [--root CHECKOUT]

A threshold is a constant of a module that is a number and bounds something: it is compared by order with what
is met (`<`, `<=`, `>`, `>=`), or is an argument of `min`, `max` or of a cache. Units of work, bytes, bits and
kinds are no thresholds.
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Iterator
from pathlib import Path

ROOMS = ("runtime/mask", "kernels", "sglc/automata", "sglc/cfg", "sglc/schema")
LEFT_OUT = ("kernels/llama", "kernels/triton")
BOUNDS = ("min", "max", "BoundedCache", "LeastUsed", "lru_cache", "small_cache")
"""Functions whose arguments bound what they make."""


def files(root: Path, room: str) -> list[Path]:
    """The modules of a room and of those inside."""
    left_out = [root / folder for folder in LEFT_OUT]
    return [
        path
        for path in sorted((root / room).rglob("*.py"))
        if not any(path.is_relative_to(folder) for folder in left_out)
    ]


def numbers_of(tree: ast.Module) -> dict[str, int]:
    """The constants of a module that are numbers, with their lines."""
    found: dict[str, int] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_number(value):
                found[name] = statement.lineno
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for name, value in zip(names, values, strict=False):
                    if isinstance(name, ast.Name) and _is_number(value):
                        found[name.id] = statement.lineno
    return {name: line for name, line in found.items() if name.isupper()}


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_number(node.left) and _is_number(node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def bounding(tree: ast.Module) -> set[str]:
    """The names that bound something in a module."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for before, order, after in zip(sides, node.ops, sides[1:], strict=False):
                if isinstance(order, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
                    found |= set(_names(before)) | set(_names(after))
        elif isinstance(node, ast.Call) and _names_of_call(node) & set(BOUNDS):
            found |= {name for argument in node.args for name in _names(argument)}
    return found


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


def thresholds(paths: list[Path]) -> list[tuple[Path, int, str]]:
    """(module, line, name) of all thresholds of some modules, which may compare those of each other."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in paths}
    public = {name for tree in trees.values() for name in bounding(tree) if not name.startswith("_")}
    found = []
    for path, tree in trees.items():
        used = bounding(tree) | public
        found += [(path, line, name) for name, line in numbers_of(tree).items() if name in used]
    return found


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
