"""Functions of Python in programs: who may be imported, what passes, what fails, what is done once."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sglc
from command_line import Cli
from sglc.api import Module
from sglc.driver import compile_source
from sglc.python.errors import RunError
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.scripted import ScriptedModel
from sglc.source import Source
from sglc.testing import run_tests

DECLARED = """\
record Item:
    name: str
    price: decimal
enum Size: small, large
error SoldOut(item: str)
extern py "shop:find" fn find(name: str, size: Size = small) -> Item? effects read timeout 5 s
extern py "shop:order" fn order(item: Item) -> int effects write raises SoldOut
extern py "shop:order_once" fn order_once(item: Item, key: str) -> int effects write key key
extern py "shop:wait" fn wait(n: int) -> int timeout 0.05 s
"""


def module(body: str, answers: dict[str, Any] | None = None, **functions: Callable[..., Any]) -> Module:
    """A program with functions of the test's own in place of `shop`."""
    engine = ReferenceEngine(ScriptedModel(answers or {}))
    given = {f"shop:{name}": function for name, function in functions.items()}
    return sglc.loads(DECLARED + body, engine=engine, functions=given)


def codes(text: str) -> list[str]:
    return [found.code for found in compile_source(Source("program.sgl", text)).diagnostics]


def test_values_pass_as_the_classes_of_python() -> None:
    seen: list[Any] = []

    def find(name: str, size: Any) -> dict[str, Any]:
        seen.append((name, size))
        return {"name": name, "price": "2.50"}

    def order(item: Any) -> int:
        seen.append(item)
        return 7

    shop = module(
        "pub fn f(name: str) -> int raises SoldOut:\n    let item = find(name)\n"
        "    if item == null: return 0\n    return order(trust(item))\n",
        find=find,
        order=order,
    )
    assert shop.f(name="tea") == 7
    assert seen[0][0] == "tea" and seen[0][1] is shop.Size.small
    assert isinstance(seen[1], shop.Item) and str(seen[1].price) == "2.50"


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("tea", "no `Item?`"),
        ({"name": "tea"}, "price"),
        ({"name": 3, "price": 1}, "name"),
        (object(), "no `Item?`"),
    ],
)
def test_a_wrong_result_is_a_typed_error(result: Any, reason: str) -> None:
    shop = module('pub fn f() -> Item?:\n    return find("x")\n', find=lambda name, size: result)
    with pytest.raises(RunError) as caught:
        shop.f()
    assert caught.value.name == "Foreign" and "shop:find" in str(caught.value) and reason in str(caught.value)


def test_exceptions_become_errors_of_the_language() -> None:
    class SoldOut(Exception):
        pass

    def order(item: Any) -> int:
        if item.name == "tea":
            raise SoldOut("tea")
        raise KeyError(item.name)

    shop = module(
        "pub fn f(name: str) -> str:\n    try:\n        return str(order(Item(name, 1.5)))\n"
        '    except SoldOut as e:\n        return "sold out: ${e.item}"\n'
        "    except Foreign as e:\n        return e.message\n",
        order=order,
    )
    assert shop.f(name="tea") == "sold out: tea"
    assert shop.f(name="ham") == "`shop:order` raised KeyError: 'ham'"


def test_a_timeout_is_an_error_and_its_result_is_dropped() -> None:
    async def late(n: int) -> int:
        await asyncio.sleep(30)
        return n

    body = "pub fn f() -> str:\n    try:\n        return str(wait(1))\n"
    body += "    except Timeout as e:\n        return e.message\n"
    for wait in (lambda n: time.sleep(1), late):
        assert module(body, wait=wait).f() == "`shop:wait` took longer than 0.05 s"


def test_a_write_with_a_key_is_made_once() -> None:
    made: list[str] = []

    def order_once(item: Any, key: str) -> int:
        made.append(key)
        return len(made)

    shop = module(
        "pub fn f() -> [int]:\n    user: | Which?\n    assistant: | ?{n: int in 0..9}\n"
        '    let a = order_once(Item("tea", 1.0), "a")\n    ensure n + a == 5 else "other"\n'
        '        retry 5 resample\n    return [a, n, order_once(Item("tea", 1.0), "b")]\n',
        {"n": [1, 2, 4]},
        order_once=order_once,
    )
    assert shop.f() == [1, 4, 2] and made == ["a", "b"]


