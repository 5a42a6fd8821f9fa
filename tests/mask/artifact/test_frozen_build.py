"""`sglc build --model`: masks beside the program and in the cache, and runs that start from them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sglc.cli import main
from sglc.runtime.decoding import requests
from sglc.runtime.mask.artifact import constraint as frozen
from sglc.runtime.mask.artifact.constraint import FrozenConstraint

SOURCE = """\
enum Desk: billing, support

record Ticket:
    desk: Desk
    lines: [int in 0..9; 1..3]

fn sort(mail: str) -> Ticket:
    user: | Sort ${mail}
    assistant:
        | Ticket: ?{ticket: Ticket} done
    return ticket
"""
ANSWER = {"desk": "support", "lines": [4, 2]}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "sort.sgl").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "script.json").write_text(json.dumps({"ticket": ANSWER}), encoding="utf-8")
    return tmp_path


def build(place: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, object]:
    arguments = ["build", str(place / "sort.sgl"), "--model", f"scripted:{place / 'script.json'}", "--json"]
    assert main([*arguments, *more]) == 0
    return json.loads(capsys.readouterr().out)


def run(place: Path, capsys: pytest.CaptureFixture[str], file: str = "sort.sglb") -> object:
    arguments = ["--arg", "mail=hello", "--model", f"scripted:{place / 'script.json'}"]
    assert main(["run", str(place / file), *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The languages of constraints that were compiled instead of found."""
    seen: list[object] = []
    real = requests.compile_constraint

    def compile_constraint(**given: object) -> object:
        seen.append(given["language"])
        return real(**given)  # type: ignore[arg-type]

    def thawed(self: FrozenConstraint) -> object:
        seen.append(self.language)
        return frozen.Constraint(self.language, self.options)

    monkeypatch.setattr(requests, "compile_constraint", compile_constraint)
    monkeypatch.setattr(FrozenConstraint, "compiled", thawed)
    return seen


def test_a_run_of_what_was_built_compiles_nothing(
    place: Path, capsys: pytest.CaptureFixture[str], compiled: list[object]
) -> None:
    said = build(place, capsys)
    files = sorted((place / "sort.masks").iterdir())
    masks = said["masks"]
    assert isinstance(masks, dict)
    assert masks["constraints"] == len(files) > 0
    assert masks["bytes"] == sum(file.stat().st_size for file in files)
    assert run(place, capsys) == ANSWER
    assert compiled == []


def test_a_run_of_the_source_starts_from_the_cache(
    place: Path, capsys: pytest.CaptureFixture[str], compiled: list[object]
) -> None:
    assert run(place, capsys, "sort.sgl") == ANSWER
    assert compiled
    compiled.clear()
    build(place, capsys, "-o", str(place / "elsewhere.sglb"))
    assert run(place, capsys, "sort.sgl") == ANSWER
    assert compiled == []


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied", "replaced"])
def test_damaged_masks_are_passed_over(
    place: Path, capsys: pytest.CaptureFixture[str], compiled: list[object], damage: str
) -> None:
    build(place, capsys)
    for folder in (place / "sort.masks", place / "cache" / "masks"):
        for file in folder.iterdir():
            data = bytearray(file.read_bytes())
            data[150] ^= 1
            file.write_bytes(
                {"cut": data[:400], "changed": data, "emptied": b"", "replaced": b"x" * 900}[damage]
            )
    assert run(place, capsys) == ANSWER
    assert compiled


def test_a_damaged_file_in_the_cache_is_made_again(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = build(place, capsys)
    kept = {file.name: file.read_bytes() for file in (place / "sort.masks").iterdir()}
    for file in (place / "cache" / "masks").iterdir():
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert build(place, capsys) == first
    for folder in (place / "sort.masks", place / "cache" / "masks"):
        assert {file.name: file.read_bytes() for file in folder.iterdir()} == kept


def test_holes_that_depend_on_values_of_the_run_are_left_out(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (place / "sort.sgl").write_text(
        "fn sort(mail: str, names: [str]) -> str:\n"
        "    assistant:\n"
        "        | ?{name: one of names}, ?{quote: span of mail max 20 chars}\n"
        "    return quote\n",
        encoding="utf-8",
    )
    masks = build(place, capsys)["masks"]
    assert isinstance(masks, dict) and masks["constraints"] == masks["bytes"] == 0
    why = "its type or `where` reads values of the run"
    assert masks["left_out"] == {"sort.name": why, "sort.quote": why}
    assert main(["build", str(place / "sort.sgl"), "--model", f"scripted:{place / 'script.json'}"]) == 0
    assert f"no masks ahead of time for sort.quote: {why}" in capsys.readouterr().out


def test_masks_that_are_no_longer_needed_are_removed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(place, capsys)
    before = set((place / "sort.masks").iterdir())
    stranger = place / "sort.masks" / "notes.txt"
    stranger.write_text("mine", encoding="utf-8")
    (place / "sort.sgl").write_text(SOURCE.replace("1..3", "1..4"), encoding="utf-8")
    build(place, capsys)
    after = set((place / "sort.masks").iterdir())
    assert stranger in after and not after & before


def test_a_folder_that_cannot_be_made_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "sort.masks").write_text("in the way", encoding="utf-8")
    arguments = ["build", str(place / "sort.sgl"), "--model", f"scripted:{place / 'script.json'}"]
    assert main(arguments) == 1
    assert "E0805" in capsys.readouterr().err


def test_a_model_that_is_not_there_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", str(place / "sort.sgl"), "--model", "no-such-model"]) == 1
    assert "E0807" in capsys.readouterr().err
    assert main(["build", str(place / "sort.sgl"), "--emit", "ir", "--model", "x"]) == 2


@pytest.mark.slow
def test_building_for_a_model_never_loads_torch(place: Path) -> None:
    arguments = ["build", str(place / "sort.sgl"), "--model", f"scripted:{place / 'script.json'}"]
    code = (
        "import sys\n"
        "from sglc.cli import main\n"
        f"code = main({arguments!r})\n"
        "heavy = {'torch', 'transformers', 'rich'} & set(sys.modules)\n"
        "sys.exit(code or (f'loaded {heavy}' if heavy else 0))\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
