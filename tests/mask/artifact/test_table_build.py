"""`sglc build --model`: masks beside the program and in the cache, and runs that start from them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sglc.bytecode.serial import loads
from sglc.cli import main
from sglc.commands.building import masks
from sglc.runtime.decoding import requests
from sglc.runtime.mask.artifact import constraint as constraints
from sglc.runtime.mask.artifact.constraint import TabledConstraint
from sglc.runtime.mask.artifact.pack import MaskPack, pack
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

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

    def compiled_now(self: TabledConstraint) -> object:
        seen.append(self.language)
        return constraints.Constraint(self.language, self.options)

    monkeypatch.setattr(requests, "compile_constraint", compile_constraint)
    monkeypatch.setattr(TabledConstraint, "compiled", compiled_now)
    return seen


@pytest.mark.parametrize("packed", [(), ("--pack",)])
def test_a_run_of_what_was_built_compiles_nothing(
    place: Path, capsys: pytest.CaptureFixture[str], compiled: list[object], packed: tuple[str, ...]
) -> None:
    said = build(place, capsys, *packed)
    told = said["masks"]
    assert isinstance(told, dict)
    file = place / ("sort.sglb" if packed else "sort.sglm")
    assert told["output"] == str(file) and (place / "sort.sglm").exists() != bool(packed)
    assert told["constraints"] == len(MaskPack.open(file).contents()) == 2
    assert 0 < told["bytes"] < file.stat().st_size
    assert said["bytes"] == (place / "sort.sglb").stat().st_size
    shutil.rmtree(place / "cache" / "masks")
    assert run(place, capsys) == ANSWER
    assert compiled == []


def test_a_packed_program_may_be_moved_and_is_built_again(
    place: Path, capsys: pytest.CaptureFixture[str], compiled: list[object]
) -> None:
    build(place, capsys, "--pack")
    first = (place / "sort.sglb").read_bytes()
    build(place, capsys, "--pack")
    assert (place / "sort.sglb").read_bytes() == first
    shutil.rmtree(place / "cache" / "masks")
    (place / "sort.sglb").rename(place / "moved.sglb")
    assert run(place, capsys, "moved.sglb") == ANSWER
    assert compiled == []


def test_a_value_and_the_same_before_a_stop_share_their_tables(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(place, capsys)
    packed = MaskPack.open(place / "sort.sglm").contents()
    assert len({table.constraint for table in packed}) == 2 and len({table.data for table in packed}) == 1
    entries = sum(len(data) for data in {table.data for table in packed})
    assert entries < (place / "sort.sglm").stat().st_size < entries + 600


def test_states_that_are_not_shared_are_two_tables(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, compiled: list[object]
) -> None:
    real = masks.tabulate

    def apart(*given: Any, **named: Any) -> Any:
        if named.get("alone") is not None:
            raise masks.NotShared
        return real(*given, **named)

    monkeypatch.setattr(masks, "tabulate", apart)
    build(place, capsys)
    packed = MaskPack.open(place / "sort.sglm").contents()
    assert len({table.constraint for table in packed}) == 2 == len({table.data for table in packed})
    assert run(place, capsys) == ANSWER and compiled == []


def test_masks_of_other_models_stay_in_the_pack(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    build(place, capsys)
    first = MaskPack.open(place / "sort.sglm").contents()
    real = masks.read_tokenizer

    def another(invocation: Any, model: str) -> Any:
        tokenizer = real(invocation, model)
        known = tokenizer.vocabulary()
        other = Vocabulary([*known.token_bytes, b"one more"], known.end_ids)
        monkeypatch.setattr(type(tokenizer), "vocabulary", lambda self: other)
        return tokenizer

    monkeypatch.setattr(masks, "read_tokenizer", another)
    build(place, capsys)
    both = MaskPack.open(place / "sort.sglm").contents()
    assert len(both) == 2 * len(first) and set(first) < set(both)


def test_a_budget_of_bytes_bounds_the_masks_and_says_what_it_cut(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = build(place, capsys)["masks"]
    assert isinstance(whole, dict) and whole["cut"] == {}
    for most in (whole["bytes"], whole["bytes"] * 3 // 4, whole["bytes"] // 2):
        cut = build(place, capsys, "--mask-bytes", str(most))["masks"]
        assert isinstance(cut, dict) and cut["bytes"] <= most
        assert bool(cut["cut"]) == (most < whole["bytes"]) and cut["left_out"] == {}
        assert run(place, capsys) == ANSWER
    none = build(place, capsys, "--mask-bytes", "100")["masks"]
    assert isinstance(none, dict) and none["constraints"] == none["bytes"] == 0
    assert none["left_out"] == {"sort.ticket": "the budget of bytes has no room for it"}
    assert build(place, capsys)["masks"] == whole


def test_a_run_of_the_source_starts_from_the_cache(
    place: Path, capsys: pytest.CaptureFixture[str], compiled: list[object]
) -> None:
    assert run(place, capsys, "sort.sgl") == ANSWER
    assert compiled
    compiled.clear()
    build(place, capsys, "-o", str(place / "elsewhere.sglb"))
    assert run(place, capsys, "sort.sgl") == ANSWER
    assert compiled == []


@pytest.mark.parametrize("packed", [(), ("--pack",)])
@pytest.mark.parametrize("damage", ["cut", "changed", "emptied", "replaced"])
def test_damaged_masks_are_passed_over(
    place: Path,
    capsys: pytest.CaptureFixture[str],
    compiled: list[object],
    damage: str,
    packed: tuple[str, ...],
) -> None:
    build(place, capsys, *packed)
    program = (place / "sort.sglb").stat().st_size - len(pack_bytes(place)) if packed else 0
    for file in (place / ("sort.sglb" if packed else "sort.sglm"), *(place / "cache" / "masks").iterdir()):
        whole = file.read_bytes()
        at = program if file.suffix == ".sglb" else 0
        data = bytearray(whole[at:])
        data[150] ^= 1
        bad = {"cut": data[:400], "changed": data, "emptied": b"", "replaced": b"SGLPACK\0" * 90}[damage]
        file.unlink()  # two names in the cache may be of one file
        file.write_bytes(whole[:at] + bad)
    assert run(place, capsys) == ANSWER
    assert compiled


def pack_bytes(place: Path) -> bytes:
    """The pack of the program, as a file of its own would be."""
    return pack(MaskPack.open(place / "sort.sglb").contents())


def test_other_bytes_behind_a_program_are_refused(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(place, capsys)
    data = (place / "sort.sglb").read_bytes()
    program, found = loads(data + b"SGLPACK\0")
    assert program is not None and found == []
    for behind in (b"\0", b"SGLPAC", b"x" * 100):
        program, found = loads(data + behind)
        assert program is None and [one.code for one in found] == ["E0604"]


def test_a_damaged_file_in_the_cache_is_made_again(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = build(place, capsys)
    kept = (place / "sort.sglm").read_bytes()
    files = sorted((place / "cache" / "masks").iterdir())
    before = [file.read_bytes() for file in files]
    for file in files:
        data = file.read_bytes()
        file.unlink()
        file.write_bytes(data[:-1] + b"?")
    assert build(place, capsys) == first
    assert (place / "sort.sglm").read_bytes() == kept
    assert [file.read_bytes() for file in files] == before


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
    said = build(place, capsys)["masks"]
    assert isinstance(said, dict) and said["constraints"] == said["bytes"] == 0
    why = "its type or `where` reads values of the run"
    assert said["left_out"] == {"sort.name": why, "sort.quote": why}
    assert main(["build", str(place / "sort.sgl"), "--model", f"scripted:{place / 'script.json'}"]) == 0
    assert f"no masks ahead of time for sort.quote: {why}" in capsys.readouterr().out


KNOWN = """\
enum Name: Ada, Bob, Cleo

