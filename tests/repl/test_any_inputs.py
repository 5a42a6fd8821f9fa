"""Whatever is typed: a session never fails, and what it knows is what its accepted inputs alone lead to."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.repl.models import SessionModels
from sglc.repl.session import ReplSession
from typed.at_prompts import console_of

SOUND = (
    "1 + 1",
    "let x = 1",
    'let x = "a"',
    "var y = [1, 2]",
    "y[0] = 3",
    "y = y + [x]",
    "let x = x + 1",
    "x",
    "y",
    "enum Mood: calm, furious",
    "enum Mood: sad, calm",
    "let m: Mood = calm",
    "m",
    "record A:\n    n: int\n    m: Mood",
    "let a = A(1, calm)",
    "a.n",
    "a",
    "fn f(n: int) -> int:\n    return n * 2",
    "fn f(s: str) -> str:\n    return s + s",
    "fn g(n: int) -> int:\n    return f(n) + 1",
    "g(1)",
    'f("a")',
    "const x = 4",
    "error Stuck(why: str)",
    'raise Stuck("no")',
    "user: | Hi ${x}",
    "| more",
    "| ?{it: Mood}",
    "assistant: | I am ?{it: Mood}.",
    "system: | Be kind.",
    "it",
    "part p(n: int):\n    | ${n}",
    "part p(3)",
    "for i in 1..3:\n    y = y + [i]",
    "if x == 1:\n    | one\nelse:\n    | other",
    "use std.text (email)",
    'let e: email = "a@b.de"',
    "let it = 3",
    "return 1",
    "1 / (x - x)",
    'text """\na\nb\n"""',
    "type x = int in 0..9",
    'grammar Q:\n    start: "a" | "b"',
    'test "t":\n    expect 1 == 1',
)
texts = st.one_of(
    st.sampled_from(SOUND),
    st.lists(st.sampled_from(SOUND), min_size=2, max_size=3).map("\n".join),
    st.tuples(st.sampled_from(SOUND), st.integers(0, 30), st.text(max_size=4)).map(
        lambda each: each[0][: each[1]] + each[2] + each[0][each[1] + 1 :]
    ),
    st.text(max_size=30),
)


def _session(script: str) -> ReplSession:
    return ReplSession(models=SessionModels(name=script))


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(st.lists(texts, max_size=8))
def test_what_a_session_knows_comes_from_its_accepted_inputs(
    tmp_path_factory: pytest.TempPathFactory, typed: list[str]
) -> None:
    folder: Path = tmp_path_factory.getbasetemp()
    path = folder / "script.json"
    if not path.exists():
        path.write_text(json.dumps({"session.it": "calm"}), encoding="utf-8")
    script = f"scripted:{path}"
    session = _session(script)
    for text in typed:
        before = session.state
        reply = session.take(text)
        assert reply.fault is None, (typed, text, reply.fault)
        assert reply.accepted or session.state is before
    again = _session(script)
    for step in session.steps:
        assert again.take(step.text).accepted, (typed, step.text)
    assert again.state.same(session.state), typed


COMMANDS = (":type", ":preview", ":plan", ":mask", ":undo", ":reset", ":seed", ":history", ":help", ":model")
commands = st.one_of(
    st.sampled_from(COMMANDS),
    st.tuples(st.sampled_from((*COMMANDS[:4], ":load", ":mood")), texts).map(" ".join),
    st.text(max_size=10).map(lambda text: ":" + text.replace("save", "").replace("trace", "")),
)


@pytest.mark.slow
@settings(max_examples=examples(20))
@given(st.lists(st.one_of(texts, commands), max_size=8))
def test_whatever_is_typed_is_answered_with_text_that_steers_no_terminal(
    tmp_path_factory: pytest.TempPathFactory, typed: list[str]
) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "script.json"
    if not path.exists():
        path.write_text(json.dumps({"session.it": "calm"}), encoding="utf-8")
    out = io.StringIO()
    console = console_of(_session(f"scripted:{path}"), out)
    for text in typed:
        console.feed(text)
    shown = out.getvalue()
    assert "a fault of sglc" not in shown and "internal error" not in shown, (typed, shown)
    assert not {char for char in shown if char < " " and char != "\n"}, (typed, shown)
