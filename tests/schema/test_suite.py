"""The JSON Schema Test Suite: of what compiles, every test is decided right.

It is read from the folder that SGLC_JSON_SCHEMA_TEST_SUITE names (with `tests` and `remotes` in it).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from oracles.schema_oracle import accepts
from sglc.automata.term import Language, Nothing
from sglc.schema.compile import compile_schema
from sglc.schema.core.errors import SchemaTooLarge, Unsatisfiable, UnsupportedSchema
from sglc.schema.core.options import Draft, SchemaOptions

VARIABLE = "SGLC_JSON_SCHEMA_TEST_SUITE"
FOLDER = os.environ.get(VARIABLE, "")
DRAFTS: dict[Draft, str] = {
    "4": "draft4",
    "6": "draft6",
    "7": "draft7",
    "2019-09": "draft2019-09",
    "2020-12": "draft2020-12",
}
AT_LEAST = {"4": 610, "6": 830, "7": 920, "2019-09": 1240, "2020-12": 1280}
"""Tests of each draft's required part that must compile and be right."""

WEAKER = {
    "validation of string-encoded content based on media type": "contents of strings are annotations",
    "validation of binary string-encoding": "contents of strings are annotations",
    "validation of binary-encoded media type documents": "contents of strings are annotations",
    "an ECMA 262 named backreference \\k<name>": "patterns are not written with backreferences",
    "schema that uses custom metaschema with format-assertion: false": "an option asserts formats",
    "schema that uses custom metaschema with format-assertion: true": "an option asserts formats",
}
"""Groups and tests of the optional part that are not decided right, and why."""


@cache
def remotes() -> dict[str, Any]:
    root = Path(FOLDER) / "remotes"
    return {
        f"http://localhost:1234/{path.relative_to(root).as_posix()}": json.loads(path.read_text("utf-8"))
        for path in sorted(root.rglob("*.json"))
    }


def groups(draft: Draft, optional: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """(file, group of tests with one schema)."""
    root = Path(FOLDER) / "tests" / DRAFTS[draft]
    for path in sorted((root / "optional").rglob("*.json") if optional else root.glob("*.json")):
        for group in json.loads(path.read_text("utf-8")):
            yield path.relative_to(root).with_suffix("").as_posix(), group


def language(schema: Any, draft: Draft, formats: bool) -> Language | None:
    """None for what is refused."""
    options = SchemaOptions(draft=draft, order="any", spelling="any", formats=formats, resources=remotes())
    try:
        return compile_schema(schema, options)
    except Unsatisfiable:
        return Language(Nothing())
    except (UnsupportedSchema, SchemaTooLarge):
        return None


@pytest.mark.skipif(not FOLDER, reason=f"{VARIABLE} names no folder with the JSON Schema Test Suite")
@pytest.mark.parametrize("draft", DRAFTS)
def test_what_compiles_is_decided_right(draft: Draft) -> None:
    wrong = []
    right = 0
    for optional in (False, True):
        for file, group in groups(draft, optional):
            if group["description"] in WEAKER:
                continue
            found = language(group["schema"], draft, "format" in file and optional)
            if found is None:
                continue
            for test in group["tests"]:
                if test["description"] in WEAKER:
                    continue
                if accepts(found, test["data"]) != test["valid"]:
                    wrong.append((file, group["description"], test["description"]))
                elif not optional:
                    right += 1
    assert wrong == []
    assert right >= AT_LEAST[draft]
