"""Thresholds of the mask engine and of what only it uses: they get fewer, and each says why it is so large.

`tests/benchmarks/mask/house_counts.py --each` lists them, and says what a threshold is.
"""

from __future__ import annotations

import importlib
import re
from types import ModuleType

import pytest

from checkout import BENCHMARKS, ROOT

MOST = {"runtime/mask": 34, "kernels": 33, "sglc/automata": 45, "sglc/cfg": 29, "sglc/schema": 12}
"""Thresholds by room. Who deletes one makes the number smaller."""


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("mask.house_counts")


@pytest.mark.slow
def test_thresholds_are_not_more(counts: ModuleType) -> None:
    every = [path for room in counts.ROOMS for path in counts.files(ROOT, room)]
    found = counts.thresholds(every)
    assert set(MOST) == set(counts.ROOMS)
    for room, most in MOST.items():
        some = [
            (str(path.relative_to(ROOT)), name) for path, _, name in found if path.is_relative_to(ROOT / room)
        ]
        assert len(some) <= most, "\n".join(map(str, some))


@pytest.mark.slow
@pytest.mark.parametrize("room", ["runtime/mask", "sglc/automata", "sglc/cfg", "sglc/schema"])
def test_thresholds_say_why(room: str, counts: ModuleType) -> None:
    bare = counts.without_reason(counts.files(ROOT, room))
    assert not bare, "\n".join([f"{path.relative_to(ROOT)}:{line} {name}" for path, line, name in bare])


@pytest.mark.slow
def test_thresholds_of_masks_are_named_in_tests(counts: ModuleType) -> None:
    words: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        words.update(re.findall(r"\w+", path.read_text("utf-8")))
    every = [path for room in counts.ROOMS for path in counts.files(ROOT, room)]
    found = [(path, name) for path, _, name in counts.thresholds(every)]
    room = ROOT / "runtime/mask"
    assert [
        f"{path}: {name}" for path, name in found if path.is_relative_to(room) and name not in words
    ] == []
