"""Recorded runs with functions of Python: a replay answers their calls from the trace and calls nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import sglc
from sglc.bytecode.encoding import decode
from sglc.cli import main
from sglc.recorded.answers import outcome_of
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.vm.state.trace import TraceWriter

PROGRAM = """\
record Item:
    name: str
    price: decimal
enum Size: small, large
error SoldOut(price: decimal, size: Size)
extern py "shop:area" fn area(width: float) -> float effects pure
extern py "shop:find" fn find(name: str) -> Item? effects read
extern py "shop:order" fn order(item: str, n: int in 1..9) -> (str, int) effects write key item raises SoldOut
extern py "shop:note" fn note(text: str) effects write

fn price(name: str) -> str:
    let item = find(name)
    return "none" if item == null else "${item.price} ${area(0.1)}"

pub fn f(names: [str]) -> [str]:
    user: | Prices?
    let told = fork name in names seed 1:
        yield price(name)
    assistant: | ?{n: int in 0..9}
    let made = order("tea", 2)
    ensure n + made[1] > 8 else "more"
        retry 3 resample
    note("${n}")
    try:
        return [order("jam", n)[0]]
    except SoldOut as gone:
        return [each.value for each in told] + ["${gone.price} ${gone.size}"]

"""
REPLAY = 'test "again":\n    replay "run.jsonl"\n'


class SoldOut(Exception):
    def __init__(self, price: Decimal, size: Any) -> None:
        super().__init__("nothing left")
        self.price, self.size = price, size


def recorded(folder: Path, text: str = PROGRAM) -> list[str]:
    """Record a run beside a program that replays it; which functions were called."""
    called: list[str] = []

    def find(name: str) -> Any:
        called.append("find")
        return {"name": name, "price": "2.50"} if name == "tea" else None

    def order(item: str, count: int) -> Any:
        called.append("order")
        if item == "jam":
            raise SoldOut(Decimal("1.50"), made.Size.large)
        return ("null", count)

    def note(text: str) -> None:
        called.append(f"note {text}")

    functions: dict[str, Callable[..., Any]] = {
        "shop:area": lambda width: width * 3,
        "shop:find": find,
        "shop:order": order,
        "shop:note": note,
    }
    engine = ReferenceEngine(ScriptedModel({"n": [1, 4, 7]}))
    made = sglc.loads(text, engine=engine, functions=functions)
    writer = TraceWriter.open(folder / "run.jsonl")
    found = made.f.run(["tea", "ham"], trace_=writer).value
    writer.close()
    engine.close()
    assert found == [f"2.50 {0.1 * 3}", "none", "1.50 large"]
    return called


def exit_code(folder: Path, text: str) -> int:
    (folder / "p.sgl").write_text(text, encoding="utf-8")
    return main(["test", str(folder / "p.sgl")])


def test_calls_of_python_are_answered_from_the_trace(tmp_path: Path) -> None:
    called = recorded(tmp_path)
    assert sorted(called) == ["find", "find", "note 7", "order", "order"]
    rows = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    calls = [row for row in rows if row["event"] == "python"]
    assert [row["how"] for row in calls if row["function"] == "order" and "how" in row] == [
        "called",
        "kept",
        "kept",
    ]
    assert {row.get("branch") for row in calls if row["function"] == "find"} == {"0", "1"}
    (lost,) = [row for row in calls if "error" in row]
    assert decode(lost["fields"]["price"]) == Decimal("1.50") and lost["fields"]["size"] == [
        "e",
        "Size",
        "large",
    ]
    assert exit_code(tmp_path, PROGRAM + REPLAY) == 0, "no module `shop` could be imported"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            'order("tea", 2)',
            'order("tea", 3)',
            "+python function='order' arguments={'item': 'tea', 'n': '3'}",
        ),
        ('    note("${n}")\n', "", "-python function='note'"),
        ('    note("${n}")\n', '    note("${n}")\n    note("x")\n', "`note` has no mock"),
        ("price: decimal\nenum", "price: int\nenum", "the recorded answer of `find` is not a value"),
        (
            "fn area(width: float) -> float",
            "fn area(width: float) -> int",
            "answer of `area` is not",
        ),
    ],
)
def test_another_call_is_another_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, told: str
) -> None:
    recorded(tmp_path)
    assert PROGRAM.count(old) == 1
    assert exit_code(tmp_path, PROGRAM.replace(old, new) + REPLAY) == 1
    shown = capsys.readouterr().err
    assert "E0821" in shown and told in shown


@pytest.mark.parametrize(
    "change",
    [
        {"value": ["d", "x"]},
        {"value": ["Str"]},
        {"value": [[]]},
        {"value": {"name": "tea"}},
        {"value": ["l"] * 2 + [["l"]] * 2 + [1.5]},
        {"error": "SoldOut", "fields": 3},
        {"error": "SoldOut", "fields": {"price": ["d"]}},
        {"function": None},
    ],
)
def test_a_damaged_call_in_a_trace_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, Any]
) -> None:
    row = {"v": 1, "event": "python", "function": "find", "arguments": {}, "result": "3", **change}
    if change.get("function", "") is None:
        del row["function"]
    start = {"v": 1, "event": "start", "function": "f", "seed": 0, "arguments": {"names": []}}
    (tmp_path / "run.jsonl").write_text(json.dumps(start) + "\n" + json.dumps(row) + "\n")
    assert exit_code(tmp_path, PROGRAM + REPLAY) == 1
    shown = capsys.readouterr().err
    assert "E0822" in shown and "line 2" in shown and "no call of Python" in shown


def test_a_call_that_was_ended_has_no_outcome() -> None:
    assert outcome_of({"function": "find", "arguments": {}}) is None
    named = outcome_of({"function": "find", "result": "null"})
    assert named is not None and named[1].value == "null", "a text says itself"


AGENT = """\
## Multiplies.
pure fn times(a: int in 0..99, b: int in 0..9) -> int:
    return a * b

