"""Faults of sglc itself are told as such: never as a failure of the program, and never passed over."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fakes.fake_executor import FakeExecutor
from fakes.small_models import small_tokenizer
from sglc.cli import main
from sglc.driver import compile_source
from sglc.kernels import jit_library
from sglc.runtime.engine.core.errors import EngineFault
from sglc.runtime.engine.open import open_engine
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session
from sglc.source import Source
from sglc.types.type import Int, OneOf, SpanOf
from strategies.vm_programs import assembler, run, value

PROGRAM = """\
fn ask(topic: str) -> int:
    user: | Say a number about ${topic}.
    assistant: | ?{n: int in 10..99}
    return n
"""

FAULTS = (TypeError, AttributeError, KeyError, ValueError, IndexError, RecursionError)


def broken(fault: type[Exception]) -> Callable[..., Any]:
    def planted(*arguments: Any, **named: Any) -> Any:
        raise fault("planted")

    return planted


PLACES = [
    "sglc.runtime.engine.sampling.sampling_request.sample",
    "sglc.runtime.decoding.hole_decoder.HoleDecoder._loop",
    "sglc.runtime.vm.holes.holes.decode",
    "sglc.runtime.mask.matcher.Matcher.accept",
    "sglc.runtime.mask.mask_cache.MaskStore.mask",
    "sglc.runtime.decoding.conversations.conversation.Conversation.role",
]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("place", PLACES)
def test_an_error_of_ours_leaves_a_run_as_it_is(
    place: str, fault: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_source(Source("ask.sgl", PROGRAM)).program
    assert program is not None
    executor = FakeExecutor(small_tokenizer())
    engine = open_engine(executor, memory=executor.block_bytes * 400)
    try:
        session = Session(program, engine)
        monkeypatch.setattr(place, broken(fault))
        with pytest.raises((*FAULTS, EngineFault)) as caught:
            asyncio.run(session.run("ask", {"topic": "x"}))
        told: BaseException = caught.value
        told = told.__cause__ if isinstance(told, EngineFault) and told.__cause__ else told
        assert type(told) is fault and "planted" in str(told)
    finally:
        engine.close()


@pytest.mark.parametrize(
    "place",
    ["sglc.runtime.decoding.hole_decoder.HoleDecoder._loop", "sglc.runtime.mask.matcher.Matcher.accept"],
)
def test_the_command_owns_it(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, script = tmp_path / "ask.sgl", tmp_path / "script.json"
    file.write_text(PROGRAM, encoding="utf-8")
    script.write_text('{"ask.n": "42"}', encoding="utf-8")
    monkeypatch.setattr(place, broken(TypeError))
    command = ["run", str(file), "--arg", "topic=x", "--model", f"scripted:{script}"]
    assert main(command) == 70
    told = capsys.readouterr().err
    assert "internal error while running ask: TypeError: planted" in told and "E0710" not in told
    assert main(["--traceback", *command]) == 70
    assert "in planted" in capsys.readouterr().err


def test_an_operation_on_values_of_other_kinds_is_the_program_s_failure() -> None:
    """Only a file that no compiler wrote does this."""
    with pytest.raises(SglError, match="LIMIT met a value that it cannot work on") as caught:
        value(("CONSTANT", "text"), ("LIMIT", ""), slots="")
    assert isinstance(caught.value.__cause__, TypeError) and caught.value.fatal


@pytest.mark.parametrize(
    "lines, message",
    [
        ([("CONSTANT", 3), ("SEED",)], None),
        ([("CONSTANT", "x"), ("SEED",)], "a seed is an integer, not a text"),
        ([("CONSTANT", 3), ("ADOPT",)], "an integer is no branch"),
        ([("CONSTANT", 3), ("RERAISE",)], "an integer cannot be raised again"),
    ],
)
def test_instructions_that_reach_the_runtime_look_at_their_values(lines: Any, message: str | None) -> None:
    built = assembler()
    built.code("f", [*lines, ("CONSTANT", None), ("RETURN",)])
    if message is None:
        assert run(built).value is None
        return
    with pytest.raises(SglError, match=message):
        run(built)


@pytest.mark.parametrize(
    "type, option, given, message",
    [
        (Int(1, 3), "temp", "warm", "option `temp` is a number"),
        (Int(1, 3), "temp", True, "option `temp` is a number"),
        (None, "options", 3, "the options of a choice are a list, not an integer"),
        (SpanOf(0), "given0", 3, "given something else than a text"),
        (OneOf(0), "given0", 3, "a list of texts is due"),
    ],
)
def test_holes_look_at_what_they_are_given(type: Any, option: str, given: object, message: str) -> None:
    built = assembler()
    mode = "choose" if option == "options" else "gen"
    hole = built.hole("f.x", type, mode, options=(option,), stops=())
    built.code(
        "f", [("ROLE", "assistant"), ("CONSTANT", given), ("GEN", hole, 1), ("END_ROLE",), ("RETURN",)]
    )
    with pytest.raises(SglError, match=message):
        run(built)


# -- kernels -----------------------------------------------------------------------------------------


@pytest.fixture
def without_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    from sglc.kernels.llvm import jit

    def refuse(*arguments: Any) -> Any:
        raise RuntimeError("no target for this processor")

    monkeypatch.setattr(jit, "library_functions", refuse)
    monkeypatch.setattr(jit_library, "_unmade", jit_library._Unmade())


def fresh() -> jit_library.Library:
    return jit_library.Library(lambda: "", {})


def test_the_slow_way_is_told_once_with_its_reason(without_llvm: None) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert fresh().functions() is None
        assert fresh().functions() is None
    assert [note.category for note in told] == [jit_library.SlowKernels]
    assert "no target for this processor" in str(told[0].message)
    assert "hundreds of times slower" in str(told[0].message)
    assert jit_library.reason_for_reference() == "RuntimeError: no target for this processor"


def test_what_was_asked_for_is_not_warned_of() -> None:
    jit_library.use_reference(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert fresh().functions() is None
    finally:
        jit_library.use_reference(False)


@pytest.mark.slow
def test_the_command_line_shows_the_warning_as_a_message(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from sglc.kernels.llvm import jit\n"
        "def refuse(*arguments): raise RuntimeError('no target here')\n"
        "jit.library_functions = refuse\n"
        "from sglc.cli import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    file = tmp_path / "ask.sgl"
    file.write_text(
        PROGRAM + '\ntest "t":\n    fuzz ask("x") times 2:\n        expect it > 9\n', encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, "test", str(file)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stderr.splitlines() if "no target here" in line]
    assert len(lines) == 1 and lines[0].startswith("warning: no machine code can be made")


def test_the_version_tells_what_a_report_needs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import numpy

    monkeypatch.setenv("SGLC_CACHE_DIR", str(tmp_path / "here"))
    assert main(["--version", "--verbose"]) == 0
    out = capsys.readouterr().out
    rows = dict(line.split(None, 1) for line in out.splitlines()[1:])
    assert list(rows) == ["Python", "packages", "processor", "kernels", "cache"]
    assert sys.version.split()[0] in rows["Python"]
    assert f"numpy {numpy.__version__}" in rows["packages"]
    assert rows["kernels"] == "native"
    assert rows["cache"] == str(tmp_path / "here")
    assert main(["--verbose", "--version"]) == 0
    assert capsys.readouterr().out == out
    assert main(["--verbose"]) == 2


def test_the_version_tells_why_kernels_are_slow(
    without_llvm: None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from sglc.kernels.bitmask import operations

    monkeypatch.setattr(operations, "_ROWS", fresh())
    assert main(["--version", "--verbose"]) == 0
    out = capsys.readouterr().out
    assert "reference in Python, hundreds of times slower: RuntimeError: no target for this processor" in out
