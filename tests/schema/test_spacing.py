# ruff: noqa: E501
"""Flexible spacing takes what the common writers of JSON write, and no other blanks than it says."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.runtime.mask import UnsupportedConstraint, Vocabulary, compile_constraint
from sglc.runtime.mask.constraint import Constraint
from sglc.schema.core.options import MOST_INDENT, SchemaOptions

BYTES = Vocabulary(
    [bytes([byte]) for byte in range(256)] + [b"\n  ", b"\n\t\t", b"    ", b'\n    "', b"},\n"]
)
ANYTHING = compile_constraint(
    json_schema={}, schema_options=SchemaOptions(spacing="flexible", spelling="any", order="any")
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text('a é"', max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=12,
)
WRITERS = {
    "json.dumps": lambda value: json.dumps(value),
    "JSON.stringify": lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
    **{
        f"json.dumps(indent={n})": lambda value, n=n: json.dumps(value, indent=n)
        for n in (0, 1, 2, 3, 4, 7, 8, 10)
    },
    "json.dumps(indent=tab)": lambda value: json.dumps(value, indent="\t"),
    "Go: MarshalIndent": lambda value: json.dumps(value, indent="\t", ensure_ascii=False),
    "Rust: to_string_pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    "jq": lambda value: json.dumps(value, indent=2, ensure_ascii=False) + "\n",
    "with line ends of Windows": lambda value: json.dumps(value, indent=4).replace("\n", "\r\n") + "\r\n",
    "keys aligned": lambda value: json.dumps(value, indent=2, separators=(",", " : ")),
    "in a code block": lambda value: "\n" + json.dumps(value, indent=2) + "\n",
}


def accepts(constraint: Constraint, text: str) -> bool:
    matcher = constraint.matcher(BYTES)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


@pytest.mark.slow
@pytest.mark.parametrize("writer", WRITERS)
@settings(max_examples=examples(25), deadline=None)
@given(value=VALUES)
def test_what_writers_write_is_taken(writer: str, value: Any) -> None:
    assert accepts(ANYTHING, WRITERS[writer](value))


def test_deep_values_are_indented() -> None:
    value: Any = 1
    for level in range(16):
        value = [value] if level % 2 else {"a": value}
    for indent in (2, 4, 8, "\t"):
        assert accepts(ANYTHING, json.dumps(value, indent=indent))


def test_declared_schemas_take_what_writers_write() -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"enum": ["a", 1]}}},
        "required": ["name", "tags"],
        "additionalProperties": False,
    }
    constraint = compile_constraint(json_schema=schema, schema_options=SchemaOptions(spacing="flexible"))
    for writer in WRITERS.values():
        for tags in ([], ["a", 1, "a"]):
            assert accepts(constraint, writer({"name": "x", "tags": tags}))
    assert not accepts(constraint, json.dumps({"tags": [], "name": "x"}, indent=2))


# An oracle that knows tokens and the blanks between them, and nothing of automata.

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d+|true|false|null|[\[\]{},:]')


def is_gap(text: str, blanks: int, indent: int) -> bool:
    if set(text) - set(" \t\r\n"):
        return False
    if len(text) <= blanks:
        return True
    line = text.removeprefix("\r")
    return (
        line[:1] == "\n"
        and len(line) - 1 <= indent
        and line[1:] in (" " * (len(line) - 1), "\t" * (len(line) - 1))
    )


def is_spaced(text: str, tokens: list[str], blanks: int, indent: int) -> bool:
    """Whether a text is these tokens with legal gaps; nothing stands between empty brackets but two of them."""
    at = 0
    for index, token in enumerate([*tokens, ""]):
        end = text.find(token, at) if token else len(text)
        if token:
            end = at + len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))
            if not text.startswith(token, end):
                return False
        gap = text[at:end]
        empty = 0 < index < len(tokens) and (tokens[index - 1] + token) in ("[]", "{}")
        cuts = range(len(gap) + 1) if empty else (0,)
        if not any(is_gap(gap[:cut], blanks, indent) and is_gap(gap[cut:], blanks, indent) for cut in cuts):
            return False
        at = end + len(token)
    return True


GAPS = st.sampled_from(
    [
        "",
        "",
        " ",
        "\n",
        "\t",
        "\r\n",
        "    ",
        "     ",
        "\n  ",
        "\n      ",
        "\n       ",
        "\r\n      ",
        "\n\t\t",
        "\n\t\t\t\t\t\t\t",
        "\n \t",
        "\n \t \t \t",
        " \n      ",
        "\r\r\n",
    ]
)


@settings(max_examples=examples(150), deadline=None)
@given(st.data(), VALUES, st.sampled_from([(4, 6), (0, 6), (2, 0), (1, 1), (0, 0), (70, 3), (5, 66)]))
def test_blanks_are_exactly_those(data: st.DataObject, value: Any, sizes: tuple[int, int]) -> None:
    blanks, indent = sizes
    options = SchemaOptions(spacing="flexible", spelling="any", order="any", blanks=blanks, indent=indent)
    constraint = compile_constraint(json_schema={}, schema_options=options)
    tokens = TOKEN.findall(json.dumps(value, ensure_ascii=False))
    text = "".join(f"{data.draw(GAPS)}{token}" for token in tokens) + data.draw(GAPS)
    assert accepts(constraint, text) == is_spaced(text, tokens, blanks, indent)


def test_indentations_have_a_limit() -> None:
    for wrong in (-1, MOST_INDENT + 1, True, 2.0):
        with pytest.raises(ValueError, match="indent must be a whole number"):
            SchemaOptions(indent=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("draft", ["4", "6", "7", "2019-09", "2020-12"])
def test_hostnames_are_read_right_or_refused(draft: Any) -> None:
    schema = {"type": "string", "format": "hostname"}
    plain = compile_constraint(
        json_schema=schema, schema_options=SchemaOptions(draft=draft, hostnames="plain")
    )
    assert accepts(plain, '"a-b.example"')
    if draft in ("4", "6"):
        # RFC 1034 knows letters, digits and hyphens alone.
        exact = compile_constraint(json_schema=schema, schema_options=SchemaOptions(draft=draft))
        assert accepts(exact, '"xn--p1ai.example"') and accepts(plain, '"xn--p1ai.example"')
    else:
        assert not accepts(plain, '"xn--p1ai.example"')
        with pytest.raises(UnsupportedConstraint, match=r"xn--.*hostnames=\"plain\"") as fault:
            compile_constraint(json_schema=schema, schema_options=SchemaOptions(draft=draft))
        assert (fault.value.keyword, fault.value.path) == ("format", "#/format")
