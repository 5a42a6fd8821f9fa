"""Results of rows: one run at a time writes them, and a power cut takes none that was called kept."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.cli import main
from sglc.commands.running import locking, rows
from sglc.commands.running.locking import InUse
from sglc.commands.running.rows import Results, Row, digest_of

posix = pytest.mark.skipif(os.name != "posix", reason="locks are of POSIX")
ROWS = [Row(number, number + 1, {"x": number}, digest_of("f", {"x": number})) for number in range(12)]


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    program, data, script = tmp_path / "f.sgl", tmp_path / "rows.jsonl", tmp_path / "script.json"
    program.write_text(
        "fn f(x: int) -> int:\n    user: | Say ${x}.\n    assistant: | ?{n: int in 1..9}\n    return n\n"
    )
    data.write_text("".join(f'{{"x": {number}}}\n' for number in range(6)))
    script.write_text('{"f.n": "7"}')
    out = tmp_path / "out.jsonl"
    return ["run", str(program), "--data", str(data), "--out", str(out), "--model", f"scripted:{script}"]


# -- one run at a time -------------------------------------------------------------------------------


@posix
def test_a_second_run_is_refused_and_told_who_writes(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    first = Results(out)
    assert main(command) == 1
    told = capsys.readouterr().err
    assert "E0813" in told and "is in use" in told
    if Path("/proc/locks").exists():
        assert f"process {os.getpid()} (" in told
    assert out.read_bytes() == b""
    first.close()
    assert main(command) == 0
    assert len(out.read_text().splitlines()) == 6


@pytest.mark.slow
@posix
def test_two_commands_at_once_write_no_row_twice(command: list[str], tmp_path: Path) -> None:
    runs = [
        subprocess.Popen([sys.executable, "-P", "-m", "sglc", *command], stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    ended = [(run.communicate(timeout=120)[1], run.returncode) for run in runs]
    assert sum(code == 0 for _, code in ended) >= 1
    assert all(code == 0 or "E0813" in told for told, code in ended)
    written = [json.loads(line)["row"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert sorted(written) == list(range(6))


@posix
def test_a_process_that_is_killed_leaves_no_lock(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    code = (
        "import sys, time; from pathlib import Path; from sglc.commands.running.rows import Results; "
        f"r = Results(Path({str(out)!r})); print('locked', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-P", "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "locked\n"
        with pytest.raises(InUse) as told:
            Results(out)
        if Path("/proc/locks").exists():
            assert f"process {holder.pid} (" in str(told.value)
    finally:
        holder.kill()
        holder.wait()
    Results(out).close()


@posix
def test_the_lock_stays_where_failed_rows_are_taken_out(tmp_path: Path) -> None:
    """`--retry-errors` puts another file in the place of the old one: that one is locked as well."""
    out = tmp_path / "out.jsonl"
    first = Results(out)
    first.add(ROWS[0], {"ok": False})
    first.add(ROWS[1], {"ok": True})
    first.close()
    again = Results(out, retry_errors=True)
    with pytest.raises(InUse):
        Results(out)
    again.add(ROWS[0], {"ok": True})
    again.close()
    last = Results(out)
    assert {number for number, _ in last.finished} == {0, 1} and not last.failed
    last.close()


@posix
def test_who_opened_an_old_file_locks_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"")
    tried: list[int] = []

    def replaced(file: object) -> None:
        if not tried:  # the run before puts its file in place between our opening and locking
            (tmp_path / "new").write_bytes(b"")
            os.replace(tmp_path / "new", out)
        tried.append(1)
        locking.lock(file)  # type: ignore[arg-type]

    monkeypatch.setattr(rows, "lock", replaced)
    results = Results(out)
    assert len(tried) == 2
    results.add(ROWS[0], {"ok": True})
    results.close()
    assert len(out.read_text().splitlines()) == 1


def test_without_locks_the_run_goes_on_and_says_so(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(locking, "fcntl", None)
    assert main(command) == 0
    assert "is not locked, this system has no locks of files" in capsys.readouterr().err
    out = tmp_path / "out.jsonl"
    results = Results(out, retry_errors=True)
    results.close()
    failed = Results(out)
    failed.add(ROWS[7], {"ok": False})
    failed.close()
    again = Results(out, retry_errors=True)
    again.add(ROWS[7], {"ok": True})
    again.close()
    assert len(out.read_text().splitlines()) == 7


@posix
def test_a_file_system_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    def refuse(*arguments: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locking.fcntl, "flock", refuse)
    results = Results(tmp_path / "out.jsonl")
    assert results.unlocked == "its file system has no locks: No locks available"
    results.close()


# -- a power cut ---------------------------------------------------------------------------------------


class Disk:
    """A disk that keeps of files and names what was synced, and of the rest as much as it happens to have."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sizes: dict[int, int] = {}
        """Bytes that are surely kept, by inode."""
        self.names: set[tuple[int, int]] = set()
        """Folders whose names were kept, with the inodes of the files that they named then."""
        monkeypatch.setattr(os, "fsync", self.sync)

    def sync(self, handle: int) -> None:
        facts = os.fstat(handle)
        if os.path.isdir(f"/proc/self/fd/{handle}"):
            place = os.readlink(f"/proc/self/fd/{handle}")
            self.names |= {(facts.st_ino, os.stat(os.path.join(place, n)).st_ino) for n in os.listdir(place)}
        else:
            self.sizes[facts.st_ino] = facts.st_size

    def cut(self, path: Path, more: int, zeros: int) -> None:
        """The power goes: `more` bytes that were not synced are there as well, then `zeros` for others."""
        facts = path.stat()
        if (path.parent.stat().st_ino, facts.st_ino) not in self.names:
            path.unlink()
            return
        kept = path.read_bytes()[: self.sizes.get(facts.st_ino, 0) + more]
        path.write_bytes(kept + bytes(zeros))


