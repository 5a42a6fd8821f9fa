"""`sglc explain mask`: what a hole allows behind a text, as text and as JSON; arguments that are wrong."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from checkout import ROOT
from command_line import Cli
from golden_case import GoldenCase, golden_cases


@pytest.mark.parametrize("case", golden_cases("explain_mask"), ids=str)
def test_the_examples(case: GoldenCase, golden, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    code, out, err = cli("explain", "mask", *shlex.split(case.input))
    assert (code == 0) == (err == "")
    golden(case, out + err)


def test_the_help_has_examples_and_codes_are_explained_as_before(cli: Cli) -> None:
    code, out, _ = cli("explain", "mask", "--help")
    assert code == 0 and "sglc explain mask [OPTIONS] FILE" in out and "Examples:" in out
    assert cli("explain", "E0814")[1].startswith("E0814: no such hole")
    assert json.loads(cli("explain", "--json", "e0101")[1])["code"] == "E0101"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--token-id", "3"], "--token-id needs --model"),
        (["--trace"], "--trace needs --model"),
        (["--token", "a", "--token-id", "3", "--model", "smollm2"], "give one of them"),
        (["--token", ""], "--token needs a text"),
        (["--top", "-1"], "--top"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str, good: Path, cli: Cli) -> None:
    code, out, err = cli("explain", "mask", good, *arguments)
    assert (code, out) == (2, "") and message in err


def test_tokens_of_a_model(good: Path, script: str, cli: Cli) -> None:
    """A scripted model has a vocabulary of bytes."""
    arguments = ("explain", "mask", good, "--model", script, "--text", "c")
    code, out, err = cli(*arguments, "--trace", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["tokens"] == len(found["sample"]) >= 1
    assert found["sample"][0]["text"] == "a" and found["forced"] == "alm"
    assert found["trace"]["tokens"] == found["tokens"] and found["trace"]["threads"] == 1
    code, out, err = cli(*arguments, "--token-id", found["sample"][0]["id"])
    assert (code, err) == (0, "") and "is allowed" in out
    assert cli(*arguments, "--token-id", 10**9)[2].startswith("error[E0816]")
    assert cli("explain", "mask", good, "--model", "/nowhere")[2].startswith("error[E0807]")


def test_conditions_on_values_of_the_run_are_told(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "guess.sgl"
    path.write_text(
        "fn guess(low: int) -> int:\n    assistant: | ?{n: int in 0..9 where n > low}\n    return n\n",
        encoding="utf-8",
    )
    code, out, _ = cli("explain", "mask", path, "--hole", "guess.n")
    assert code == 0 and "not asked its condition compares with given0" in out and "[0-9]" in out


def test_a_name_that_several_holes_have(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "two.sgl"
    body = "() -> int:\n    assistant: | ?{n: int}\n    return n\n"
    path.write_text(f"fn a{body}\nfn b{body}", encoding="utf-8")
    code, _, err = cli("explain", "mask", path, "--hole", "n")
    assert code == 1 and "holes: a.n, b.n" in err
    assert cli("explain", "mask", path, "--hole", "b.n")[0] == 0
