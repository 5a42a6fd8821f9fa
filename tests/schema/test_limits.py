"""Schemas that ask for much work are compiled with little of it, or refused by a limit that says which."""

from __future__ import annotations

from typing import Any

import pytest

from sglc.automata.analysis.membership import is_word
from sglc.schema.algebra.algebra import Algebra
from sglc.schema.compile import compile_schema
from sglc.schema.core.errors import SchemaTooLarge
from sglc.schema.core.options import SchemaLimits, SchemaOptions
from sglc.schema.emit.terms import Lowering
from sglc.schema.reading.parse import read_schema


def one_key_each(count: int) -> dict[str, Any]:
    branches = [{"type": "object", "properties": {f"p{i}": {"type": "integer"}}} for i in range(count)]
    return {"oneOf": branches}


def looks_at_values(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a question about the emptiness of values is asked."""
    asked = 0
    is_empty = Algebra.is_empty

    def counted(self: Algebra, these: frozenset[int]) -> bool:
        nonlocal asked
        asked += 1
        return is_empty(self, these)

    options = SchemaOptions()
    graph, root = read_schema(one_key_each(count), options)
    algebra = Algebra(graph, options.limits)
    with monkeypatch.context() as patch:
        patch.setattr(Algebra, "is_empty", counted)
        Lowering(algebra, options).language(algebra.literals.of(root))
    return asked


def test_branches_of_one_key_each_are_compared_in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    # Twice the branches are four times the pairs; each pair asks for a bounded number of values.
    assert looks_at_values(24, monkeypatch) < 5 * looks_at_values(12, monkeypatch)


def test_exactly_one_branch_of_many() -> None:
    language = compile_schema(one_key_each(12), SchemaOptions(order="any"))
    others = ", ".join(f'"p{i}": "x"' for i in range(1, 12))
    assert is_word(language, "{" + others + "}")
    assert not is_word(language, '{"p0": "x", ' + others + "}")
    assert not is_word(language, "{" + others.replace('"x"', "1", 1) + "}")
    assert not is_word(language, "{}")


@pytest.mark.slow
def test_many_such_branches_are_refused_by_the_limit_of_parts() -> None:
    limits = SchemaLimits(parts=20_000)
    compile_schema(one_key_each(20), SchemaOptions(limits=limits))
    with pytest.raises(SchemaTooLarge, match="too many properties to combine"):
        compile_schema(one_key_each(22), SchemaOptions(limits=limits))
    with pytest.raises(SchemaTooLarge, match="too many"):
        compile_schema(one_key_each(200))
