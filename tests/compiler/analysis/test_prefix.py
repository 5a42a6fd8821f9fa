"""What conversations begin with: roles and text up to the first thing that may differ."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from oracles.ir_interpreter import Interpreter
from sglc.analysis import prefix as prefixes
from sglc.analysis.prefix import constant_prefixes
from sglc.bytecode.code import Prefix, PrefixMessage, Program
from sglc.driver import compile_source
from sglc.ir import ops
from sglc.ir.module import Function, Module
from sglc.ir.read import read
from sglc.options import LEVELS, CompileOptions
from sglc.source import Source
from strategies.ir_strategies import modules


def program(text: str, level: int = LEVELS[-1]) -> Program:
    found = compile_source(Source("main.sgl", text), CompileOptions(level))
    assert found.program is not None, found.diagnostics
    return found.program


def said(prefix: Prefix) -> str:
    """Messages as one text: `role: …`, with `|` at the end of those that are complete."""
    texts = [f"{each.role}: {each.text}{'|' if each.complete else ''}" for each in prefix.messages]
    return " ".join(texts)


def of(text: str, name: str = "f", level: int = LEVELS[-1]) -> list[str]:
    """All prefixes of a function, the shortest first."""
    found = [said(prefix) for prefix in program(text, level).prefixes if name in prefix.functions]
    return sorted(found, key=len)


def test_goes_through_constants_lines_and_parts_and_stops_at_an_argument() -> None:
    text = """
enum Mood: calm, angry
const LIMIT = 3
record R:
    mood: Mood
part rules(who: str):
    | Be ${who}.
fn f(x: str):
    system:
        | You help.
        part rules("kind")
    user:
        | At most ${LIMIT} \\
        | words, ${calm}.
        |
        | Shape: ${schema(R)}
        | Ask: ${x}!
    assistant: | ?{answer: Mood}
"""
    [found] = program(text).prefixes
    system, user = found.messages
    assert system == PrefixMessage("system", "You help.\nBe kind.", True)
    assert user.role == "user" and not user.complete
    assert user.text.startswith("At most 3 words, calm.\n\nShape: ") and user.text.endswith("\nAsk: ")
    assert found.functions == ("f",) and not found.ahead


@pytest.mark.parametrize("level", LEVELS)
def test_stops_at_a_hole(level: int) -> None:
    assert of("fn f():\n    | Say ?{x: int}.\n", level=level) == [": Say "]


def test_a_function_that_asks_nothing_has_none() -> None:
    text = "part p(x: str):\n    | a\nfn f(x: str):\n    part p(x)\npure fn g() -> int:\n    return 1\n"
    assert program(text).prefixes == ()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # What leads to no hole says nothing about conversations.
        ("    if n > 3: return\n    | Hi ?{x: int}", ": Hi "),
        ("    let m = 10 // n\n    | Hi ?{x: int}", ": Hi "),
        ("    var m = 0\n    for i in 0..<n: m += i\n    | Hi ?{x: int}", ": Hi "),
        ('    if n > 3: raise Failure("no")\n    | Hi ?{x: int}', ": Hi "),
        # Where roads come together, what both have written.
        ("    if n > 3: | Hello you\n    else: | Hello me\n    | ?{x: int}", ": Hello "),
        ("    if n > 3: | Hello ?{x: int}\n    else: | Help ?{y: int}", ": Hel"),
        ("    for i in 0..<n: | again\n    | ?{x: int}", ": "),
        ("    | a\n    for i in 0..<n: | again ?{x: int}", ": a\nagain "),
        ("    try:\n        | a ?{x: int}\n    except Failure: | b ?{y: int}", ": "),
        ("    try:\n        let m = 10 // n\n    except Failure: | b\n    | c ?{y: int}", ": "),
        (
            "    | Say\n    let r = fork i in 0..<n:\n        | more ?{x: int}\n        yield x",
            ": Say\nmore ",
        ),
    ],
)
def test_roads(body: str, expected: str, level: int) -> None:
    found = of(f"fn f(n: int):\n{body}\n", level=level)
    assert (found or [": "]) == [expected]


LARGE = "\n".join(f'    if m == "{number}": | number {number}' for number in range(60))
"""Lines that make a part too large to be put in place."""


@pytest.mark.parametrize("level", LEVELS)
def test_goes_through_parts_that_stay_calls(level: int) -> None:
    text = (
        f"part p(who: str, m: str):\n    | I am ${{who}},\n    | yes\n{LARGE}\n"
        'fn f(n: str):\n    system: part p("Ada", n)\n    assistant: | Go ?{x: int}\n'
        'fn g(n: str):\n    system: part p("Ada", "none")\n    assistant: | Go ?{x: int}\n'
    )
    assert of(text, "f", level) == ["system: I am Ada,\nyes"]
    assert "system: I am Ada,\nyes" in of(text, "g", level)


def test_goes_through_parts_of_other_modules(tmp_path: Any) -> None:
    (tmp_path / "voices.sgl").write_text(f"pub part calm(m: str):\n    | Be calm.\n{LARGE}\n")
    main = tmp_path / "main.sgl"
    main.write_text(
        "use ./voices (calm)\nfn f(n: str):\n    system:\n        part calm(n)\n    assistant: | ?{x: int}\n"
    )
    found = compile_source(Source(str(main), main.read_text())).program
    assert found is not None
    assert [said(prefix) for prefix in found.prefixes] == ["system: Be calm."]


def test_a_part_that_calls_itself_counts_as_unknown() -> None:
    part = "part p(n: int):\n    | a\n    if n > 0: part p(n - 1)\n"
    assert of(part + "fn f(n: int):\n    | Hi\n    part p(n)\n    | ?{x: int}\n") == [": Hi\na"]


def test_calls_with_constants_go_further_and_what_is_shared_stands_once() -> None:
    text = """
