"""The benchmarks of masks: figures, samples, and the process that an engine lives in."""

from __future__ import annotations

import importlib
import json
import lzma
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from checkout import BENCHMARKS


@pytest.fixture
def benchmark_modules(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return {
        name: importlib.import_module(f"mask.{name}")
        for name in ("maskbench", "mask_worker", "mask_digest", "schema_suite", "house_counts")
    }


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """Every byte, two words, and an end token."""
    pieces = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {piece: index for index, piece in enumerate([*pieces, "ab", "abc"])}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=[("a", "b"), ("ab", "c")]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(["</s>"])
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    return str(path)


def test_figures_are_average_quantiles_and_maximum(benchmark_modules: dict[str, ModuleType]) -> None:
    marks = benchmark_modules["maskbench"].figures([1000 * n for n in range(1, 101)])
    assert marks == [50.5, 26.0, 51.0, 76.0, 91.0, 96.0, 100.0, 100.0, 100.0]
    assert benchmark_modules["maskbench"].figures([]) == []


def test_a_sample_depends_on_names_and_seed_only(benchmark_modules: dict[str, ModuleType]) -> None:
    sample = benchmark_modules["maskbench"].sample
    cases = [{"name": f"case {n}"} for n in range(50)]
    assert sample(cases, 10, 1) == sample(cases[::-1], 10, 1)
    assert sample(cases, 10, 1) != sample(cases, 10, 2)
    assert len(sample(cases, 0, 1)) == 50


def test_cases_are_read_from_a_file_or_a_folder(
    benchmark_modules: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maskbench = benchmark_modules["maskbench"]
    case = {"name": "one.json", "schema": {}, "tests": []}
    file, folder = tmp_path / "cases.jsonl.xz", tmp_path / "cases"
    with lzma.open(file, "wt") as lines:
        lines.write(json.dumps(case) + "\n")
    folder.mkdir()
    (folder / "one.json").write_text(json.dumps({"schema": {}, "tests": []}))
    assert maskbench.read_cases(str(file)) == [case]
    assert maskbench.read_cases(str(folder)) == [case]
    monkeypatch.delenv("SGLC_BENCH_DATA", raising=False)
    with pytest.raises(SystemExit, match="SGLC_BENCH_DATA"):
        maskbench.read_cases(None)


def test_the_suite_is_read_from_an_archive(benchmark_modules: dict[str, ModuleType], tmp_path: Path) -> None:
    group = {"description": "g", "schema": {}, "tests": []}
    for name, data in (("tests/draft7/ref.json", [group]), ("remotes/a.json", {"type": "integer"})):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(json.dumps(data))
    with tarfile.open(tmp_path / "suite.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "tests", "tests")
        archive.add(tmp_path / "remotes", "remotes")
    suite = benchmark_modules["schema_suite"].Suite(str(tmp_path / "suite.tar.xz"))
    assert list(suite.groups("draft7", False)) == [("ref", group)]
    assert suite.remotes() == {"http://localhost:1234/a.json": {"type": "integer"}}


def test_texts_of_hard_cases_are_labelled_rightly(benchmark_modules: dict[str, ModuleType]) -> None:
    cases = importlib.import_module("mask.stress_cases")
    for case in cases.CASES + cases.WORSE:
        if case.kind != "schema" or "\\p{" in json.dumps(case.constraint):  # which Python's regexes lack
            continue
        validator = jsonschema.Draft202012Validator(case.constraint)
        assert all(validator.is_valid(value) for value in case.legal), case.name
        assert not any(validator.is_valid(value) for value in case.illegal), case.name


def test_random_texts_are_timed_token_by_token(
    benchmark_modules: dict[str, ModuleType], tokenizer: str
) -> None:
    (worker,) = benchmark_modules["mask_worker"].workers(["sglc"], tokenizer, {}, 0, None)
    job = {"kind": "regex", "constraint": "[a-c]{3}", "texts": [["abc", True]], "walks": 5}
    walked = worker.run(job, 20)
    worker.close()
    assert walked["outcome"] == "right"
    # A text of three characters has one to three tokens, and a mask behind them in which nothing is left.
    assert 1 + 5 * 2 <= len(walked["masks"]) <= 1 + 5 * 4
    assert len(walked["commits"]) == len(walked["masks"]) - 5


@pytest.mark.slow
def test_an_engine_serves_jobs_until_it_is_lost(
    benchmark_modules: dict[str, ModuleType], tokenizer: str
) -> None:
    (worker,) = benchmark_modules["mask_worker"].workers(["sglc"], tokenizer, {}, 0, None)
    job = {
        "kind": "regex",
        "constraint": "abc+|[a-c]{2}",
        "texts": [["abcc", True], ["ab", True], ["abb", False], ["a", False]],
        "again": True,
    }
    right = worker.run(job, 20)
    assert right["outcome"] == "right"
    assert len(right["masks"]) == 2 + 1 + 2 + 1
    assert len(right["again"]["masks"]) == len(right["masks"])
    wrong = worker.run(job | {"texts": [["abc", False], ["acb", True]]}, 20)
    assert wrong["outcome"] == "under"
    assert [(w["text"], w["kind"], w["context"]) for w in wrong["wrong"]] == [
        (0, "under", "abc\u27e6\u27e7"),
        (1, "over", "ac\u27e6b\u27e7"),
    ]
    assert worker.run(job | {"constraint": "(a"}, 20)["outcome"] == "refused"
    assert worker.run(job, 0.0)["outcome"] == "timeout"
    assert worker.run(job, 20)["outcome"] == "right"
    worker.close()


def test_unknown_engines_are_named(benchmark_modules: dict[str, ModuleType], tokenizer: str) -> None:
    with pytest.raises(SystemExit, match="no engine 'other'"):
        benchmark_modules["mask_worker"].workers(["other"], tokenizer, {}, 0, None)


@pytest.mark.slow
def test_a_digest_is_of_the_masks_alone(benchmark_modules: dict[str, ModuleType], tokenizer: str) -> None:
    digests, worker = benchmark_modules["mask_digest"], benchmark_modules["mask_worker"]
    engine = worker.ENGINES["sglc"](worker.TokenizerFile(tokenizer))

    def walked(kind: str, constraint: str, *texts: str) -> Any:
        job = {"kind": kind, "constraint": constraint, "texts": [(text, True) for text in texts]}
        return digests.walk(engine, constraint, job)

    regex = walked("regex", "[ab]+c?", "abc", "ba", "bx")
    # `abc` is one token; behind the last token of a text is one more mask.
    assert regex.count == len(regex.masks) == len(regex.steps) == 2 + 3 + 2
    assert walked("lark", "start: /[ab]+c?/\n", "abc", "ba", "bx").digest == regex.digest
    assert walked("regex", "[ab]+", "abc", "ba", "bx").digest != regex.digest
    refused = walked("regex", "[ab", "a")
    assert refused.outcome.startswith("Refused") and refused.count == 0
    assert digests.digest_of([regex, refused]) != digests.digest_of([refused, regex])


def test_thresholds_are_numbers_that_bound_something(
    benchmark_modules: dict[str, ModuleType], tmp_path: Path
) -> None:
    counts = benchmark_modules["house_counts"]
    (tmp_path / "one.py").write_text(
        "_BOUND, _QUOTE, _LAST = 1 << 4, 34, 0x7F\n"
        "_OF_STEP = 5\nSHARED = 3\nNAMES = ('a',)\nENDLESS = 1 << 30\n"
        "\n\ndef f(x, y):\n    spend(_OF_STEP)\n"
        "    return ENDLESS > len(x) > 2 * _BOUND and y == _QUOTE and _LAST > x < NAMES and x > MORE\n"
        "LESS, SAME, MORE = -1, 0, 1\n"
    )
    (tmp_path / "two.py").write_text(
        "from one import SHARED\n_FEW = 2\nBYTES, OF_ONE = 2 ** 10, 5\n'''Why.'''\n"
        "kept = LeastUsed(BYTES, OF_ONE)\nprint(min(SHARED, 7))\nuse(_FEW)\n"
    )
    paths = counts.files(tmp_path, ".")
    assert [path.name for path in paths] == ["one.py", "two.py"]
    found = counts.thresholds(paths)
    assert [(path.name, line, name) for path, line, name in found] == [
        ("one.py", 1, "_BOUND"),
        ("one.py", 3, "SHARED"),
        ("two.py", 2, "_FEW"),
        ("two.py", 3, "BYTES"),
    ]
    assert counts.without_reason(paths) == found[:3]
