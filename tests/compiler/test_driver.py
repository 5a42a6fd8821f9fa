"""The compiler as a whole: stages, results, faults of its own, its weight."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from checkout import EXAMPLES
from golden_case import GoldenCase, golden_cases
from sglc import driver
from sglc.bytecode.verify import verify
from sglc.driver import CompilerFault, compile_file, compile_source, emit_stage
from sglc.ir.read import read
from sglc.options import CompileOptions
from sglc.source import Source

EXAMPLES = sorted(EXAMPLES.glob("*.sgl"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("level", [0, 1])
def test_examples_compile_soundly(path: Path, level: int) -> None:
    result = compile_file(path, CompileOptions(level=level, verify=True))
    assert result.program is not None
    assert verify(result.program) == []
    assert not any(d.severity == "error" for d in result.diagnostics)


@pytest.mark.parametrize("case", golden_cases("driver/types"), ids=str)
def test_the_types_stage(case: GoldenCase, golden) -> None:
    text, found = emit_stage(Source("main.sgl", case.input + "\n"), "types")
    assert not any(d.severity == "error" for d in found)
    golden(case, text)


@pytest.mark.slow
@pytest.mark.parametrize("stage", driver.STAGES)
def test_every_stage_prints_every_example(stage: str) -> None:
    for path in EXAMPLES:
        text, found = emit_stage(Source(str(path), path.read_text(encoding="utf-8")), stage)
        assert text.endswith("\n") and len(text) > 100
        assert not any(d.severity == "error" for d in found)


def test_the_ir_stage_can_be_read() -> None:
    path = EXAMPLES[0]
    text, _ = emit_stage(Source(str(path), path.read_text(encoding="utf-8")), "ir")
    assert read(text).functions


@pytest.mark.parametrize("stage", driver.STAGES)
def test_a_faulty_program_prints_as_far_as_it_gets(stage: str) -> None:
    text, found = emit_stage(Source("main.sgl", "fn f() -> int:\n    return x\n"), stage)
    if stage in ("ir", "bytecode"):
        assert text == "" and any(d.severity == "error" for d in found)
    else:
        assert text


def test_an_imported_function_may_be_called_with_constants_alone(tmp_path: Path) -> None:
    """Then only copies of it are left, and what their conversations begin with is known by its name."""
    (tmp_path / "m.sgl").write_text(
        "pub fn ask(short: bool, x: str) -> bool:\n    system: | You answer questions.\n"
        "    user:\n        | ${x}?\n        if short: | Be brief.\n"
        "    assistant: | ?{y: bool}\n    return y\n",
        "utf-8",
    )
    main = tmp_path / "main.sgl"
    main.write_text(
        "use ./m (ask)\n\npub fn top(x: str) -> [bool]:\n    return [ask(true, x), ask(false, x)]\n", "utf-8"
    )
    program = compile_file(main).program
    assert program is not None and {code.copy_of for code in program.codes} == {"", "m.ask"}
    assert [prefix.functions for prefix in program.prefixes if prefix.functions] == [("m.ask",)]


def test_errors_give_no_program_and_no_exception() -> None:
    result = compile_source(Source("main.sgl", "fn f() -> int:\n    return x\n"))
    assert result.program is None and result.diagnostics
    assert compile_source(Source("main.sgl", "fn (:\n\0")).program is None


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    def codes(path: Path) -> list[str]:
        return [d.code for d in compile_file(path).diagnostics]

    assert codes(tmp_path / "none.sgl") == ["E0801"]
    assert codes(tmp_path) == ["E0802"]
    (tmp_path / "latin.sgl").write_bytes(b"# \xe9\n")
    assert codes(tmp_path / "latin.sgl") == ["E0802"]


def test_an_unsound_result_is_our_own_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = read("fn @f() {\n^entry:\n  return %0\n}")
    monkeypatch.setattr(driver, "lower", lambda checked: broken)
    with pytest.raises(CompilerFault) as caught:
        compile_source(Source("main.sgl", "fn f() -> int:\n    return 1\n"), CompileOptions(verify=True))
    assert caught.value.stage == "lower" and "no value" in caught.value.faults[0]


def test_an_unknown_stage_is_refused() -> None:
    with pytest.raises(ValueError, match="no stage"):
        emit_stage(Source("main.sgl", ""), "soup")


@pytest.mark.slow
def test_compiling_loads_neither_torch_nor_the_runtime() -> None:
    script = (
        "import sys; from sglc.driver import compile_file; assert compile_file(sys.argv[1]).program;"
        "from sglc.bytecode.serial import dumps;"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('torch', 'numpy', 'llvmlite', 'transformers')"
        " or m.startswith('sglc.runtime')]; assert not bad, bad"
    )
    subprocess.run([sys.executable, "-P", "-c", script, str(EXAMPLES[0])], check=True)
