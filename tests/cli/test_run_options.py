"""Options of `sglc run` on the engine and on what is told about its work."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest

from command_line import Cli, cli, good, script
from fakes.fake_executor import FakeExecutor
from oracles.prometheus_text import samples
from sglc.commands.running.run_options import disk_folder, endpoint, read_size, size
from sglc.commands.running.statistics import as_tables, duration
from sglc.commands.shared.startup import Startup
from sglc.runtime.engine.batching_engine import BatchingEngine
from sglc.runtime.engine.core.options import DISK_BYTES, EngineOptions
from sglc.runtime.engine.load import load_engine
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.model.weights.errors import ModelError

__all__ = ["cli", "good", "script"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("512M", 512 << 20),
        ("2g", 2 << 30),
        ("1.5G", 3 << 29),
        ("64KiB", 65536),
        ("3 GB", 3 << 30),
        ("10B", 10),
        ("", None),
        ("G", None),
        ("-1", None),
        ("1X", None),
        ("1e9", None),
    ],
)
def test_sizes_are_read(text: str, expected: int | None) -> None:
    assert read_size(text) == expected


def test_a_folder_may_have_a_size_and_a_port_an_address() -> None:
    assert disk_folder("kv") == (Path("kv"), DISK_BYTES)
    assert disk_folder("/a:b/kv:10M") == (Path("/a:b/kv"), 10 << 20)
    assert disk_folder("kv:x") == (Path("kv:x"), DISK_BYTES)
    assert endpoint(":9464") == ("127.0.0.1", 9464)
    assert endpoint("0.0.0.0:80") == ("0.0.0.0", 80)
    assert endpoint("a/b.prom") == Path("a/b.prom")
    for bad in (":0", ":65536"):
        with pytest.raises(click.BadParameter):
            endpoint(bad)
    with pytest.raises(click.BadParameter):
        size("0")


# -- the engine ----------------------------------------------------------------------------------------


@pytest.fixture
def executor(monkeypatch: pytest.MonkeyPatch) -> FakeExecutor:
    made = FakeExecutor()
    monkeypatch.setattr("sglc.runtime.engine.load.load_executor", lambda *_, **__: made)
    return made


def test_an_engine_has_the_memory_that_was_asked_for(executor: FakeExecutor, tmp_path: Path) -> None:
    options = EngineOptions(
        kv_memory=100 * executor.block_bytes + 1,
        kv_disk=tmp_path / "kv",
        kv_disk_bytes=1 << 20,
        kv_eviction="lfu",
        max_queue=5,
    )
    engine = load_engine("any", **options.keywords())
    assert isinstance(engine, BatchingEngine)
    stats = engine.get_cache_stats()
    assert stats.blocks == len(executor.states) == 100
    assert stats.disk is not None and stats.disk.limit == 1 << 20
    assert engine.cache.tree.heap.policy == "lfu" and engine.max_queue == 5
    engine.close()


def test_memory_without_room_for_a_block_is_refused(executor: FakeExecutor) -> None:
    with pytest.raises(ModelError) as raised:
        load_engine("any", memory=10)
    assert (
        "no room for keys and values" in raised.value.what and "one of this model takes" in raised.value.why
    )
    assert executor.closed


def test_a_folder_that_cannot_be_used_is_refused(executor: FakeExecutor, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ModelError) as raised:
        load_engine("any", memory=1 << 20, disk=file)
    assert "folder for keys and values" in raised.value.what and raised.value.where == str(file)


def test_a_scripted_model_is_served_by_the_simple_engine(script: str) -> None:
    assert isinstance(load_engine(script), ReferenceEngine)


def test_the_command_passes_the_options_on(
    good: Path, script: str, cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[dict[str, Any]] = []

    def load(name: str, *, progress: Any, **options: Any) -> Any:
        seen.append(options)
        return load_engine(name)

    monkeypatch.setattr("sglc.commands.running.loading.load_engine", load)
    code, _, err = cli(
        "run",
        good,
        "--arg",
        "text=x",
        "--model",
        script,
        "--executor",
        "torch",
        "--threads",
        "3",
        "--dtype",
        "float32",
        "--kv-memory",
        "64M",
        "--kv-disk",
        f"{tmp_path}/kv:1G",
        "--device",
        "cuda",
        "--no-speculation",
        "--kv-eviction",
        "lfu",
        "--max-queue",
        "7",
        "--draft",
        "layers:3",
    )
    assert code == 0, err
    given = ("torch", "float32", 3, "cuda", 64 << 20, tmp_path / "kv", 1 << 30, False, "lfu", 7, "layers:3")
    assert seen == [EngineOptions(*given).keywords()]


def test_a_draft_model_that_cannot_be_used_is_told(good: Path, script: str, cli: Cli) -> None:
    code, _, err = cli("run", good, "--arg", "text=x", "--model", script, "--draft", "layers:1")
    assert code == 1 and "E0807" in err and "a scripted model writes its answers without steps" in err
    code, out, _ = cli("run", good, "--arg", "text=x", "--model", script, "--draft", "none")
    assert code == 0 and out.strip() == '"furious"'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kv-memory", "lots"], "is no size"),
        (["--executor", "gpu"], "'gpu' is not one of"),
        (["--kv-eviction", "random"], "'random' is not one of"),
        (["--max-queue", "0"], "0 is not in the range"),
        (["--threads", "0"], "0 is not in the range"),
        (["--stats=yaml"], "'yaml' is not one of"),
        (["--span-texts"], "--span-texts belongs to --spans"),
    ],
)
def test_wrong_options_are_wrong_usage(arguments: list[str], message: str, good: Path, cli: Cli) -> None:
    code, _, err = cli("run", good, *arguments)
    assert code == 2 and message in err


# -- figures -------------------------------------------------------------------------------------------


def test_stats_are_tables_on_stderr(good: Path, script: str, cli: Cli) -> None:
    code, out, err = cli("run", good, "--stats", "--arg", "text=x", "--model", script)
    assert code == 0 and out.strip() == '"furious"'
    lines = err.splitlines()
    head = next(line for line in lines if line.startswith("hole"))
    assert head.split() == [
        "hole",
        "times",
        "tokens",
        "drawn",
        "forced",
        "passes",
        "drafts",
        "masks",
        "queue",
        "time",
    ]
    assert any(line.startswith("function") for line in lines)
    assert any(line.startswith("1 run, ") and "tok/s" in line for line in lines)
    assert any(line.startswith("start: Python ") and "until the first token" in line for line in lines)


def test_stats_as_json_can_be_read(good: Path, script: str, cli: Cli) -> None:
    code, _, err = cli("run", good, "--stats=json", "--arg", "text=x", "--model", script)
    found = json.loads(err.splitlines()[-1])
    assert code == 0 and set(found) == {"functions", "holes", "process", "start"}
    (hole,) = found["holes"].values()
    assert hole["fillings"] == 1 and hole["tokens"] == found["process"]["tokens"] > 0
    assert found["process"]["engine"]["forwards"] > 0
    assert {"Python", "program", "runtime", "model", "session", "first prompt"} <= set(found["start"])


def test_stats_are_told_of_a_run_that_failed(good: Path, script: str, cli: Cli) -> None:
    code, _, err = cli("run", good, "--stats=json", "--arg", "text=x", "--model", script, "--max-tokens", "1")
    found = json.loads(err.splitlines()[-1])
    assert code == 1 and found["process"]["failed"] == 1


def test_stats_of_rows_are_of_all_rows(good: Path, script: str, cli: Cli, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "a"}\n{"text": "b"}\n{"text": "c"}\n', encoding="utf-8")
    code, _, err = cli(
        "run", good, "--data", rows, "--out", tmp_path / "o", "--model", script, "--stats=json"
    )
    found = json.loads(next(line for line in err.splitlines() if line.startswith("{")))
    assert code == 0 and found["process"]["runs"] == 3


def test_tables_tell_of_steps_memory_and_disk() -> None:
    hole = dict.fromkeys(
        (
            "fillings",
            "failures",
            "tokens",
            "sampled",
            "forced",
            "prompt",
            "behind",
            "reused",
            "forwards",
            "pressure",
            "weighed",
            "shared",
            "alpha",
            "chernoff",
            "compared",
            "mask_seconds",
            "queue_seconds",
            "seconds",
        ),
        2,
    )
    report = {
        "holes": {"f.x": {**hole, "drafted": 12, "accepted": 9}},
        "functions": {
            "f": {
                "calls": 3,
                "runs": {"ok": 1, "Truncated": 2},
                "retries": 1,
                "tokens": 9,
                "p50": 0.5,
                "p99": 2.0,
            }
        },
        "process": {
            "runs": 3,
            "tokens": 9,
            "seconds": 2.0,
            "tokens_per_second": 4.5,
            "engine": {
                "forwards": 5,
                "seconds": 0.5,
                "tokens_fed": 90,
                "tokens_reused": 40,
                "drafted": 12,
                "accepted": 9,
                "preemptions": 1,
            },
            "steps": {"steps": 4, "largest": 32, "mean": 12.5, "scheduled": 0.001, "committed": 0.001},
        },
        "models": {"big": {"forwards": 5, "seconds": 0.5, "tokens_fed": 90, "tokens_reused": 40}},
        "cache": {
            "hit_rate": 0.9731,
            "tokens_looked_up": 1000,
            "blocks": 64,
            "free": 60,
            "bytes": 1 << 21,
            "evictions": 2,
            "pins": 2,
            "pinned": 9,
            "disk": {
                "blocks": 3,
                "bytes": 1 << 20,
                "writes": 4,
                "reads": 1,
                "write_faults": 0,
                "read_faults": 1,
                "corrupt": 1,
            },
        },
    }
    text = as_tables(report, {"Python": 0.25, "model": 1.0})
    assert "9/12" in text and "2 Truncated" in text and "2 (2 failed)" in text
    assert "at most 32 requests in one, 12.5 on average; 2.0 ms for scheduling" in text
    assert (
        "97.3 % of 1000 tokens were there, 4 of 64 blocks used (2 MiB in all), 2 evictions, 1 preemptions, "
        "9 blocks pinned for 2 beginnings" in text
    )
    assert "disk: 3 blocks (1 MiB), 4 written, 1 read, 2 faults" in text
    assert "pressure: `f.x` 1.00 nats a drawn token, 1.0 a value" in text
    assert "blend: `f.x` share of the teacher 1.00 on average of 2 tokens, 1.000 nats apart" in text
    assert "model big: 5 forward passes in 500.0 ms, 90 tokens computed, 40 found again" in text
    assert text.endswith("start: Python 250.0 ms, model 1.00 s")


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.0, "0 µs"), (0.00008, "80 µs"), (0.0125, "12.5 ms"), (1.25, "1.25 s")]
)
def test_durations_have_the_unit_that_fits(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_the_laps_of_a_start_add_up() -> None:
    startup = Startup()
    assert startup.began <= time.perf_counter()
    startup.lap("one")
    startup.lap("two")
    assert [name for name, _ in startup.parts] == ["one", "two"]
    assert sum(seconds for _, seconds in startup.parts) <= time.perf_counter() - startup.began


# -- metrics and spans ---------------------------------------------------------------------------------


def test_metrics_go_to_a_file(good: Path, script: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "sglc.prom"
    code, _, err = cli("run", good, "--arg", "text=x", "--model", script, "--metrics", path)
    assert code == 0, err
    found = samples(path.read_text(encoding="utf-8"))
    assert sum(value for name, value in found.items() if name.startswith("sglc_runs_total")) == 1


def test_spans_go_to_a_file_without_texts(good: Path, script: str, cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    run = ["run", good, "--arg", "text=secret", "--model", script, "--spans", path]
    code, _, err = cli(*run)
    assert code == 0, err
    text = path.read_text(encoding="utf-8")
    spans = [json.loads(line) for line in text.splitlines()]
    assert any(span["name"].startswith("run ") for span in spans) and "secret" not in text
    cli(*run, "--span-texts")
    assert "secret" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("option", ["--metrics", "--spans"])
def test_a_file_that_cannot_be_written_is_told(option: str, good: Path, script: str, cli: Cli) -> None:
    code, out, err = cli("run", good, "--arg", "text=x", "--model", script, option, "no-such-folder/file")
    assert (code, out) == (1, "") and "E0805" in err and "no-such-folder/file cannot be written" in err


def test_a_port_that_is_taken_is_told(good: Path, script: str, cli: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, out, err = cli("run", good, "--arg", "text=x", "--model", script, "--metrics", f":{port}")
    assert (code, out) == (1, "") and "E0811" in err and f"127.0.0.1:{port}" in err


@pytest.mark.parametrize(
    ("option", "module", "package"),
    [("--metrics", "prometheus", "prometheus_client"), ("--spans", "spans", "opentelemetry")],
)
def test_a_package_that_is_missing_is_told(
    option: str,
    module: str,
    package: str,
    good: Path,
    script: str,
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, f"sglc.runtime.metrics.{module}", raising=False)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    import sglc.runtime.metrics

    monkeypatch.delattr(sglc.runtime.metrics, module, raising=False)
    code, _, err = cli("run", good, "--arg", "text=x", "--model", script, option, tmp_path / "x")
    assert code == 1 and "E0812" in err and "sglc[observe]" in err


# -- the start -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_run_on_the_native_executor_imports_no_torch(good: Path) -> None:
    """Nothing on the way from the command to the executor does: a session, an engine, figures, rows."""
    text = (
        "import sys\n"
        "import sglc.commands.run, sglc.commands.running.batch, sglc.commands.running.execution\n"
        "import sglc.commands.running.statistics\n"
        "import sglc.runtime.engine.load, sglc.runtime.engine.batching_engine, sglc.runtime.executor.choose\n"
        "import sglc.runtime.executor.native, sglc.runtime.metrics.report, sglc.api\n"
        "found = {'torch', 'transformers', 'prometheus_client', 'opentelemetry', 'lark', 'sglc.check'}\n"
        "print(sorted(found & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", text], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[]", (done.stdout, done.stderr)


NAMED = """
pub fn f() -> str using big:
    user: | A word?
    assistant:
        | ?{a: str matching /[a-z]{3}/}
        | ?{b: str matching /[a-z]{3}/ using main}
        | ?{c: str matching /[a-z]{3}/ using small}
    return "${a} ${b} ${c}"
"""


def test_the_command_line_gives_models_by_name(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "m.sgl"
    path.write_text(NAMED)
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.json").write_text(json.dumps([name[0] * 2 + name[-1]] * 3))
    own, big, small = (f"scripted:{tmp_path / name}.json" for name in ("one", "two", "three"))
    given = ["--model", own, "--model", f"big={big}", "--model", f"small={small}"]
    code, out, err = cli("run", path, *given)
    assert code == 0, err
    assert json.loads(out) == "tto ooe tte"
    code, out, err = cli("plan", path, *given, "--run", "--json")
    assert code == 0 and json.loads(out)["functions"], err
    code, _, err = cli("run", path, "--model", own, "--model", f"big={big}")
    assert code and "E0721" in err and "--model small=MODEL" in err
    code, _, err = cli("run", path, *given, "--model", f"bigg={big}")
    assert code and "names no model `bigg`" in err and "did you mean `big`" in err
    code, _, err = cli("run", path, *given, "--model", f"big={own}")
    assert code == 2 and "the model `big` is given twice" in err
    code, _, err = cli("run", path, *given, "--model", f"main={own}")
    assert code == 2 and "the run's own model is given twice" in err
