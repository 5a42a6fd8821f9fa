"""`sglc plan` as a command: plans, errors, runs and traces beside them, differences."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from checkout import DOCS, EXAMPLES
from command_line import Cli
from sglc.plan.diff import FunctionChange, as_text
from sglc.runtime.model import load

SCHEMA = json.loads((DOCS / "plan.schema.json").read_text("utf-8"))


def data_of(out: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    return data


def test_a_plan_without_a_model_counts_bytes(good: Path, cli: Cli) -> None:
    code, out, err = cli("plan", good)
    assert (code, err) == (0, "")
    assert "feel(text: str, times: int in 1..3 = …) -> Mood" in out and "in bytes" in out
    assert "varies with text" in out and max(map(len, out.splitlines())) <= 100


def test_a_plan_in_tokens_of_a_model(good: Path, script: str, cli: Cli) -> None:
    code, out, _ = cli("plan", good, "feel", "--model", script, "--json")
    data = data_of(out)
    assert (code, data["unit"], data["model"]) == (0, "tokens", script)
    (function,) = data["functions"]
    (hole,) = [row["hole"] for row in function["rows"] if "hole" in row]
    # One token a byte: `calm` and `furious`, whose first letters decide.
    assert (hole["least"], hole["greatest"], hole["drawn"], hole["forced"]) == (4, 7, 1, 3)
    assert hole["least_exact"] and hole["greatest_exact"] and hole["value"] == "calm"


PRICED = """[models.main]
use = "{use}"
price = {{ input = 1, output = 2.5, currency = "EUR" }}
"""


def test_answers_have_a_price_where_the_project_has_one(good: Path, script: str, cli: Cli) -> None:
    (good.parent / "sgl.toml").write_text(PRICED.format(use=script))
    (function,) = data_of(cli("plan", good, "feel", "--json")[1])["functions"]
    assert function["cost"] == {"least": "0.00001", "greatest": "0.0000175", "currency": "EUR"}
    out = cli("plan", good, "feel")[1]
    assert "answers cost 0.00001 EUR at least, 0.0000175 EUR at most" in out


def test_a_model_elsewhere_is_planned_in_bytes_or_in_tokens_of_another(
    good: Path, script: str, cli: Cli
) -> None:
    (good.parent / "sgl.toml").write_text(PRICED.format(use="openai:gpt-x"))
    code, out, _ = cli("plan", good, "feel")
    assert code == 0 and "in bytes" in out and "answers have a price: --model NAME" in out
    (function,) = data_of(cli("plan", good, "feel", "--json")[1])["functions"]
    assert "cost" not in function
    assert "answers cost 0.00001 EUR" in cli("plan", good, "feel", "--model", script)[1]


def test_functions_that_ask_no_model_are_left_out(cli: Cli) -> None:
    names = [
        function["name"]
        for function in data_of(cli("plan", EXAMPLES / "countdown.sgl", "--json")[1])["functions"]
    ]
    assert names == ["play"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["no.sgl"], 1, "there is no file"),
        (["GOOD", "fel"], 1, "did you mean feel?"),
        (["GOOD", "--arg", "text=x"], 2, "--arg belongs to --run"),
        (["GOOD", "--args", "x.json"], 2, "--args belongs to --run"),
        (["GOOD", "--run", "--trace", "x"], 2, "--run and --trace"),
        (["GOOD", "--run", "--diff", "x"], 2, "--diff compares"),
        (["GOOD", "--model", "./none"], 1, "unknown model"),
        (["GOOD", "--trace", "none.jsonl"], 1, "there is no file"),
        (["GOOD", "--trace", "GOOD"], 1, "is no trace of a run"),
        (["GOOD", "--diff", "none.sglb"], 1, "there is no file"),
        (["GOOD", "--model", "big=SCRIPT"], 2, "belongs to --run"),
        (["GOOD", "--run", "--model", "SCRIPT"], 1, "the argument text is missing"),
        (["GOOD", "--run", "--model", "SCRIPT", "--arg", "text"], 1, "is not NAME=VALUE"),
        (
            ["GOOD", "--run", "--model", "SCRIPT", "--arg", "text=x", "--arg", "tmes=2"],
            1,
            "did you mean times?",
        ),
        (
            ["GOOD", "--run", "--model", "SCRIPT", "--arg", "text=x", "--arg", "times=9"],
            1,
            "the value of times",
        ),
    ],
)
def test_wrong_calls_are_told(
    arguments: list[str], code: int, said: str, good: Path, script: str, cli: Cli
) -> None:
    given = [{"GOOD": str(good), "SCRIPT": script}.get(argument, argument) for argument in arguments]
    found, out, err = cli("plan", *given)
    assert (found, out) == (code, "")
    assert said in err and "Traceback" not in err


def test_a_function_that_asks_no_model_has_no_plan(cli: Cli) -> None:
    code, _, err = cli("plan", EXAMPLES / "countdown.sgl", "fair")
    assert code == 1 and "fair asks no model" in err and "play" in err


# -- beside a run ----------------------------------------------------------------------------------------


def stats_of(err: str) -> dict[str, Any]:
    stats: dict[str, Any] = json.loads(err.splitlines()[-1])
    return stats


def same_as_stats(data: dict[str, Any], stats: dict[str, Any]) -> None:
    """The figures of `plan --run` are those of `run --stats`."""
    assert data["run"]["holes"] == {
        name: {
            "times": hole["fillings"],
            "tokens": hole["tokens"],
            "drawn": hole["sampled"],
            "forced": hole["forced"],
            "passes": hole["forwards"],
        }
        for name, hole in stats["holes"].items()
    }
    for name, figure in (("passes", "forwards"), ("prompt", "prompt"), ("reused", "reused")):
        assert data["run"][name] == sum(hole[figure] for hole in stats["holes"].values())
    assert data["run"]["tokens"] == stats["process"]["tokens"]


def test_a_run_beside_the_plan_has_the_figures_of_stats(good: Path, script: str, cli: Cli) -> None:
    given = (good, "--model", script, "--arg", "text=Hello")
    code, out, _ = cli("plan", *given, "--run", "--json")
    data = data_of(out)
    assert code == 0
    same_as_stats(data, stats_of(cli("run", *given, "--stats=json")[2]))
    assert data["run"]["holes"]["feel.mood"]["tokens"] == len("furious")
    shown = cli("plan", *given, "--run")[1]
    assert "this run" in shown and "tokens 7" in shown


def test_a_run_that_fails_still_shows_the_plan(good: Path, tmp_path: Path, cli: Cli) -> None:
    script = tmp_path / "s.json"
    script.write_text("[]", "utf-8")
    given = (good, "--run", "--model", f"scripted:{script}", "--arg", "text=x", "--max-tokens", "1")
    code, out, err = cli("plan", *given)
    assert code == 1 and "mood: Mood" in out and "Truncated" in err


def test_a_trace_beside_the_plan(good: Path, script: str, tmp_path: Path, cli: Cli) -> None:
    trace = tmp_path / "run.jsonl"
    assert cli("run", good, "--model", script, "--arg", "text=x", "--trace", trace)[0] == 0
    code, out, _ = cli("plan", good, "--model", script, "--trace", trace, "--json")
    assert code == 0
    took = data_of(out)["run"]["holes"]["feel.mood"]
    assert took == {"times": 1, "tokens": 7, "drawn": 1, "forced": 6, "passes": None}


def test_a_trace_of_another_program_is_refused(good: Path, script: str, tmp_path: Path, cli: Cli) -> None:
    trace = tmp_path / "run.jsonl"
    assert cli("run", good, "--model", script, "--arg", "text=x", "--trace", trace)[0] == 0
    code, out, err = cli("plan", EXAMPLES / "loop.sgl", "--trace", trace)
    assert (code, out) == (1, "") and "fills feel.mood, which loop.sgl has not" in err


def test_a_run_shows_the_functions_that_it_called(good: Path, script: str, cli: Cli) -> None:
    with good.open("a", encoding="utf-8") as file:
        file.write("\npub fn twice(text: str) -> Mood:\n    return feel(text, 2)\n")
    code, out, _ = cli("plan", good, "twice", "--model", script, "--run", "--arg", "text=x", "--json")
    data = data_of(out)
    assert (code, [function["name"] for function in data["functions"]]) == (0, ["twice", "feel"])
    assert set(data["run"]["holes"]) == {"feel.mood"}


# -- differences -----------------------------------------------------------------------------------------


def test_differences_both_ways(good: Path, tmp_path: Path, cli: Cli) -> None:
    old = tmp_path / "old.sglb"
    assert cli("build", good, "-o", old)[0] == 0
    assert cli("plan", good, "--diff", old)[:2] == (0, "nothing has changed\n")
    text = good.read_text("utf-8")
    good.write_text(
        text.replace("How does", "So how does").replace("calm, furious", "calm, furious, sad"), "utf-8"
    )
    code, out, _ = cli("plan", good, "--diff", old)
    assert code == 1
    assert '- user: text of 25: "How does the writer feel? "' in out.replace("26", "25")
    assert "+ assistant: hole feel.mood: Mood, 3 to" in out and "~ least: 4 -> 3" in out
    new = tmp_path / "new.sglb"
    cli("build", good, "-o", new)
    code, back, _ = cli("plan", old, "--diff", new)
    assert code == 1 and "~ least: 3 -> 4" in back
    turned = back.translate(str.maketrans("+-", "-+"))
    assert sorted(line for line in turned.splitlines() if line[2:3] in "+-") == sorted(
        line for line in out.splitlines() if line[2:3] in "+-"
    )


def test_functions_that_come_and_go(good: Path, tmp_path: Path, cli: Cli) -> None:
    old = tmp_path / "old.sglb"
    cli("build", good, "-o", old)
    more = "\nfn more() -> int:\n    user: | Why?\n    assistant: | ?{n: int in 1..6}\n    return n\n"
    good.write_text(good.read_text("utf-8") + more, "utf-8")
    code, out, _ = cli("plan", good, "--diff", old, "--json")
    assert code == 1
    data = json.loads(out)
    assert [(each["name"], each["change"]) for each in data["functions"]] == [("more", "added")]
    new = tmp_path / "new.sglb"
    cli("build", good, "-o", new)
    data = json.loads(cli("plan", old, "--diff", new, "--json")[1])
    assert [(each["name"], each["change"]) for each in data["functions"]] == [("more", "removed")]
    assert cli("plan", good, "feel", "--diff", old)[0] == 0


def test_masks_are_no_difference(good: Path, script: str, tmp_path: Path, cli: Cli) -> None:
    old = tmp_path / "old.sglb"
    assert cli("build", good, "-o", old, "--model", script, "--pack")[0] == 0
    assert cli("plan", good, "--model", script, "--diff", old)[:2] == (0, "nothing has changed\n")


def test_rows_that_would_look_the_same_show_what_differs() -> None:
    text = {"depth": 0, "kind": "text", "role": "system", "size": 9, "behind": False}
    before, now = {**text, "text": "word " * 40 + "old"}, {**text, "text": "word " * 40 + "new"}
    hole = {"name": "f.a", "type": "T", "least": 1, "least_exact": True, "greatest": 2, "attempts": 1}
    one, other = ({"kind": "hole", "hole": {**hole, "value": value}} for value in ("ab", "cd"))
    moved = {**text, "text": "x", "behind": True}, {**text, "text": "x"}
    shown = as_text(
        [FunctionChange("f", "changed", (before, one, moved[0]), (now, other, moved[1]))]
    ).splitlines()
    assert [line[:4] for line in shown[1:]] == ["  - "] * 3 + ["  + "] * 3
    assert 'word word old"' in shown[1] and 'word word new"' in shown[4] and "…" in shown[1]
    assert shown[2].endswith("(value: ab)") and shown[5].endswith("(value: cd)")
    assert shown[3].endswith("(behind: True)") and shown[6].endswith("(behind: False)")


# -- what it loads ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("model", [[], ["--model", "SCRIPT"]], ids=["bytes", "tokens"])
def test_a_static_plan_loads_no_torch(model: list[str], good: Path, script: str) -> None:
    given = [script if argument == "SCRIPT" else argument for argument in model]
    code = (
        "import sys\nfrom sglc.cli import main\n"
        f"assert main({['plan', str(good), *given]!r}) == 0\n"
        "loaded = {'torch', 'transformers', 'safetensors'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-P", "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_masks_that_were_made_ahead_are_shown(good: Path, tmp_path: Path, script: str, cli: Cli) -> None:
    artefact = tmp_path / "good.sglb"
    assert cli("build", good, "-o", artefact, "--model", script)[0] == 0
    data = data_of(cli("plan", artefact, "--model", script, "--json")[1])
    (hole,) = [row["hole"] for row in data["functions"][0]["rows"] if "hole" in row]
    assert hole["masks"]["states"] > 2 and hole["masks"]["bytes"] > 100
    shown = cli("plan", artefact, "--model", script)[1]
    assert f"masks ahead: {hole['masks']['states']:,} states" in shown


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.skipif(
    not (load.cached_folder(load.DEFAULT) or load.package_file()), reason="no SmolLM2 weights at hand"
)
def test_with_smollm2(cli: Cli) -> None:
    # How much is drafted is a matter of times.
    given = (EXAMPLES / "orders.sgl", "answer", "--model", "smollm2", "--no-speculation")
    code, out, _ = cli("plan", *given, "--run", "--json")
    assert code == 0
    data = data_of(out)
    same_as_stats(data, stats_of(cli("run", *given, "--stats=json")[2]))
    (hole,) = [row["hole"] for row in data["functions"][0]["rows"] if "hole" in row]
    took = data["run"]["holes"]["answer.said"]
    assert hole["least_exact"] and hole["least"] <= took["tokens"] <= hole["greatest"]
    assert hole["drawn"] + hole["forced"] >= hole["least"]