## Looks a note up.
extern py "shop:look" fn look(item: "tea" | "jam") -> str effects read
## Orders an item.
extern py "shop:buy" fn buy(item: "tea" | "jam") -> str effects write key item

pub fn f(q: str) -> int:
    user: | ${q}
    assistant with tools [times, look, buy] limit 4 calls: | ?{n: int in 0..99}
    ensure n > 5 else "small"
        retry 2 repair
    return n

"""


def test_an_agent_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    called: list[str] = []
    functions: dict[str, Callable[..., Any]] = {
        "shop:look": lambda item: called.append(f"look {item}") or f"a note on {item}",
        "shop:buy": lambda item: called.append(f"buy {item}") or "done",
    }
    answers = {
        "tool": ["look", "times", "buy", "answer"],
        "look": ['{"item": "jam"}'],
        "times": ['{"a": 3, "b": 2}'],
        "buy": ['{"item": "jam"}'],
        "n": [3, 6],
    }
    engine = ReferenceEngine(ScriptedModel(answers))
    made = sglc.loads(AGENT, engine=engine, functions=functions)
    writer = TraceWriter.open(tmp_path / "run.jsonl")
    assert made.f.run("What of jam?", trace_=writer).value == 6
    writer.close()
    engine.close()
    assert called == ["look jam", "buy jam"]
    assert exit_code(tmp_path, AGENT + REPLAY) == 0
    assert (
        main(["prompt", str(tmp_path / "p.sgl"), "--arg", "q=And?", "--trace", str(tmp_path / "run.jsonl")])
        == 0
    )
    assert "a note on jam" in capsys.readouterr().out
    exit_code(tmp_path, AGENT.replace("limit 4 calls", "limit 1 calls"))
    capsys.readouterr()
    main(["prompt", str(tmp_path / "p.sgl"), "--arg", "q=And?", "--trace", str(tmp_path / "run.jsonl")])
    assert "no call asked for this value of buy; 1 left" in capsys.readouterr().err


def test_a_call_with_tools_is_golden(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    test = """test "kept":
    mock look = "a note"
    mock f.tool = "look"
    mock f.tool = "answer"
    mock f.look = look("jam")
    mock f.n = 9
    golden f("And?")
"""
    exit_code(tmp_path, AGENT + test)
    assert main(["test", str(tmp_path / "p.sgl"), "--update-golden"]) == 0
    assert exit_code(tmp_path, AGENT + test) == 0
    capsys.readouterr()
    assert exit_code(tmp_path, AGENT + test.replace("a note", "no note")) == 1
    assert '-    "a note"' in capsys.readouterr().err