@pytest.mark.parametrize("ahead", [0, 8])
def test_reads_run_ahead_and_writes_keep_their_order(ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sglc.runtime.model.scripted.Script.in_order", False)
    events: list[str] = []

    async def find(name: str, size: Any) -> None:
        events.append(f"+{name}")
        await asyncio.sleep(0.02)
        events.append(f"-{name}")

    async def order(item: Any) -> int:
        events.append(f"order {item.name}")
        return 1

    shop = module(
        'pub fn f() -> int raises SoldOut:\n    let a = find("a")\n    let b = find("b")\n'
        '    let c = order(Item("x", 1.0))\n    let d = order(Item("y", 1.0))\n'
        "    return c + d + (1 if a == b else 0)\n",
        find=find,
        order=order,
    )
    assert shop.f(concurrency_=ahead) == 3
    assert events[-2:] == ["order x", "order y"]
    assert events[:2] == (["+a", "-a"] if ahead == 0 else ["+a", "+b"])


REPEATED = """\
extern py "shop:order" fn order(n: int) -> int effects {effects}
fn deep(n: int) -> int:
    return order(n)
pub fn f() -> int:
    | ?{{n: int in 0..9}}
    {before}
    ensure n > 4 else "small"
        retry 2 resample
    {behind}
    return n
"""


@pytest.mark.parametrize("call", ["order(n)", "deep(n)"])
@pytest.mark.parametrize(
    ("effects", "before", "refused"),
    [
        ("write", True, True),
        ("write", False, False),
        ("write key n", True, False),
        ("read", True, False),
        ("pure", True, False),
    ],
)
def test_a_retry_repeats_no_write(call: str, effects: str, before: bool, refused: bool) -> None:
    lines = (call, "deep(1)") if before else ("deep(2) if false else 0", call)
    if effects == "write":
        lines = (call, "n + 0") if before else ("n + 0", call)
    text = REPEATED.format(effects=effects, before=lines[0], behind=lines[1])
    assert ("E0441" in codes(text)) == refused


def test_a_fork_repeats_no_write() -> None:
    text = REPEATED.format(
        effects="{0}", before="let b = fork i in 0..<2:\n        yield deep(i)", behind="n + b[0].value"
    )
    assert "E0441" in codes(text.replace("{0}", "write"))
    assert "E0441" not in codes(text.replace("{0}", "write key n"))


@pytest.mark.parametrize(
    "head",
    [
        '"shop" fn f(n: int) -> int',
        '"shop:_private" fn f(n: int) -> int',
        '"shop:a.b" fn f(n: int) -> int',
        '"shop:f" fn f(n: int) -> int timeout 0 s',
        '"shop:f" fn f(n: int) -> int timeout 5 ms',
        '"shop:f" fn f(n: int) -> int effects write key m',
        '"shop:f" fn f(n: int) -> int effects read key n',
    ],
)
def test_a_promise_that_cannot_be_is_refused(head: str) -> None:
    assert "E0440" in codes(f"extern py {head}\npub fn g() -> int:\n    return f(1)\n")


def test_tests_run_no_python() -> None:
    text = DECLARED + (
        'pub fn f() -> int raises SoldOut:\n    let item = find("tea")\n    if item == null: return 0\n'
        "    return order(trust(item))\n"
        'test "mocked":\n    mock find = Item("tea", 1.0)\n    mock order = 3\n    expect f() == 3\n'
        'test "drawn":\n    fuzz f() times 20:\n        expect it == it\n'
        'test "nothing":\n    expect f() == 3\n'
    )
    program = compile_source(Source("program.sgl", text)).program
    assert program is not None
    mocked, drawn, nothing = run_tests(program)
    assert mocked.passed and drawn.passed
    assert not nothing.passed and "tests run no Python" in nothing.failures[0].message


# -- which modules may be imported -----------------------------------------------------------------------

MODULE = "from os.path import join\n\ndef double(n):\n    return 2 * n\n"
PROGRAM = """\
extern py "{module}:{name}" fn double(n: int) -> int effects pure

pub fn f(n: int) -> int:
    return double(n)
"""


def ran(cli: Cli, tmp_path: Path, file: str, *more: str) -> tuple[int, str]:
    (tmp_path / "script.json").write_text("{}")
    model = f"scripted:{tmp_path / 'script.json'}"
    code, out, err = cli("run", tmp_path / file, "f", "--arg", "n=21", "--model", model, *more)
    return code, out + err


def test_a_source_may_import_what_lies_beside_it(cli: Cli, tmp_path: Path) -> None:
    name = f"beside_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / "p.sgl").write_text(PROGRAM.format(module=name, name="double"))
    assert ran(cli, tmp_path, "p.sgl") == (0, "42\n")
    _, built, _ = cli("build", tmp_path / "p.sgl")
    assert name in built
    code, said = ran(cli, tmp_path, "p.sglb")
    assert code == 1 and "E0724" in said and f"--allow-py {name}" in said
    assert ran(cli, tmp_path, "p.sglb", "--allow-py", name) == (0, "42\n")


@pytest.mark.parametrize(("module", "name"), [("os", "getpid"), ("json", "loads"), ("subprocess", "call")])
def test_no_other_module_is_imported_unasked(cli: Cli, tmp_path: Path, module: str, name: str) -> None:
    (tmp_path / "p.sgl").write_text(PROGRAM.format(module=module, name=name))
    code, said = ran(cli, tmp_path, "p.sgl")
    assert code == 1 and "E0724" in said


STREAMED = """extern py "os:getpid" fn number() -> int

fn said() -> str:
    user: | ${number()}
    assistant: | ?{a: line max 9 chars}
    return a

pub fn f(n: int) -> str:
    for p in stream said() as whole:
        if n > 30: break
    return whole if whole != null else "nothing"
"""


def test_what_a_streamed_call_comes_to_is_seen_before_it_runs(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "p.sgl").write_text(STREAMED)
    code, said = ran(cli, tmp_path, "p.sgl")
    assert code == 1 and "E0724" in said and "`os`" in said


def test_a_link_leads_out_of_no_project(cli: Cli, tmp_path: Path) -> None:
    name = f"linked_{tmp_path.name}".replace("-", "_")
    (tmp_path / "outer.py").write_text(MODULE)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / f"{name}.py").symlink_to(tmp_path / "outer.py")
    (tmp_path / "inner" / "p.sgl").write_text(PROGRAM.format(module=name, name="double"))
    assert "E0724" in ran(cli, tmp_path, "inner/p.sgl")[1]


