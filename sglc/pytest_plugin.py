"""The `test` blocks of `.sgl` files as tests of pytest.

pytest loads this module where sglc is installed. It imports nothing else of sglc until a file with a test
block is collected. A test is called by its title, its tags are marks (`-m`), and one that fails shows the
line, the values and the seed that repeats it, as `sglc test` does.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sglc.bytecode.code import Code
    from sglc.diagnostics.diagnostic import Diagnostic
    from sglc.recorded.judging import Recorded
    from sglc.testing import Report

SUFFIX = ".sgl"
LARGEST = 4 * 1024 * 1024
"""Larger files are no programs (`sglc.library.MAX_BYTES`); they are not read."""
_TEST = re.compile(rb'^test[ \t]+"', re.MULTILINE)


class SglWarning(UserWarning):
    """What a test that passed may not have tested: W0222, W0223."""


class SglFailure(Exception):
    """A test that failed, with its report."""

    def __init__(self, report: Report) -> None:
        super().__init__(report.title)
        self.report = report


def _number_from(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"a whole number from {least} on, not {text!r}")
        return int(text)

    return read


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--sgl-rounds`, `--sgl-seed`, and which files are meant."""
    group = parser.getgroup("sgl", "test blocks of SGL programs")
    rounds = "run each test of an .sgl file this often, each time with the next seed"
    group.addoption("--sgl-rounds", type=_number_from(1), default=1, metavar="N", help=rounds)
    seed = "seed of random answers in tests of .sgl files"
    group.addoption("--sgl-seed", type=_number_from(0), default=0, metavar="N", help=seed)
    files = "patterns of the .sgl files whose test blocks are collected"
    parser.addini("sgl_files", files, type="args", default=["*.sgl"])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SglFile | None:
    """A file that has a test block and is meant by `sgl_files`; of all others nothing is said."""
    if file_path.suffix != SUFFIX or not _has_tests(file_path):
        return None
    if not any(file_path.match(pattern) for pattern in parent.config.getini("sgl_files")):
        return None
    found: SglFile = SglFile.from_parent(parent, path=file_path)
    return found


def _has_tests(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _TEST.search(file.read(LARGEST)) is not None
    except OSError:
        return False


class SglFile(pytest.File):
    """One program; its tests share a session."""

    def collect(self) -> Iterable[SglItem]:
        """The tests in the order of the file. A program that does not compile is an error of collection."""
        from sglc.compiled import build
        from sglc.library import read_source
        from sglc.options import CompileOptions
        from sglc.recorded.goldens import GoldenFault, Goldens, golden_path
        from sglc.recorded.judging import Recorded
        from sglc.runtime.session import Session
        from sglc.testing import tests_of

        source, diagnostics = read_source(_shown(self.path))
        built = None
        if source is not None:
            built, diagnostics = build(source, CompileOptions(), told=False, runs=True)
        if built is None or built.program is None:
            raise self.CollectError(_drawn(diagnostics))
        session = Session(built.program)
        try:
            goldens = Goldens.open(golden_path(self.path))
        except GoldenFault as fault:
            raise self.CollectError(str(fault)) from None
        recorded = Recorded(session, self.path, goldens)
        for code in tests_of(built.program):
            item: SglItem = SglItem.from_parent(self, name=code.name, recorded=recorded, code=code)
            yield item


class SglItem(pytest.Item):
    """One test block. Golden calls are compared with what `sglc test --update-golden` has kept."""

    def __init__(self, *, recorded: Recorded, code: Code, **given: object) -> None:
        super().__init__(**given)  # type: ignore[arg-type]
        self._recorded = recorded
        self._code = code
        for tag in code.tags:
            self.config.addinivalue_line("markers", f"{tag}: a tag of a test in an .sgl file")
            self.add_marker(getattr(pytest.mark, tag))

    def runtest(self) -> None:
        """Run the test; what it did not test is a warning. Raises SglFailure."""
        from sglc.testing import run_test

        seed, rounds = self.config.getoption("--sgl-seed"), self.config.getoption("--sgl-rounds")
        report = run_test(self._code, self._recorded, seed=seed, rounds=rounds)
        for found in report.warnings:
            self.warn(SglWarning(f"{found.code}: {found.message} ({found.span!r})"))
        if not report.passed:
            raise SglFailure(report)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """The failed expectations with their lines and values, and what repeats them."""
        if not isinstance(excinfo.value, SglFailure):
            return super().repr_failure(excinfo)
        report = excinfo.value.report
        colored = self.config.get_terminal_writer().hasmarkup
        again = f'pytest "{self.nodeid}" --sgl-seed {report.seed}'
        return f"{_drawn(report.failures, colored)}\n\nto repeat it: {again}"

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test stands: file, line from 0, title."""
        from sglc.runtime.errors import span_of

        places = self._code.places
        span = span_of(self._recorded.session.program, places[0] if places else None)
        line = None if span is None else span.source.position(span.start)[0] - 1
        return self.path, line, self.name


def _shown(path: Path) -> Path:
    """The path as messages call it: from the working folder where it lies below."""
    here = Path(os.curdir).absolute()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _drawn(diagnostics: Iterable[Diagnostic], color: bool = False) -> str:
    from sglc.diagnostics.render import render

    return "\n\n".join(render(each, color=color) for each in diagnostics)
