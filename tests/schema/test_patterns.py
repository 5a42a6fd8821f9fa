"""JSON schemas with patterns whose automata would be large, alone and together with other requirements."""

from __future__ import annotations

import pytest

from sglc.automata.term import Pattern
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.schema.compile import compile_schema
from sglc.schema.core.options import SchemaOptions
from strategies.byte_vocabulary import BYTE_VOCABULARY

SUFFIXES = "^(a|b)*a(a|b){14}$"
URL = (
    r"^https?:\/\/(www\.)?[-a-zA-Z0-9@:%._\+~#=]{1,256}\.[a-zA-Z0-9()]{1,6}\b([-a-zA-Z0-9()@:%_\+.~#?&//=]*)$"
)


def accepts(schema: object, text: str, spelling: str = "canonical") -> bool:
    constraint = compile_constraint(json_schema=schema, schema_options=SchemaOptions(spelling=spelling))
    matcher = constraint.matcher(BYTE_VOCABULARY)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@pytest.mark.parametrize("spelling", ["canonical", "any"])
def test_large_patterns_stand_alone(spelling: str) -> None:
    schema = {"type": ["string", "null"], "pattern": SUFFIXES}
    assert accepts(schema, '"bba' + "b" * 14 + '"', spelling)
    assert not accepts(schema, '"bba' + "b" * 15 + '"', spelling)
    assert accepts(schema, "null", spelling)
    assert accepts(schema, '"\\u0061' + "b" * 14 + '"', spelling) == (spelling == "any")
    assert accepts({"pattern": URL}, '"https://www.example.org/a?b=c"', spelling)
    assert not accepts({"pattern": URL}, '"https://www.example-org"', spelling)


def test_large_patterns_with_other_requirements() -> None:
    large = r"([a-z0-9]{1,20}[.-]){1,12}[a-z.]{1,9}\b"
    for text, whole in (("a.b", False), ("abc-def.org", True)):
        assert accepts({"pattern": large, "minLength": 5}, f'"{text}"') == whole
        assert accepts({"enum": ["a.b", "abc-def.org", "-"], "pattern": large}, f'"{text}"')
        assert accepts({"anyOf": [{"pattern": large}, {"const": "-"}, {"type": "null"}]}, f'"{text}"')
    with pytest.raises(ConstraintError, match="the pattern meets other requirements"):
        compile_constraint(json_schema={"pattern": SUFFIXES.replace("14", "30"), "not": {"maxLength": 3}})


def test_the_term_is_no_automaton() -> None:
    assert isinstance(compile_schema({"type": "string", "pattern": SUFFIXES}).root.items[1], Pattern)
