"""How often the word `Any` stands in each package: no more often than it did when it was last counted.

`Any` switches the type checker off for all that comes of a value. It is due where a value belongs to the
program that is run or to its caller; elsewhere a value that is only handed on is `object`, parsed JSON is
`JsonData`, and a function that gives back what it takes has a type variable. Whoever removes one lowers the
number here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from checkout import ROOT
from source_tree import source_files

MOST: dict[str, int] = {"kernels": 4, "runtime": 104, "sglc": 415}
"""By package: what was counted last, in code, docstrings and texts alike (`git grep -ow Any -- sglc`)."""


def counted(files: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Occurrences of the word by package, of files given as path in the checkout and text."""
    found: dict[str, int] = {}
    for path, text in files:
        package = path.partition("/")[0]
        found[package] = found.get(package, 0) + len(re.findall(r"\bAny\b", text))
    return found


def beyond(found: Mapping[str, int], most: Mapping[str, int]) -> list[str]:
    """What is written more often than it may be."""
    return [f"{name}: {found[name]} > {bound}" for name, bound in most.items() if found[name] > bound]


def test_any_is_written_no_more_often_than_before() -> None:
    paths: list[Path] = source_files()
    files = ((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths)
    assert beyond(counted(files), MOST) == []


def test_the_word_is_counted_and_nothing_that_it_is_part_of() -> None:
    text = "from typing import Any\nx: dict[Any, Any]\ny: AnyStr = Many_Any('anything')  # `Any`\n"
    assert counted([("sglc/a.py", text), ("sglc/b/c.py", "Any"), ("runtime/d.py", "any")]) == {
        "sglc": 5,
        "runtime": 0,
    }


def test_the_bound_itself_is_allowed_and_one_more_is_not() -> None:
    assert beyond({"sglc": 7}, {"sglc": 7}) == []
    assert beyond({"sglc": 8}, {"sglc": 7}) == ["sglc: 8 > 7"]
