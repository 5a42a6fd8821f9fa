"""`golden` and `replay`: what is kept of a run, and how another one differs from it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from sglc.cli import main
from sglc.driver import compile_source
from sglc.recorded import goldens, replays
from sglc.recorded.differences import differences
from sglc.recorded.goldens import GoldenFault, Goldens, diff, golden_path
from sglc.recorded.pressures import Pressures
from sglc.recorded.replays import ReplayFault, read_run
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ScriptedModel
from sglc.runtime.session import Session
from sglc.runtime.vm.state.trace import TraceWriter
from sglc.source import Source
from sglc.viewer.reading import Event

PROGRAM = """\
record Crew:
    name: str max 20 chars
    age: int in 18..70

fn crew(theme: str) -> Crew:
    user: | Theme: ${theme}
    assistant: | ?{member: Crew}
    return member

pub fn f(themes: [str] = ["a", "b"]) -> [int]:
    let all = [crew(theme) for theme in themes]
    for each in all:
        check each.age > 30 else "too young"
    return [each.age for each in all]

"""
GOLDEN = """test "same":
    mock crew.member = Crew("Ada", 36)
    mock crew.member = Crew("Bo", 40)
    golden f()
"""
ADA, BO = '{"name": "Ada", "age": 36}', '{"name": "Bo", "age": 40}'


def _written(folder: Path, text: str) -> str:
    path = folder / "crew.sgl"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_golden_call_is_kept_and_held_against_later_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = _written(tmp_path, PROGRAM + GOLDEN)
    assert main(["test", path]) == 1
    assert "nothing is kept of this call" in capsys.readouterr().err
    assert main(["test", path, "--update-golden"]) == 0
    kept = json.loads(golden_path(Path(path)).read_text(encoding="utf-8"))
    (call,) = kept["tests"]["same"]
    assert [(hole["hole"], hole["filled"]) for hole in call["holes"]] == [
        ("crew.member", ADA),
        ("crew.member", BO),
    ]
    assert (
        call["holes"][0]["asked"] == ["<user>", "Theme: a", "<assistant>", ""] and call["value"] == "[36, 40]"
    )
    assert main(["test", path]) == 0
    capsys.readouterr()
    _written(tmp_path, (PROGRAM + GOLDEN).replace("Theme:", "The theme:"))
    assert main(["test", path]) == 1
    shown = capsys.readouterr().err
    assert "E0821" in shown and '-    "Theme: a"' in shown and '+    "The theme: a"' in shown
    _written(tmp_path, (PROGRAM + GOLDEN).replace("18..70", "18..71"))
    assert main(["test", path]) == 1
    assert '-   "legal"' in capsys.readouterr().err


def test_what_other_tests_keep_stays(tmp_path: Path) -> None:
    other = GOLDEN.replace("same", "other")
    path = _written(tmp_path, PROGRAM + GOLDEN + "\n" + other)
    assert main(["test", path, "--update-golden", "-k", "same"]) == 0
    assert main(["test", path, "--update-golden", "-k", "other"]) == 0
    before = golden_path(Path(path)).stat().st_mtime_ns
    assert main(["test", path, "--update-golden"]) == 0
    assert golden_path(Path(path)).stat().st_mtime_ns == before, "nothing new, so nothing is written"
    assert sorted(json.loads(golden_path(Path(path)).read_text())["tests"]) == ["other", "same"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"v": 2, "tests": {}}', '{"v": 1, "tests": {"a": 1}}', "[" * 100_000, "\xff"]
)
def test_a_damaged_golden_file_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "p.golden.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(GoldenFault, match="golden file"):
        Goldens.open(path)


def test_golden_files_have_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(goldens, "LARGEST", 200)
    path = tmp_path / "p.golden.json"
    path.write_bytes(b" " * 201)
    with pytest.raises(GoldenFault, match="larger"):
        Goldens.open(path)
    path.unlink()
    for size, kept in ((50, True), (300, False)):
        made = Goldens.open(path, update=True)
        made.difference("t", 0, {"value": "x" * size})
        if kept:
            assert made.save()
        else:
            with pytest.raises(GoldenFault, match="larger"):
                made.save()


def _record(folder: Path, text: str, answers: list[str], arguments: dict[str, object]) -> None:
    program = compile_source(Source("crew.sgl", text)).program
    assert program is not None
    engine = ReferenceEngine(ScriptedModel(answers))
    try:
        with TraceWriter.open(folder / "run.jsonl") as trace:
            asyncio.run(Session(program, engine).run("f", arguments, trace=trace))
    except SglError:
        pass
    finally:
        engine.close()


REPLAY = 'test "again":\n    replay "run.jsonl"\n'


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("", "", ""),
        ("Theme:", "The theme:", "+text 'The theme: a'"),
        ("age > 30", "age > 38", "+check passed=False reason='too young'"),
        ("age: int in 18..70", "age: int in 18..39", "is not a value of the hole"),
        ("for theme in themes]", "for theme in themes[1:]]", "-call function='crew'"),
    ],
)
def test_a_recorded_run_is_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, told: str
) -> None:
    _record(tmp_path, PROGRAM, [ADA, BO], {"themes": ["a", "b"]})
    path = _written(tmp_path, (PROGRAM.replace(old, new) if old else PROGRAM) + REPLAY)
    assert main(["test", path]) == (1 if told else 0)
    shown = capsys.readouterr().err
    assert told in shown and ("E0821" in shown) is bool(told)


def test_a_run_with_retries_forks_and_choices_is_run_again(tmp_path: Path) -> None:
    text = """fn one(theme: str) -> str:
    user: | ${theme}
    assistant:
        let tries = fork i in 0..<2 seed i:
            | ?{word: line max 9 chars}
            yield word
        adopt tries[1]
        | ?{n: int in 0..9}
        | ?{good: choose ["yes", "no"]}
    ensure n > 3
        retry 2 resample
    return "${n} ${good} ${tries[0].value}"