def test_only_what_a_module_defines_is_called(cli: Cli, tmp_path: Path) -> None:
    name = f"defines_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / "p.sgl").write_text(PROGRAM.format(module=name, name="join"))
    code, said = ran(cli, tmp_path, "p.sgl")
    assert code == 1 and "only imports it" in said


def test_checking_and_building_import_nothing(cli: Cli, tmp_path: Path) -> None:
    name = f"never_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "p.sgl").write_text(PROGRAM.format(module=name, name="double"))
    for command in ("check", "build"):
        assert cli(command, tmp_path / "p.sgl")[0] == 0
    code, said = ran(cli, tmp_path, "p.sgl")
    assert code == 1 and "SystemExit" in said


def test_a_trace_has_the_call(cli: Cli, tmp_path: Path) -> None:
    name = f"traced_{tmp_path.name}".replace("-", "_")
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / "p.sgl").write_text(PROGRAM.format(module=name, name="double"))
    trace = tmp_path / "run.jsonl"
    assert ran(cli, tmp_path, "p.sgl", "--trace", str(trace))[0] == 0
    rows = [json.loads(line) for line in trace.read_text().splitlines()]
    (row,) = [row for row in rows if row["event"] == "python"]
    assert row["arguments"] == {"n": "21"} and row["result"] == "42" and row["how"] == "called"
    shown = cli("show", trace)[1]
    assert f"Python {name}:double(n=21) gave 42" in shown
