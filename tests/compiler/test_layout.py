"""Layouts: what functions write, in order, what of it varies, and what control decides."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from checkout import ROOT
from golden_case import GoldenCase, golden_cases
from layout_text import picture, shown
from sglc.analysis.layout import LARGEST, layout
from sglc.analysis.layout_items import Called, Constant, Filled, Forked, Inserted, Loop, walk
from sglc.callables.tool_text import PLAIN_CALL, plain_tools
from sglc.driver import lowered
from sglc.ir import ops
from sglc.ir.flow import reachable
from sglc.ir.module import Function, Module
from sglc.ir.read import read
from sglc.options import LEVELS, CompileOptions
from sglc.source import Source
from strategies.ir_strategies import modules

EXAMPLES_FOLDER = ROOT / "examples"
EXAMPLES = sorted(EXAMPLES_FOLDER.glob("*.sgl"))


def compiled(source: Source, level: int = LEVELS[-1]) -> Module:
    module, diagnostics = lowered(source, CompileOptions(level))
    assert module is not None, diagnostics
    return module


@pytest.mark.parametrize("case", golden_cases("layout"), ids=str)
def test_goldens(case: GoldenCase, golden) -> None:
    module = compiled(Source("case.sgl", case.input))
    golden(case, "\n".join(picture(module, f) for f in module.functions if f.kind == "fn" and not f.module))


def written_text(op: ops.Op) -> str:
    """The text that an operation writes whatever the values are."""
    match op:
        case ops.Text(text=text):
            return text
        case ops.CallText(part=part):
            return PLAIN_CALL[part]
        case ops.OfferTools(tools=tools):
            return plain_tools(tools)
    return ""


def check_read_once(module: Module, function: Function) -> None:
    """Every hole and every text of a function, its parts and its forks stands in its layout once."""
    items = [place.item for place in walk(layout(module, function).items)]
    inside = [function]
    for item in items:
        if isinstance(item, Forked) or (isinstance(item, Called) and item.kind == "part" and item.items):
            inside.append(module.function(item.function))
    written = [op for f in inside for block in reachable(f).values() for op in block.ops]
    holes = [op.hole for op in written if isinstance(op, ops.Generate | ops.SelectOption)]
    assert sorted(item.hole for item in items if isinstance(item, Filled)) == sorted(holes)
    text = "".join(map(written_text, written))
    read = "".join(item.text for item in items if isinstance(item, Constant))
    assert sorted(text.replace("\n", "")) == sorted(read.replace("\n", ""))


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_hole_and_text_of_an_example_is_read_once(path: Path, level: int) -> None:
    module = compiled(Source(str(path), path.read_text()), level)
    for function in module.functions:
        if function.kind in ("fn", "part"):
            check_read_once(module, function)


@pytest.mark.slow
@given(module=modules())
@settings(max_examples=60)
def test_every_hole_and_text_of_any_module_is_read_once(module: Module) -> None:
    for function in module.functions:
        if function.kind in ("fn", "part"):
            check_read_once(module, function)


def test_levels_agree_about_what_varies() -> None:
    path = ROOT / "examples" / "character.sgl"

    def varying(level: int) -> list[str]:
        module = compiled(Source(str(path), path.read_text()), level)
        items = [place.item for place in walk(layout(module, module.function("crew")).items)]
        return [shown(module, item) for item in items if isinstance(item, Inserted) and item.origins]

    assert varying(0) == varying(LEVELS[-1]) == ["value (parameter theme)"]


def test_loops_over_constants_have_known_rounds() -> None:
    path = EXAMPLES_FOLDER / "character.sgl"
    module = compiled(Source(str(path), path.read_text()), 0)
    items = [place.item for place in walk(layout(module, module.function("crew")).items)]
    assert [item.times for item in items if isinstance(item, Loop)] == [(3, 3)]


STARTED = """\
module "m"
hole h0 = HoleInfo("g.n", type=Int(minimum=1, maximum=6), stops=("\\n",))

fn @g() -> Int() {
^entry:
  role "assistant"
  %0 = gen h0 ()
  end_role
  return %0
}

fn @f() -> Int() {
^entry:
  start @g ()
  role "user"
  text "x"
  end_role
  %0 = call @g ()
  return %0
}
"""


def test_calls_that_are_started_ahead_are_marked() -> None:
    module = read(STARTED)
    found = [place.item for place in walk(layout(module, module.function("f")).items)]
    assert [item.started for item in found if isinstance(item, Called)] == [True]
    assert [item.started for item in found_without_start()] == [False]


def found_without_start() -> list[Called]:
    other = read(STARTED.replace("  start @g ()\n", ""))
    found = [place.item for place in walk(layout(other, other.function("f")).items)]
    return [item for item in found if isinstance(item, Called)]


@pytest.mark.parametrize(("depth", "expanded"), [(4, True), (24, False)])
def test_parts_that_call_parts_twice_are_expanded_within_a_bound(depth: int, expanded: bool) -> None:
    calls = "    let a = part {0}(n)\n    let b = part {0}(n + 1)\n    return a + b\n"
    parts = "".join(f"part p{k}(n: int) -> int:\n{calls.format(f'p{k - 1}')}" for k in range(1, depth + 1))
    text = f"part p0(n: int) -> int:\n    | ${{n}}\n    return n\n{parts}"
    text += f"pub fn main(n: int) -> int:\n    user:\n        let a = part p{depth}(n)\n    return a\n"
    module, _ = lowered(Source("parts.sgl", text), CompileOptions(level=0))
    assert module is not None
    placed = list(walk(layout(module, module.function("main")).items))
    called = [each.item for each in placed if isinstance(each.item, Called)]
    assert all(call.items for call in called) is expanded
    assert len(called) == 2 ** (depth + 1) - 1 if expanded else len(called) < LARGEST