fn ask(who: str, what: str) -> int:
    system: | You are ${who}.
    assistant: | About ${what}: ?{n: int}
    return n
fn a(x: str) -> int: return ask("a pirate", x)
fn b(x: str) -> int: return ask("a pirate", "ships")
fn c(x: str) -> int: return ask("a poet", "ships")
fn d(x: str) -> int:
    system: | You are d.
    assistant: | ?{n: int}
    return n
test "asks":
    mock ask.n = 1
    expect ask("a tester", "tests") == 1
"""
    found = {said(prefix): prefix.functions for prefix in program(text).prefixes}
    assert found == {
        "system: You are ": ("ask", "d"),
        "system: You are a p": ("ask",),
        "system: You are a pirate.| assistant: About ": ("ask",),
        "system: You are a pirate.| assistant: About ships: ": ("ask",),
        "system: You are a poet.| assistant: About ships: ": ("ask",),
        "system: You are d.| assistant: ": ("d",),
    }
    counts = [len(prefix.functions) for prefix in program(text).prefixes]
    assert counts == sorted(counts)


def test_the_certain_beginning_of_a_hole_is_its_end() -> None:
    head = 'hole h0 = HoleInfo("f.x", type=Int(), begins="{\\"")\nfn @f() {\n^entry:\n'
    body = '  text "Say "\n  %0 = gen h0 ()\n  text "more"\n  %1 = gen h0 ()\n  return %1\n}'
    [found] = constant_prefixes(read(head + body))
    assert found == Prefix((PrefixMessage("", 'Say {"', False),), ("f",), 2)


def test_work_is_bounded_where_parts_multiply() -> None:
    """Each part calls the one below twice, and writes, so that no two calls begin alike."""
    depth = 40
    lines = [
        'hole h0 = HoleInfo("f.x", type=Int())',
        'part @p0() {\n^entry:\n  text "x"\n  %0 = const null\n  return %0\n}',
    ]
    for level in range(1, depth):
        call = f"call_part @p{level - 1} ()"
        lines.append(
            f"part @p{level}() {{\n^entry:\n  %0 = {call}\n  %1 = {call}\n  %2 = const null\n  return %2\n}}"
        )
    lines.append(f"fn @f() {{\n^entry:\n  %0 = call_part @p{depth - 1} ()\n  %1 = gen h0 ()\n  return %1\n}}")
    assert constant_prefixes(read("\n".join(lines))) == ()
    few = "\n".join(
        [*lines[:6], "fn @f() {\n^entry:\n  %0 = call_part @p4 ()\n  %1 = gen h0 ()\n  return %1\n}"]
    )
    [found] = constant_prefixes(read(few))
    assert found.messages == (PrefixMessage("", "x" * 16, False),)


class Listening(Interpreter):
    """Keeps the messages as they are at each hole of a function's own conversation, by the function."""

    def __init__(self, module: Module) -> None:
        super().__init__(module)
        self.heard: list[tuple[str, list[tuple[str, str]]]] = []
        self._owners: list[str] = []

    def call(self, function: Function, arguments: tuple[Any, ...], conversation: Any) -> Any:
        if function.kind == "fn":
            self._owners.append(function.name)
        try:
            return super().call(function, arguments, conversation)
        finally:
            if function.kind == "fn":
                self._owners.pop()

    def step(self, frame: Any, op: ops.Op, temps: dict[int, Any], after: tuple[str, int]) -> Any:
        if isinstance(op, ops.Generate):
            messages = [(role, text) for role, text in frame.conversation.messages if role or text]
            self.heard.append((self._owners[-1], messages))
        return super().step(frame, op, temps, after)