@pytest.mark.skipif(sys.platform != "linux", reason="tells folders by /proc")
@given(
    written=st.lists(st.booleans(), min_size=1, max_size=12),
    more=st.integers(0, 200),
    zeros=st.sampled_from([0, 0, 7, 300]),
    retry=st.booleans(),
)
@settings(max_examples=60)
def test_what_was_called_kept_is_there_after_a_power_cut(
    tmp_path_factory: pytest.TempPathFactory, written: list[bool], more: int, zeros: int, retry: bool
) -> None:
    """The promise: of rows that were `kept` when the power went none is lost, and a row that was torn is run
    again; nothing is there that was never written."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(rows, "SYNC_SECONDS", 1e9)
        disk = Disk(monkeypatch)
        out = tmp_path_factory.mktemp("cut") / "out.jsonl"
        results = Results(out)
        promised: set[tuple[int, str]] = set()
        for row, synced in zip(ROWS, written, strict=False):
            results.add(row, {"ok": row.number % 3 != 0}, value='"täxt"')
            if synced:
                results.sync()
                promised = set(results.finished)
                assert results.kept == len(promised)
        if retry:
            results.close()
            promised = set(results.finished)
            failed = {(row.number, row.digest) for row in ROWS[: len(written)] if row.number % 3 == 0}
            results = Results(out, retry_errors=True)
            promised -= failed
            assert results.finished == promised
        disk.cut(out, more, zeros)
        results._file.close()
        again = Results(out)
        assert promised <= again.finished <= {(row.number, row.digest) for row in ROWS[: len(written)]}
        for row in ROWS[: len(written)]:
            if (row.number, row.digest) not in again.finished:
                again.add(row, {"ok": True}, value='"täxt"')
        again.close()
        numbers = [json.loads(line)["row"] for line in out.read_text(encoding="utf-8").splitlines()]
        assert sorted(numbers) == list(range(len(written)))


def test_rows_are_handed_to_the_disk_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    results = Results(tmp_path / "out.jsonl")
    results.add(ROWS[0], {"ok": True})
    assert results.kept == 0
    now += rows.SYNC_SECONDS
    results.add(ROWS[1], {"ok": True})
    assert results.kept == 2
    results.add(ROWS[2], {"ok": True})
    results.close()
    assert results.kept == 3


@pytest.mark.slow
def test_a_row_does_not_wait_for_the_next_one(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that take long: what is finished is on the disk though nothing else is written."""
    from sglc.commands.running.execution import Outcome, Runner

    kept: list[int] = []
    real_add = Results.add

    def add(self: Results, row: Row, *entry: object) -> None:
        kept.append(self.kept)
        real_add(self, row, *entry)  # type: ignore[arg-type]

    async def slow(self: Runner, arguments: object, **settings: object) -> Outcome:
        import asyncio

        await asyncio.sleep(0.7)
        return Outcome(value=3)

    monkeypatch.setattr(Results, "add", add)
    monkeypatch.setattr(Runner, "outcome", slow)
    assert main([*command, "--concurrency", "1"]) == 0
    assert kept == [0, 1, 2, 3, 4, 5]


def test_the_command_keeps_all_rows_before_it_says_so(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(rows, "SYNC_SECONDS", 1e9)
    sizes: list[int] = []
    real = os.fsync

    def sync(handle: int) -> None:
        sizes.append(os.fstat(handle).st_size)
        assert "6 rows" not in capsys.readouterr().err
        real(handle)

    monkeypatch.setattr(os, "fsync", sync)
    assert main(command) == 0
    assert "6 rows, 0 failed" in capsys.readouterr().err
    assert (tmp_path / "out.jsonl").stat().st_size in sizes


def test_an_artefact_is_on_the_disk_before_it_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, made = tmp_path / "f.sgl", tmp_path / "f.sglb"
    program.write_text("pure fn f() -> int:\n    return 3\n")
    events: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        events.append("folder" if os.fstat(handle).st_ino == tmp_path.stat().st_ino else "file")
        sync(handle)

    def replaced(source: str, target: Path) -> None:
        if Path(target) == made:
            events.append("named")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    assert main(["build", str(program)]) == 0
    assert events == ["file", "named", "folder"]


# -- who may read ------------------------------------------------------------------------------------


@posix
def test_what_tells_of_a_run_is_for_its_user_alone(command: list[str], tmp_path: Path) -> None:
    pytest.importorskip("prometheus_client")
    pytest.importorskip("opentelemetry.sdk")
    old = os.umask(0)
    try:
        trace, spans, metrics = (tmp_path / name for name in ("trace.jsonl", "spans.jsonl", "metrics.prom"))
        single = [
            part for part in command if part not in ("--data", "--out") and not part.endswith("s.jsonl")
        ]
        single = [part for part in single if not part.endswith("out.jsonl")]
        more = ["--arg", "x=1", "--trace", str(trace), "--spans", str(spans), "--metrics", str(metrics)]
        assert main([*single, *more]) == 0
        modes = {path.name: path.stat().st_mode & 0o777 for path in (trace, spans, metrics)}
        assert modes == dict.fromkeys(modes, 0o600)
        metrics.chmod(0o644)  # a collector of another user may be let in
        assert main([*single, *more]) == 0
        assert metrics.stat().st_mode & 0o777 == 0o644
        assert main(command) == 0
        assert (
            tmp_path / "out.jsonl"
        ).stat().st_mode & 0o777 == 0o666  # results are the user's: the umask holds
    finally:
        os.umask(old)
