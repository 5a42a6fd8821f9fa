"""`sglc diff`: what it prints, and how it exits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Cli

OLD = "pub pure fn f(n: int in 0..9) -> int in 0..9:\n    return n\n"
NARROW = "pub pure fn f(n: int in 0..5) -> int in 0..9:\n    return n\n"
GRAMMAR = 'grammar G:\n    start: "a" | "b" start\n\npub pure fn f(_n: G) -> int:\n    return 1\n'
OTHER = GRAMMAR.replace('"a" | "b" start', '"b" start | "a"')

Diff = Callable[..., tuple[int, str, str]]


@pytest.fixture
def diff(tmp_path: Path, cli: Cli) -> Diff:
    def run(old: str, new: str, *options: str) -> tuple[int, str, str]:
        paths = tmp_path / "old.sgl", tmp_path / "new.sgl"
        for path, text in zip(paths, (old, new), strict=True):
            path.write_text(text, encoding="utf-8")
        return cli("diff", *paths, *options)

    return run


def test_equal_programs_are_compatible(diff: Diff) -> None:
    assert diff(OLD, OLD) == (0, "compatible: every call and every reader stays right\n", "")


def test_a_break_is_shown_with_a_value(diff: Diff) -> None:
    code, out, _ = diff(OLD, NARROW)
    assert code == 1
    assert out.split("\n")[:3] == [
        "breaks   f: parameter `n` takes less: `int in 0..9` is now `int in 0..5`",
        "         example: 6",
        "1 break",
    ]
    assert diff(NARROW, OLD)[0] == 0


def test_what_is_not_known_fails_unless_it_is_allowed(diff: Diff) -> None:
    assert diff(GRAMMAR, OTHER)[0] == 1
    code, out, _ = diff(GRAMMAR, OTHER, "--allow-unknown")
    assert code == 0
    assert "unknown  f: parameter `_n` may take less" in out
    assert diff(OLD, NARROW, "--allow-unknown")[0] == 1


def test_json(diff: Diff) -> None:
    assert json.loads(diff(OLD, NARROW, "--json")[1]) == {
        "compatible": False,
        "changes": [
            {
                "function": "f",
                "kind": "breaks",
                "what": "parameter `n` takes less: `int in 0..9` is now `int in 0..5`",
                "example": "6",
            }
        ],
    }


def test_compiled_programs_and_faulty_ones(diff: Diff, tmp_path: Path, cli: Cli) -> None:
    diff(OLD, NARROW)
    for name in ("old", "new"):
        assert cli("build", tmp_path / f"{name}.sgl", "-o", tmp_path / f"{name}.sglb")[0] == 0
    code, out, _ = cli("diff", tmp_path / "old.sglb", tmp_path / "new.sglb")
    assert (code, "example: 6" in out) == (1, True)
    assert cli("diff", tmp_path / "old.sglb", tmp_path / "gone.sglb")[0] == 1
    code, _, err = diff(OLD, "pub pure fn f( -> int:\n")
    assert code == 1
    assert "E01" in err
