"""The examples of docs/repair.md run as they stand, in order, and print what it says."""

from __future__ import annotations

import doctest
import re
from typing import Any

from checkout import DOCS
from readme_commands import FENCE

PAGE = DOCS / "repair.md"


def test_the_examples_run() -> None:
    names: dict[str, Any] = {}
    count = 0
    for language, body in FENCE.findall(PAGE.read_text(encoding="utf-8")):
        if language == "python":
            exec(compile(body, PAGE.name, "exec"), names)
        elif ">>>" in body:
            test = doctest.DocTestParser().get_doctest(body, names, PAGE.name, PAGE.name, 0)
            runner = doctest.DocTestRunner(verbose=False)
            runner.run(test, clear_globs=False)
            assert runner.failures == 0
            count += len(test.examples)
    assert count == 8


def test_defaults_are_those_of_the_code() -> None:
    from sglc.runtime.repair.answer import RESTART
    from sglc.runtime.repair.loop import SHORT, WORDS
    from sglc.runtime.repair.result import Bounds

    page = PAGE.read_text(encoding="utf-8")
    bounds = Bounds()
    for name in ("calls", "corrections", "tokens"):
        assert re.search(rf"\| `max_{name}` \| {getattr(bounds, name):,} \|", page)
    assert f"({RESTART} bytes or more)" in page and f"{SHORT} tokens behind a" in page
    assert f"of up to {WORDS} (" in page
