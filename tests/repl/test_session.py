"""What a session keeps, takes back, and computes once."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sglc.repl.compiling import Compiled
from sglc.repl.models import SessionModels
from sglc.repl.pieces import cut, goes_on, is_open
from sglc.repl.session import ReplSession, Reply
from sglc.runtime.vm.state.trace import Event
from sglc.source import Source
from typed.at_prompts import console_of, session_of


def taken(session: ReplSession, *texts: str) -> Reply:
    """The reply to the last of some inputs, all of which are taken."""
    for text in texts:
        reply = session.take(text)
        assert reply.accepted and reply.fault is None, (text, reply)
    return reply


# -- how an input is cut ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "declared", "statements"),
    [
        ("1 + 1", [], 1),
        ("", [], 0),
        ("# nothing\n\n", [], 0),
        ("fn f():\n    | a\n", ["fn"], 0),
        ("part f(x: int):\n    | a\n", ["part"], 0),
        ("part f(1)", [], 1),
        ("test = 3", [], 1),
        ('test "a":\n    expect 1 == 1', ["test"], 0),
        ("enum A: b\nlet x = 1\nrecord C:\n    d: int\nx", ["enum", "record"], 2),
        ("if x:\n    | a\nelse:\n    | b", [], 1),
        ("use std.text (email)\nuse std.math (round)", ["import", "import"], 0),
        ("pub fn f() -> int:\n    return 1", ["fn"], 0),
        ('text """\nfn f():\n"""', [], 1),
        ("| fn f():", [], 1),
        ("let x = [1,\n2,\n3]", [], 1),
    ],
)
def test_an_input_is_cut_into_declarations_and_statements(
    text: str, declared: list[str], statements: int
) -> None:
    found = cut(Source("<1>", text))
    assert [each.kind for each in found.declarations] == declared
    assert len(found.statements) == statements


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("1 + 1", False),
        ("let x = [1,", True),
        ("let x = [1,\n    2]", False),
        ("if x:", True),
        ("if x:\n    | a", True),
        ("if x:\n    | a\n", False),
        ("if x:\n    | a\nelse:", True),
        ('text """\na\n\nb', True),
        ('text """\na\n"""', False),
        ("| a \\", True),
        ("| a:", False),
        ("let x = {", True),
        ("# a comment:", False),
        ("", False),
        ("\x00\x1b", False),
    ],
)
def test_an_input_goes_on_while_it_is_open(text: str, is_so: bool) -> None:
    assert is_open(text) is is_so


def test_lines_that_go_on_with_the_block_above() -> None:
    assert all(goes_on(line) for line in ("    x", "else:", "elif x:", "except A:", ")", "]", "", "| b"))
    assert not any(goes_on(line) for line in ("x", "let x = 1", "fn f():", "elsewhere = 1"))


# -- what stays ------------------------------------------------------------------------------------------


def test_comments_before_a_declaration_are_kept_with_it(tmp_path: Path) -> None:
    session = session_of(tmp_path, {})
    taken(session, "# first\n\n## of a person\nrecord A:\n    x: int\n\n# second\nenum B: c, d\n")
    texts = [each.span.text for each in session.state.declared]
    assert texts[0].strip() == "# first\n\n## of a person\nrecord A:\n    x: int"
    assert texts[1].strip() == "# second\nenum B: c, d"


def test_findings_of_older_inputs_are_not_told_again(tmp_path: Path) -> None:
    session = session_of(tmp_path, {})
    noted = "record A:\n    x: int\nfn f() -> A:\n    user: | Hi\n    assistant: | ?{a: A}\n    return a"
    assert [each.code for each in taken(session, noted).found] == ["W0207"]
    assert taken(session, "let n = 1").found == ()


def test_an_input_that_fails_changes_nothing(tmp_path: Path) -> None:
    session = session_of(tmp_path, {})
    taken(session, "var x = 1", "user: | Hi")
    before = session.state
    for text in ("x = 2\nlet y = 1 / (x - 2)", "enum A: b\nlet z = nothing", "user: | a\nraise", "x = "):
        assert not session.take(text).accepted
        assert session.state.same(before)


def test_an_unknown_model_is_told_and_the_session_goes_on(tmp_path: Path) -> None:
    session = ReplSession(models=SessionModels(name=f"scripted:{tmp_path / 'none.json'}"))
    reply = session.take("| ?{x: int in 0..9}")
    assert not reply.accepted and [each.code for each in reply.found] == ["E0807"]
    assert taken(session, "1 + 1").shown is not None


def test_models_that_programs_name_are_asked_for(tmp_path: Path) -> None:
    session = session_of(tmp_path, {})
    taken(session, "fn f() -> int using big:\n    | ?{x: int in 0..9}\n    return x")
    assert [each.code for each in session.take("f()").found] == ["E0721"]


def test_the_model_is_loaded_by_the_first_hole(tmp_path: Path) -> None:
    session = session_of(tmp_path, {"session.x": "4"})
    loaded: list[str] = []
    session.models.tell = loaded.append
    taken(session, "let a = 1", "fn f() -> int:\n    | ?{x: int in 0..9}\n    return x", "user: | Hi", "a")
    assert loaded == []
    taken(session, "assistant: | ?{x: int in 0..9}", "user: | a", "| ?{x: int in 0..9}")
    assert loaded == [session.models.name]


