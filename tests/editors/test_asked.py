"""What an editor is told of functions before it runs one."""

from __future__ import annotations

import json

from sglc.commands.editing.actions import Actions
from sglc.commands.editing.asked import asked_of
from sglc.driver import compile_source
from sglc.library import Library
from sglc.runtime.vm.state.trace import REST, Event, TraceWriter
from sglc.source import Source

TEXT = """enum Mood: calm, angry
enum Other: left
record Point:
    x: int in 0..9
type Way = "in" | "out"

## Doc.
pub fn f(x: str, m: Mood, n: int in 1..5 = 3, l: "p" | "q" = "p", b: bool = false, m2: Mood = angry,
        p: Point = Point(3), w: Way = "in", z: "a" | int in 1..2 = 2) -> int:
    user: | ${x} ${m} ${n} ${l} ${b} ${m2} ${p} ${w} ${z} ${left}
    assistant: | ?{k: int in 1..2}
    return k

part g():
    | x

pure fn h() -> int:
    return 1

fn i() -> Other:
    user:
        part g()
    assistant: | ${h()} ?{o: Other}
    return o
"""


def test_functions_have_parameters_with_defaults_and_choices() -> None:
    result = compile_source(Source("a.sgl", TEXT))
    assert result.program is not None, result.diagnostics
    found = {str(each["name"]): each for each in asked_of(result.program)}
    assert sorted(found) == ["f", "h", "i"]
    assert found["f"]["doc"] == "Doc." and found["f"]["public"] is True and found["i"]["parameters"] == []
    shown = {}
    for each in found["f"]["parameters"]:  # type: ignore[attr-defined]
        shown[each.pop("name")] = each
    assert shown["x"] == {"type": "str", "optional": False}
    assert shown["m"] == {"type": "Mood", "optional": False, "choices": ["calm", "angry"]}
    assert shown["n"] == {"type": "int in 1..5", "optional": True, "default": "3"}
    assert shown["l"]["choices"] == ["p", "q"] and shown["l"]["default"] == "p"
    assert shown["b"]["choices"] == ["true", "false"] and shown["b"]["default"] == "false"
    assert shown["m2"]["default"] == "angry"
    assert json.loads(shown["p"]["default"]) == {"x": 3} and "choices" not in shown["p"]
    assert shown["z"]["default"] == "2" and "choices" not in shown["z"]


def test_a_program_with_errors_says_so() -> None:
    wrong = Source("a.sgl", "fn f() -> int:\n    return b\n")
    answer = Actions().functions(wrong, Library())
    assert answer["ok"] is False and answer["diagnostics"]


class _Counted:
    """A file that counts how often it is flushed."""

    def __init__(self) -> None:
        self.flushes = 0
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        self.flushes += 1


def test_a_trace_can_be_read_while_it_grows() -> None:
    file = _Counted()
    writer = TraceWriter(file)  # type: ignore[arg-type]
    for number in range(100):
        writer(Event("token", {"hole": "f.k", "text": "x"}, time=1_000_000_000_000 + number * REST // 10))
    assert 9 <= file.flushes <= 11
    writer(Event("hole_end", {"hole": "f.k"}, time=1_000_000_000_000))
    assert file.flushes <= 12