record Person:
    name: Name
    age: int in 18..70

fn choose(pets: [str] = ["cat", "dog"]) -> str:
    assistant: | ?{pet: one of pets}
    return pet

fn invent() -> Person:
    let taken = [Bob]
    assistant: | ?{person: Person where person.name not in taken}
    return person
"""


def test_values_that_the_program_says_are_put_in(
    place: Path, capsys: pytest.CaptureFixture[str], compiled: list[object]
) -> None:
    """Constants, and defaults of parameters; another argument is compiled."""
    (place / "sort.sgl").write_text(KNOWN, encoding="utf-8")
    script = {"pet": "dog", "person": {"name": "Cleo", "age": 30}}
    (place / "script.json").write_text(json.dumps(script), encoding="utf-8")
    said = build(place, capsys)["masks"]
    assert isinstance(said, dict) and said["left_out"] == {}
    model = ["--model", f"scripted:{place / 'script.json'}"]
    for function, answer in [("choose", "dog"), ("invent", script["person"])]:
        assert main(["run", str(place / "sort.sglb"), function, *model]) == 0
        assert json.loads(capsys.readouterr().out) == answer
    assert compiled == []
    assert main(["run", str(place / "sort.sglb"), "choose", "--arg", 'pets=["dog", "fish"]', *model]) == 0
    assert capsys.readouterr().out.strip() == '"dog"' and compiled


def test_masks_that_are_no_longer_needed_are_removed(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(place, capsys)
    before = {table.constraint for table in MaskPack.open(place / "sort.sglm").contents()}
    (place / "sort.sgl").write_text(SOURCE.replace("1..3", "1..4"), encoding="utf-8")
    build(place, capsys)
    after = {table.constraint for table in MaskPack.open(place / "sort.sglm").contents()}
    assert after and not after & before


def test_a_pack_that_cannot_be_written_is_told(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "sort.sglm").mkdir()
    arguments = ["build", str(place / "sort.sgl"), "--model", f"scripted:{place / 'script.json'}"]
    assert main(arguments) == 1
    assert "E0805" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--pack"], ["--mask-bytes", "1M"]])
def test_options_of_masks_go_with_a_model(
    place: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    assert main(["build", str(place / "sort.sgl"), *option]) == 2
    assert f"{option[0]} goes with --model" in capsys.readouterr().err


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