@pytest.mark.slow
@given(module=modules(), argument=st.sampled_from(["", "x", "two\nlines"]))
@settings(max_examples=examples(200))
def test_every_hole_of_random_modules_stands_behind_the_prefix(module: Module, argument: str) -> None:
    found = constant_prefixes(module)
    listening = Listening(module)
    listening.run("main", (argument,))
    for owner, heard in listening.heard:
        for prefix in found:
            if owner in prefix.functions and owner == "main":
                *before, last = [(each.role, each.text) for each in prefix.messages]
                assert heard[: len(before)] == before
                role, text = heard[len(before)]
                assert role == last[0] and text.startswith(last[1])


def test_a_module_with_less_work_left_has_shorter_prefixes(monkeypatch: pytest.MonkeyPatch) -> None:
    body = '^entry:\n  text "a"\n  %0 = gen h0 ()\n  return %0\n}'
    module = read(f'hole h0 = HoleInfo("f.x", type=Int())\nfn @f() {{\n{body}')
    assert len(constant_prefixes(module)) == 1
    monkeypatch.setattr(prefixes, "WORK", 0)
    monkeypatch.setattr(prefixes, "LEAST_WORK", 0)
    assert constant_prefixes(module) == ()


def test_each_model_has_what_it_reads_before_its_own_first_hole() -> None:
    text = """
const RULES = "Be brief. "
fn f(x: str):
    user: | ${RULES}A word?
    assistant:
        | ?{first: int in 0..9 using big}
        | ?{second: int in 0..9}
fn g(x: str) using blend(main without RULES, big):
    user: | ${RULES}A word?
    assistant: | ?{first: int in 0..9}
"""
    found = {(prefix.model.name, prefix.model.without): said(prefix) for prefix in program(text).prefixes}
    whole = "user: Be brief. A word?| assistant: "
    assert found["big", ""] == whole
    assert found["main", ""] == whole  # behind it stands what `big` wrote
    assert found["main", "Be brief. "] == "user: A word?| assistant: "
    functions = {prefix.model.name: prefix.functions for prefix in program(text).prefixes}
    assert functions["big"] == ("f", "g")
