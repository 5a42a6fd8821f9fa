"""Hostile constraints end in time and memory, with masks or with an error that has a type.

`SGLC_TEST_HOSTILE=1` tries all of them, otherwise a sample: those of which a limit is known to be needed, and
every twenty-fourth of the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

from checkout import SUPPORT
from hostile.hostile_constraints import cases

NAMES = [name for name, _ in cases()]
SHARP = (
    "regex, counts in counts",
    "regex, huge count",
    "schema, allOf of 60 patterns",
    "schema, oneOf of 500 patterns",
    "schema, unique 30 of 30 numbers",
    "schema, unique 64 of 64 numbers",
    "schema, minLength and a pattern",
    "schema, if and else, 60 levels",
    "schema, oneOf of 500 open objects",
    "schema, 12 pattern properties",
    "schema, contains 30 counted",
    "schema, 2000 properties",
    "schema in any order, dependent 200",
    "schema, property names",
    "grammar, counts of counts",
    "ecma, lookaheads of properties",
)
WANTED = NAMES if os.environ.get("SGLC_TEST_HOSTILE") else [*SHARP, *(set(NAMES[::24]) - set(SHARP))]
TYPES = {"ConstraintError", "UnsupportedConstraint", "ConstraintTooCostly", "CompletionTooLong", None}
SLACK = 4
"""A loaded machine is slower than the one that the units of work are measured on."""


@cache
def results() -> dict[str, dict[str, Any]]:
    worker = SUPPORT / "hostile" / "hostile_worker.py"
    lines = "".join(f"{name}\n" for name in WANTED)
    done = subprocess.run(
        [sys.executable, "-P", str(worker)],
        input=lines,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(SUPPORT)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {found["name"]: found for found in map(json.loads, done.stdout.splitlines())}


def test_there_are_enough_of_them() -> None:
    assert len(NAMES) == len(set(NAMES)) >= 152
    assert set(SHARP) <= set(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(WANTED))
def test_a_hostile_constraint_ends(name: str) -> None:
    found = results()[name]
    assert found["error"] in TYPES, found
    assert found["error"] is not None or found["masks"], found
    assert found["compile"] < 3 * SLACK, found
    assert found["worst"] < 0.05 * SLACK, found
    assert found["seconds"] < 6 * SLACK, found
    assert found["bytes"] < 256 << 20, found
    if found["error"] == "ConstraintTooCostly":
        assert "sets the limit" in found["message"], found
