"""Machines that constraints share: when a full one is left behind, and when it is kept."""

from __future__ import annotations

import pytest

from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import (
    Arm,
    Bytes,
    Choice,
    Family,
    Language,
    Object,
    Rule,
    Sequence,
    Text,
)
from sglc.runtime.mask import constraint as constraint_module
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

BYTES = Vocabulary([bytes([byte]) for byte in range(256)])
MAP = Language(
    Sequence(
        (
            Bytes(b"{"),
            Object(
                (), (Family(compile_regex("[ab]"), (Arm(Text(compile_regex("[0-9]"))),)),), 1, distinct=True
            ),
            Bytes(b"}"),
        )
    )
)


def test_full_machines_are_left_behind() -> None:
    options = ConstraintOptions(max_terms=999, table_bytes=200_000)
    made = compile_constraint(language=MAP, options=options)
    old = made.matcher(BYTES)
    text = b'{"a": 1, "b": 2}'
    assert old.accept_bytes(text[:7])
    while not made._seat.workspace.full():
        other = compile_constraint(regex=f"x{len(made.machine.configs)}", options=made.options).matcher(BYTES)
        assert other.accept_bytes(other.shortest_completion())
    new = made.matcher(BYTES)
    assert new.machine is not old.machine
    assert old.accept_bytes(text[7:])
    assert new.accept_bytes(text)
    assert old.is_complete()
    assert new.is_complete()


def test_a_machine_that_one_constraint_fills_is_kept() -> None:
    rules = {
        f"r{n}": Choice((Bytes(b"%d" % n), Sequence((Bytes(b"("), Rule(f"r{n + 1}"))))) for n in range(99)
    }
    language = Language(Rule("r0"), {**rules, "r99": Bytes(b"x")})
    made = compile_constraint(language=language, options=ConstraintOptions(max_terms=998, table_bytes=60_000))
    assert made._seat.workspace.full()
    assert made.matcher(BYTES).machine is made.matcher(BYTES).machine


def test_a_machine_that_a_text_of_one_constraint_fills_is_kept() -> None:
    """The rules of a large grammar are made as its texts go."""
    lines = [f'l{n}: l{n} "o{n}" l{n + 1} | l{n + 1}' for n in range(200)]
    text = "\n".join(["start: l0", *lines, 'l200: "x" | "(" l0 ")"'])
    made = compile_constraint(grammar=text, options=ConstraintOptions(max_terms=997))
    made._seat.workspace.budget = made._seat.most = made._seat.workspace.size
    first = made.matcher(BYTES)
    assert first.accept_bytes(b"(x") and made._seat.workspace.full()
    assert made.matcher(BYTES).machine is first.machine


def test_a_machine_that_mostly_one_constraint_fills_is_kept_up_to_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However many of its matchers there have been: else its texts would be met anew again and again."""
    options = ConstraintOptions(max_terms=996)
    made = compile_constraint(grammar='start: "x" | "(" start ")"', options=options)
    other = compile_constraint(regex="[ab]*", options=options)
    for depth in range(8):
        assert made.matcher(BYTES).accept_bytes(b"(" * depth)
    machine = made._seat.workspace.machine
    made._seat.most = 0
    made._seat.workspace.budget = 1 << 20
    assert made.matcher(BYTES).machine is machine
    made._seat.most = 0
    made._seat.workspace.budget = 0
    for _ in range(20):  # which is on the same machine, and keeps it
        other._seat.workspace.matchers += 1
    assert made.matcher(BYTES).machine is not machine
    machine = made._seat.workspace.machine
    for _ in range(4):
        made.matcher(BYTES)
    made._seat.most = 0
    bound = made._seat.workspace.size + 1
    monkeypatch.setattr(constraint_module, "_LARGEST", 1)
    made._seat.workspace.budget = bound
    assert made.matcher(BYTES).machine is machine and made._seat.most == bound
    made._seat.most = 0
    made._seat.workspace.budget = made._seat.workspace.size - 1
    assert made.matcher(BYTES).machine is not machine
