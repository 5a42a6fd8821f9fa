"""`sglc prompt`: what is shown, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import EXAMPLES
from command_line import Cli

ROLL = EXAMPLES / "repair.sgl"
FEEL = """\
== feel
<user>
How does the writer feel? Hi 2
<assistant>
?{mood: Mood}
"""


def test_a_conversation_is_shown_with_its_roles_and_places(cli: Cli, good: Path) -> None:
    assert cli("prompt", good, "--arg", "text=Hi", "--arg", "times=2") == (0, FEEL, "")


def test_a_compiled_program_is_shown_alike(cli: Cli, good: Path) -> None:
    assert cli("build", good)[0] == 0
    assert cli("prompt", good.with_suffix(".sglb"), "--arg", "text=Hi", "--arg", "times=2")[1] == FEEL


def test_nested_calls_are_shown_in_order_with_their_paths(cli: Cli) -> None:
    code, out, err = cli("prompt", ROLL, "stall")
    assert (code, err) == (0, "")
    headings = [line for line in out.splitlines() if line.startswith("==")]
    assert headings == [
        "== stall > roll, called at repair.sgl:31:13",
        "== stall > slogan, called at repair.sgl:31:21",
    ]


def test_fills_are_put_in_and_a_stop_is_told(cli: Cli) -> None:
    loop = EXAMPLES / "loop.sgl"
    code, out, _ = cli("prompt", loop, "--fill", "name=Clear broth", "--fill", "menu.minutes=20")
    assert code == 0
    assert "1. Clear broth (20 minutes)\n2. ?{name: str matching" in out
    assert out.splitlines()[-1] == (
        "-- stops at loop.sgl:32:15: what follows depends on `len(dishes) < COURSES`, and menu.minutes has "
        "no value; --fill menu.minutes=VALUE gives one"
    )


def test_fuzz_fills_all_holes_and_a_seed_repeats_it(cli: Cli, good: Path) -> None:
    shown = [
        cli("prompt", good, "--arg", "text=Hi", "--fuzz", "--seed", seed)[1] for seed in (1, 1, 2, 3, 4, 5)
    ]
    assert shown[0] == shown[1]
    assert {text.rstrip().splitlines()[-1] for text in shown} == {"calm", "furious"}


def test_a_trace_fills_holes_as_they_were(cli: Cli, good: Path, script: str, tmp_path: Path) -> None:
    trace = tmp_path / "run.jsonl"
    assert cli("run", good, "--arg", "text=Hi", "--model", script, "--trace", trace)[0] == 0
    code, out, _ = cli("prompt", good, "--arg", "text=Hi", "--trace", trace, "--model", script)
    assert code == 0
    assert out == (
        "== feel\n<|im_start|>user\nHow does the writer feel? Hi 1<|im_end|>\n<|im_start|>assistant\n"
        "furious\n-- 49 tokens before feel.mood\n"
    )


def test_tokens_are_shown_with_their_ends(cli: Cli, tmp_path: Path, script: str) -> None:
    path = tmp_path / "two.sgl"
    path.write_text("fn f() -> int:\n    user: | ä\n    assistant: | ?{n: int}!\n    return n\n", "utf-8")
    code, out, _ = cli("prompt", path, "--model", script, "--tokens")
    assert code == 0
    assert out == (
        "== f\n<|im_start|>│u│s│e│r│⏎\n│\\xc3│\\xa4│<|im_end|>│⏎\n│<|im_start|>│a│s│s│i│s│t│a│n│t│⏎\n"
        "│?{n: int}│!│\n-- 21 tokens before f.n\n"
    )


def test_json_has_pieces_holes_and_tokens(cli: Cli, good: Path, script: str) -> None:
    code, out, _ = cli("prompt", good, "--arg", "text=Hi", "--model", script, "--tokens", "--json")
    data = json.loads(out)
    assert (code, data["ok"], data["function"], data["unused"]) == (0, True, "feel", [])
    (shown,) = data["conversations"]
    assert (shown["path"], shown["stopped"], shown["assumed"]) == (["feel"], None, [])
    assert shown["asked"] == [{"hole": "feel.mood", "tokens": 49, "unknown": 0}]
    assert shown["pieces"][:3] == [
        {"special": "<|im_start|>", "id": 256},
        {"text": "user\n"},
        {"role": "user"},
    ]
    assert shown["pieces"][-2:] == [{"unknown": "?{mood: Mood}"}, {"end": "assistant"}]
    assert len(shown["tokens"]) == 50 and shown["tokens"][-1] == {"unknown": "?{mood: Mood}"}
    assert shown["tokens"][0] == {"id": 256, "text": ""}


REFUSED = {
    "an unknown function": (["feal", "--arg", "text=a"], "E0712", "did you mean feel?"),
    "a missing argument": ([], "E0713", "add --arg text=VALUE"),
    "an unknown argument": (["--arg", "txt=a", "--arg", "text=a"], "E0714", "did you mean text?"),
    "an argument outside of its type": (["--arg", "text=a", "--arg", "times=9"], "E0715", "times"),
    "an argument without a value": (["--arg", "text"], "E0803", "NAME=VALUE"),
    "an unknown hole": (["--arg", "text=a", "--fill", "mod=calm"], "E0814", "did you mean mood?"),
    "a value that is none of its hole": (["--arg", "text=a", "--fill", "mood=glad"], "E0818", "feel.mood"),
    "a fill without a value": (["--arg", "text=a", "--fill", "mood"], "E0803", "HOLE=VALUE"),
    "a trace that is not there": (["--arg", "text=a", "--trace", "no.jsonl"], "E0801", "no.jsonl"),
}


@pytest.mark.parametrize(("more", "code", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused(cli: Cli, good: Path, more: list[str], code: str, told: str) -> None:
    status, out, err = cli("prompt", good, *more)
    assert (status, out) == (1, "")
    assert f"error[{code}]" in err and told in err


def test_all_that_is_wrong_is_told_at_once_and_as_json(cli: Cli, good: Path) -> None:
    status, out, err = cli("prompt", good, "--fill", "mod=calm", "--fill", "mood=glad")
    assert status == 1 and err.splitlines()[-1] == "3 errors"
    status, out, _ = cli("prompt", good, "--fill", "mod=calm", "--json")
    found = [diagnostic["code"] for diagnostic in json.loads(out)["diagnostics"]]
    assert (status, found) == (1, ["E0713", "E0814"])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("no json", "line 1 of"),
        ('{"event": "hole_end", "hole": "g.x", "text": ""}', "fills g.x, which"),
        ('{"event": "hole_end"}', "is no event of a trace"),
        ('{"event": "hole_end", "hole": "feel.mood", "text": "", "scores": 3}', "is no event of a trace"),
        (
            '{"event": "hole_end", "hole": "feel.mood", "text": "", "scores": {"a": []}}',
            "is no event of a trace",
        ),
        ('{"event": "hole_end", "hole": "feel.mood", "text": "", "walks": 1.5}', "is no event of a trace"),
        ('{"event": "hole_end", "hole": "feel.mood", "text": "", "proved": 1}', "is no event of a trace"),
        ('{"event": "hole_end", "hole": "feel.mood", "text": "", "ess": true}', "is no event of a trace"),
        ("[]", "is no event of a trace"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(
    cli: Cli, good: Path, tmp_path: Path, line: str, told: str
) -> None:
    trace = tmp_path / "run.jsonl"
    trace.write_text(line + "\n", "utf-8")
    status, _, err = cli("prompt", good, "--arg", "text=a", "--trace", trace)
    assert status == 1 and "error[E0819]" in err and told in err


@pytest.mark.parametrize("how", ["select Mood by greedy", "choose Mood", "choose [calm, cross]"])
def test_probabilities_of_a_trace_decide_as_they_did(cli: Cli, tmp_path: Path, how: str) -> None:
    program, trace = tmp_path / "p.sgl", tmp_path / "run.jsonl"
    program.write_text(
        "enum Mood: calm, cross\n\n"
        "pub fn f() -> str:\n"
        "    user: | How?\n"
        f"    assistant: | ?{{mood: {how}}}\n"
        '    user: | ${"sure" if mood.p(calm) > 0.7 else "not sure"}\n'
        "    assistant: | ?{why: str max 9 chars}\n"
        "    return why\n",
        "utf-8",
    )
    for score, told in ((0.9, "sure"), (0.6, "not sure")):
        scores = {"calm": score, "cross": 0.1, "no option of it": 0.2}
        event = {"event": "hole_end", "hole": "f.mood", "text": "calm", "scores": scores}
        trace.write_text(json.dumps(event) + "\n", "utf-8")
        status, out, err = cli("prompt", program, "--trace", trace, "--json")
        assert status == 0 and f'"{told}"' in out, err


@pytest.mark.parametrize(
    ("decode", "read", "event", "shown"),
    [
        (
            "temp 1.0 decode smc(4)",
            "${x.weight} ${x.ess} ${x.ancestors}",
            {"weight": -2.5, "ess": 3, "ancestors": 2},
            "-2.5 3.0 2",
        ),
        ("temp 1.0 decode smc(4)", "${x.weight < -99.0} ${x.ess}", {"ess": 0.0}, "true 0.0"),
        ("temp 1.0 decode exact", "${x.bound} ${x.walks}", {"bound": -0.5, "walks": 7}, "-0.5 7"),
        ("decode beam(4)", "${x.score} ${x.proved}", {"score": -0.5, "proved": False}, "-0.5 false"),
        ("decode beam(4)", "${x.score} ${x.proved}", {}, "0.0 true"),
    ],
)
def test_figures_of_a_trace_are_those_of_its_holes(
    cli: Cli, tmp_path: Path, decode: str, read: str, event: dict[str, object], shown: str
) -> None:
    program, trace = tmp_path / "p.sgl", tmp_path / "run.jsonl"
    program.write_text(
        "pub fn f() -> int:\n    user: | How many?\n"
        f"    assistant: | ?{{x: int in 1..99 {decode}}}\n    user: | So {read}.\n"
        "    assistant: | ?{y: int in 1..99}\n    return y\n",
        "utf-8",
    )
    event = {"event": "hole_end", "hole": "f.x", "text": "7", **event}
    trace.write_text(json.dumps(event) + "\n", "utf-8")
    status, out, err = cli("prompt", program, "--trace", trace, "--json")
    assert status == 0 and f"So {shown}." in out.replace('", "', ""), (out, err)


def test_options_that_do_not_go_together(cli: Cli, good: Path) -> None:
    assert cli("prompt", good, "--tokens")[0] == 2
    assert cli("prompt", good, "--trace", "a", "--fill", "mood=calm")[0] == 2


def test_a_hole_s_name_in_two_functions_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "two.sgl"
    one = "fn {0}() -> int:\n    | A {0} ?{{n: int}}\n    return n\n\n"
    path.write_text(one.format("f") + one.format("g"), "utf-8")
    status, _, err = cli("prompt", path, "f", "--fill", "n=1")
    assert status == 1 and "`n` may mean 2 holes" in err and "write f.n or g.n" in err
    assert cli("prompt", path, "f", "--fill", "f.n=1")[1] == "== f\nA f 1\n"


def test_a_failure_is_told_behind_what_was_written(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "fails.sgl"
    path.write_text(
        'fn f() -> int:\n    | Say ?{n: int in 0..9}\n    ensure n > 4 else "too small"\n    return n\n',
        "utf-8",
    )
    status, out, err = cli("prompt", path, "--fill", "n=2")
    assert (status, out) == (1, "== f\nSay 2\n") and "Rejected: too small" in err
    status, out, _ = cli("prompt", path, "--fill", "n=2", "--json")
    assert status == 1 and json.loads(out)["diagnostics"][0]["code"] == "E0702"


def test_values_too_many_and_functions_without_text_are_told(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "pure.sgl"
    path.write_text(
        "pub pure fn g() -> int:\n    return 1\n\nfn f() -> int:\n    | ?{n: int}\n    return n\n", "utf-8"
    )
    assert cli("prompt", path, "g") == (0, "", "the call writes nothing into a conversation\n")
    _, _, err = cli("prompt", path, "f", "--fill", "n=1", "--fill", "n=2")
    assert err == "warning: no hole asked for this value of f.n; 1 left\n"


@pytest.mark.slow
def test_no_weights_are_read(tmp_path: Path, script: str) -> None:
    """In a process of its own."""
    program = (
        "import sys; from sglc.cli import main; "
        f"code = main(['prompt', {str(ROLL)!r}, 'stall', '--model', {script!r}]); "
        "sys.exit(code or bool({'torch', 'transformers', 'safetensors'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True, capture_output=True, timeout=60)


def test_a_fill_may_be_for_one_branch(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "fork.sgl"
    path.write_text(
        "fn f() -> [int]:\n    let tries = fork i in 0..1:\n        | Some ?{n: int in 0..9}\n"
        "        yield n\n    return [t.value for t in tries]\n",
        "utf-8",
    )
    out = cli("prompt", path, "--fill", "n@1=4")[1]
    assert "== f > fork, branch 0\nSome ?{n: int in 0..9}\n" in out
    assert "== f > fork, branch 1\nSome 4\n" in out
