"""`sglc test --coverage`: which branches no test has taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sglc.cli import main

PROGRAM = """enum Mood: calm, angry

fn ask(x: int) -> Mood:
    user: | ${x}
    assistant: | ?{m: Mood}
    return m

pub fn f(x: int) -> int:
    if x > 3:
        return 1
    for i in 0..<x:
        continue
    match ask(x):
        case calm: return 2
        case angry: return 3

"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize(
    ("body", "missed"),
    [
        (
            "    mock ask.m = calm\n    expect f(1) == 2\n",
            ["`x > 3` was never true", "`calm` was never false", "`angry` was never true"],
        ),
        ("    expect f(4) == 1\n", None),
        ("    fuzz f(1) times 40:\n        expect it > 1\n    expect f(4) == 1\n", []),
    ],
)
def test_branches_that_were_not_taken_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], level: str, body: str, missed: list[str] | None
) -> None:
    path = tmp_path / "p.sgl"
    path.write_text(f'{PROGRAM}test "t":\n{body}')
    assert main(["test", str(path), "--coverage", "--json", level]) == 0
    (told,) = json.loads(capsys.readouterr().out)["coverage"].values()
    texts = [each["text"] for each in told["missed"]]
    if missed is None:
        assert told["taken"] == 1 and "`x > 3` was never false" in texts
        assert "the loop over `i` never had a round" in texts
    else:
        assert texts == missed
        assert told["taken"] == told["branches"] - len(missed)
    assert main(["test", str(path), "--coverage", level]) == 0
    shown = capsys.readouterr().out
    assert f"branches: {told['taken']} of {told['branches']} taken" in shown
    assert all(text in shown for text in texts)