pub fn f(themes: [str]) -> [str]:
    return [one(theme) for theme in themes]

"""
    _record(tmp_path, text, ["ab", "cd", "1", "yes", "7", "no"], {"themes": ["x"]})
    assert '"retry"' in (tmp_path / "run.jsonl").read_text()
    assert main(["test", _written(tmp_path, text + REPLAY)]) == 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: "", "no event `start`"),
        (lambda text: text + text, "begins a second run"),
        (lambda text: text + "{}\n", "no event"),
        (lambda text: text.replace('"v": 1', '"v": 2'), "version 2"),
        (lambda text: text.replace('"seed": 0', '"seed": "x"'), "tells no call"),
        (lambda text: text.replace('"function": "f"', '"function": "g"'), "no function `g`"),
        (lambda text: text.replace('["a", "b"]', "3"), "outside of its type"),
    ],
)
def test_a_trace_that_cannot_be_replayed_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: object, told: str
) -> None:
    _record(tmp_path, PROGRAM, [ADA, BO], {"themes": ["a", "b"]})
    trace = tmp_path / "run.jsonl"
    trace.write_text(change(trace.read_text()))  # type: ignore[operator]
    assert main(["test", _written(tmp_path, PROGRAM + REPLAY)]) == 1
    shown = capsys.readouterr().err
    assert "E0822" in shown and told in shown


def test_a_trace_is_read_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _record(tmp_path, PROGRAM, [ADA, BO], {"themes": ["a", "b"]})
    size = (tmp_path / "run.jsonl").stat().st_size
    monkeypatch.setattr(replays, "MOST_BYTES", size)
    assert read_run(tmp_path / "run.jsonl").arguments == {"themes": ["a", "b"]}
    monkeypatch.setattr(replays, "MOST_BYTES", size - 1)
    with pytest.raises(ReplayFault, match="too large"):
        read_run(tmp_path / "run.jsonl")


def test_a_trace_elsewhere_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    _record(tmp_path, PROGRAM, [ADA, BO], {"themes": ["a", "b"]})
    (inside / "run.jsonl").symlink_to(tmp_path / "run.jsonl")
    assert main(["test", _written(inside, PROGRAM + REPLAY)]) == 1
    assert "does not lie in the folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("left", "right", "lines"),
    [
        ('{"a": 1, "b": {"c": [1, 2]}}', '{"a": 1, "b": {"c": [1, 3]}}', ["b.c[1]: 2, not 3"]),
        ('{"a": 1}', '{"a": 1, "b": null}', ["b: nothing, not null"]),
        ("[true]", "[1]", ["[0]: true, not 1"]),
        ("3", "4", []),
        ('"ab"', '"ac"', []),
        ('{"t": "' + "x" * 61 + '"}', '{"t": "y"}', ["t:", "  - " + "x" * 61, "  + y"]),
        ('{"t": "' + "x" * 60 + '"}', '{"t": "y"}', ['t: "' + "x" * 60 + '", not "y"']),
        (str(list(range(12))), str(list(range(1, 13))), [f"[{i}]: {i}, not {i + 1}" for i in range(12)]),
        (
            str(list(range(14))),
            str(list(range(1, 15))),
            [*(f"[{i}]: {i}, not {i + 1}" for i in range(12)), "… and 2 more"],
        ),
    ],
)
def test_differences_are_told_part_by_part(left: str, right: str, lines: list[str]) -> None:
    assert differences(left, right) == lines


def test_a_difference_has_a_bound() -> None:
    for count, cut in ((38, False), (39, True)):
        shown = diff([], [f"{number}" for number in range(count)]).splitlines()
        assert ("lines more" in shown[-1]) is (count + 1 > goldens.SHOWN_LINES), (count, cut)


def _pressed(folder: Path, pressures: list[float]) -> None:
    """A recorded run whose tokens have these pressures, in turn."""
    _record(folder, PROGRAM, [ADA, BO], {"themes": ["a", "b"]})
    trace = folder / "run.jsonl"
    left = iter(pressures)
    lines = []
    for line in trace.read_text().splitlines():
        event = json.loads(line)
        event.pop("pressure", None)
        if event["event"] == "token" and (pressure := next(left, None)) is not None:
            event["pressure"] = pressure
        lines.append(json.dumps(event))
    trace.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(("bound", "code"), [("0.5", 0), ("0.49", 1)])
def test_masks_of_a_replayed_run_are_held_against_a_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], bound: str, code: int
) -> None:
    _pressed(tmp_path, [1.25, 0.0, 0.25, 0.5])
    path = _written(tmp_path, PROGRAM + REPLAY)
    assert main(["test", path, "--pressure", bound]) == code
    shown = capsys.readouterr().err
    assert ("E0824" in shown) == bool(code)
    if code:
        assert "`crew.member` has a pressure of 0.50 nats a drawn token, 0.49 is allowed" in shown
        assert "1.25 nats" in shown and shown.index("1.25 nats") < shown.index("0.50 nats:")


def test_a_bound_that_nothing_is_held_against_fails(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _pressed(tmp_path, [])
    assert main(["test", _written(tmp_path, PROGRAM + REPLAY), "--pressure", "9"]) == 1
    assert "no test has replayed a run in which pressure was measured" in capsys.readouterr().err
    assert (
        main(["test", _written(tmp_path, PROGRAM + 'test "t":\n    expect 1 == 1\n'), "--pressure", "9"]) == 1
    )
    assert "E0824" in capsys.readouterr().err


def test_a_choice_counts_as_one_token() -> None:
    pressures = Pressures()
    for kind, data in (
        ("hole_start", {}),
        ("hole_end", {"text": "calm", "pressure": 0.75}),
        ("hole_start", {}),
        ("hole_end", {"text": "cross", "pressure": 0.25}),
    ):
        pressures.add(Event(kind, {"hole": "f.mood", **data}, 1))
    (hole,) = pressures.holes.values()
    assert (hole.mean, hole.drawn) == (0.5, 2)
    assert hole.shown().splitlines()[0] == '  0.75 nats: "calm" at the beginning'
