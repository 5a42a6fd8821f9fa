"""The table of planted faults fits the code: each can be planted, and its test is there."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from hostile.planted_faults import FAULTS, ROOT, Fault, planted

ROOMS = ("runtime/mask/", "runtime/kv/", "runtime/engine/sampling/sampler.py", "runtime/vm/", "sglc/check/")


def test_there_are_enough_in_every_room() -> None:
    assert len(FAULTS) >= 20
    assert max(Counter(fault.name for fault in FAULTS).values()) == 1
    for room in ROOMS:
        assert sum(fault.file.startswith(room) for fault in FAULTS) >= 3, room


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_can_be_planted_and_its_test_is_there(fault: Fault) -> None:
    text = (ROOT / fault.file).read_text(encoding="utf-8")
    changed = planted(fault, text)
    assert changed != text
    ast.parse(changed)
    file, name = fault.test.split("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert re.sub(r"\[.*", "", name) in names


def test_a_fault_that_does_not_fit_is_told() -> None:
    fault = Fault("twice", "a.py", "x", "y", "tests/test_a.py::test_a")
    with pytest.raises(ValueError, match="stands 2 times"):
        planted(fault, "x x")
    with pytest.raises(ValueError, match="stands 0 times"):
        planted(fault, "z")