def test_another_model_goes_on_with_the_same_conversation(tmp_path: Path) -> None:
    session = session_of(tmp_path, {"session.x": "4"})
    taken(session, "user: | Hi", "| ?{x: int in 0..9}")
    (tmp_path / "other").mkdir()
    other = session_of(tmp_path / "other", {"session.y": "5"})
    session.models.use(other.models.name)
    taken(session, "user: | And?", "| ?{y: int in 0..9}")
    assert session.state.said.messages == (
        ("user", "Hi"),
        ("assistant", "4"),
        ("user", "And?"),
        ("assistant", "5"),
    )


def test_a_name_that_is_bound_anew_has_its_newest_value_behind_that(tmp_path: Path) -> None:
    session = session_of(tmp_path, {})
    taken(session, "let x = 1")
    reply = taken(session, "let before = x\nlet x = x + 1\nlet x2 = x * 10\nx")
    assert reply.shown is not None and reply.shown.value == 2
    assert {name: each.value for name, each in session.state.variables.items()} == {
        "x": 2,
        "before": 1,
        "x2": 20,
    }


def test_undo_takes_back_what_changed_something(tmp_path: Path) -> None:
    session = session_of(tmp_path, {})
    taken(session, "let x = 1")
    one = session.state
    taken(session, "let x = 2", "x", "x + 1")
    step = session.undo()
    assert step is not None and step.text == "let x = 2" and session.state.same(one)


def test_ctrl_c_ends_a_run_and_keeps_the_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of(tmp_path, {"session.x": "4"})
    taken(session, "let a = 1")
    before = session.state

    def interrupted(made: Compiled) -> Callable[[Event], None]:
        raise KeyboardInterrupt

    reply = session.take("| ?{x: int in 0..9}", interrupted)
    assert reply.interrupted and session.state.same(before)
    assert taken(session, "a").shown is not None


@pytest.mark.model
@pytest.mark.slow
def test_keys_and_values_of_what_was_said_are_found_again() -> None:
    session = ReplSession()
    taken(session, "user: | " + "Tell me about the sea, the wind and the old lighthouse. " * 3)
    heard: list[Event] = []
    assert session.take('| It is ?{a: str max 20 chars until "."}.', lambda made: heard.append).accepted
    assert session.take('| And ?{b: str max 20 chars until "."}.', lambda made: heard.append).accepted
    first, second = [each for each in heard if each.kind == "hole_end"]
    assert second.took["reused"] >= first.data["prompt"], "all of the first prompt is reused by the second"


# -- hostile input ---------------------------------------------------------------------------------------

HOSTILE = {
    "a huge line": "let x = 1" + " + 1" * 20_000,
    "deep brackets": "(" * 5000 + "1" + ")" * 5000,
    "deep blocks": "\n".join("    " * n + "if true:" for n in range(200)),
    "deep negation": "not " * 20_000 + "true",
    "control characters": 'let x = "\x1b[2J\x07"',
    "nothing but control characters": "\x00\x01\x02\x1b]0;title\x07",
    "surrogates": 'let x = "\udc80"',
    "directions": 'let x = "\u202egnirts"',
    "a long text": "| " + "a" * 200_000,
    "many names": "\n".join(f"let x{n} = {n}" for n in range(500)),
    "many faults": "\n".join(f"let x{n} = ???" for n in range(100)),
    "tabs": "if true:\n\t| a\n",
    "carriage returns": "let x = 1\r\nx\r\n",
    "a byte order mark": "\ufeff1 + 1",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_input_is_answered(text: str, tmp_path: Path) -> None:
    session = session_of(tmp_path, {})
    out = io.StringIO()
    console = console_of(session, out)
    assert console.feed(text)
    assert "a fault of sglc" not in out.getvalue()
    assert not {"\x1b", "\x07", "\x00", "\u202e"} & set(out.getvalue())
    assert taken(session, "1 + 1").shown is not None


def test_a_session_needs_neither_torch_nor_an_extra(tmp_path: Path) -> None:
    code = (
        "import sys, io\n"
        "from sglc.cli import main\n"
        "sys.stdin = io.StringIO('let x = 1\\nuser: | Hi\\nx\\n')\n"
        "assert main(['repl']) == 0\n"
        "extras = {'torch', 'transformers', 'starlette', 'prompt_toolkit', 'IPython', 'pygments'}\n"
        "bad = extras & set(sys.modules)\n"
        "assert not bad, bad\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1 : int\n"


def test_sessions_of_threads_do_not_meet(tmp_path: Path) -> None:
    found: list[object] = []

    def work(number: int) -> None:
        folder = tmp_path / str(number)
        folder.mkdir()
        session = session_of(folder, {"session.x": str(number)})
        reply = taken(session, "user: | Hi", "| ?{x: int in 0..9}", "x")
        found.append((number, reply.shown.value if reply.shown else None))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(found) == [(n, n) for n in range(3)]  # type: ignore[type-var]
