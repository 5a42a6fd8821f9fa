"""Hover, signatures and views: what is shown, by examples."""

from __future__ import annotations

import pytest

from checkout import ROOT
from editing.marked import marked
from sglc.service.core.documents import Documents
from sglc.service.holes.hover import hover
from sglc.service.views.hints import counts_of, types_of
from sglc.service.views.structure import folds, links
from sglc.service.views.tokens import classified
from sglc.service.writing.signature import signature


def shown(text: str) -> str:
    snapshot, offset = marked(text)
    found = hover(snapshot, offset)
    assert found is not None
    return found.text(None)


def test_a_hole_of_a_range() -> None:
    text = shown("fn f() -> int:\n    user: | Hi\n    assistant: | ?{a‸ge: int in 18..70}\n    return age\n")
    assert text.startswith("```sgl\n?{age: int in 18..70}\n```")
    assert "**Bytes**: at least 2, at most 2" in text
    assert "**Values**: 53" in text and "**Shortest**: `18`" in text and "**Samples**: " in text


def test_a_hole_of_an_enum_in_an_erroneous_program() -> None:
    text = "enum M: calm, wild\nfn f() -> M:\n    user: | Hi\n    assistant: | ?{m‸: M}\n    return nothing\n"
    assert "**Values**: 2" in shown(text)


def test_sample_values_are_legal() -> None:
    text = shown("fn f() -> str:\n    assistant: | ?{c: str matching /[ab]{2}/ ‸}\n    return c\n")
    samples = text.partition("**Samples**: ")[2].partition("  \n")[0]
    words = [each.strip("`") for each in samples.split(", ")]
    assert words and all(len(word) == 2 and set(word) <= {"a", "b"} for word in words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Adds.\npure fn f(a: int) -> int:\n    return a\nconst C = ‸f(1)\n", "pure fn f(a: int) -> int"),
        ("## Adds.\npure fn f(a: int) -> int:\n    return a\nconst C = ‸f(1)\n", "Adds."),
        ("pure fn f(a: int) -> int:\n    return ‸a\n", "(parameter) a: int"),
        ("pure fn f(xs: [int]) -> int:\n    let n = len(xs)\n    return ‸n\n", "n: int"),
        ("pure fn f(xs: [int]) -> int:\n    return ‸len(xs)\n", "characters of a text"),
        ("record R:\n    ## How many.\n    n: int\npure fn f(r: R) -> int:\n    return r.‸n\n", "How many."),
        ("enum M:\n    calm ## Not loud.\n    wild\nconst C = M.‸calm\n", "Not loud."),
        (
            "error E\npure fn f(a: int) -> int:\n    if a > 1:\n        raise E\n"
            "    return a\nconst C = ‸f(1)\n",
            "may raise E",
        ),
    ],
)
def test_names(text: str, expected: str) -> None:
    assert expected in shown(text)


@pytest.mark.parametrize(
    ("text", "label", "active"),
    [
        (
            "pure fn f(a: int, b: int = 2) -> int:\n    return a\nconst C = f(‸",
            "f(a: int, b: int = 2) -> int",
            0,
        ),
        ("pure fn f(a: int, b: int) -> int:\n    return a\nconst C = f(1, ‸", "f(a: int, b: int) -> int", 1),
        ("pure fn f(a: int, b: int) -> int:\n    return a\nconst C = f(b = ‸", "f(a: int, b: int) -> int", 1),
        ("pure fn f(a: [int]) -> int:\n    return 1\nconst C = f([1, 2, ‸", None, None),
        ("record R:\n    a: int\n    b: str\nconst C = R(1, ‸", "R(a: int, b: str)", 1),
        ("const C = round(1.5, ‸", "round(x: number, digits: int?) -> rounded", 1),
        ('const C = "a".replace("(", ‸', "replace(old: str, new: str) -> str", 1),
        ("pure fn f() -> int:\n    return 1 ‸", None, None),
    ],
)
def test_signatures(text: str, label: str | None, active: int | None) -> None:
    found = signature(*marked(text))
    assert (None if found is None else (found.label, found.active)) == (
        None if label is None else (label, active)
    )


def test_hints_tell_types_and_bounds() -> None:
    text = "fn f(xs: [int]) -> int:\n    let n = len(xs)\n"
    text += "    assistant: | ?{a: int in 0..99}\n    return a + n\n"
    snapshot, _ = marked(text)
    assert [each.text for each in types_of(snapshot, 0, len(text))] == [": int"]
    assert [each.made(None) for each in counts_of(snapshot, 0, len(text))] == ["1..2 B"]


def test_prompt_text_borders_and_names_have_classes() -> None:
    text = "fn f(who: str) -> str:\n    user: | Hi ${who}! # no comment\n"
    snapshot, _ = marked(text + "    assistant: | ?{a: str}\n    return a\n")
    found = [(snapshot.text[each.start : each.end], each.word_class) for each in classified(snapshot)]
    assert ("fn", "keyword") in found and ("f", "function") in found and ("user", "role") in found
    assert (" # no comment", "promptText") in found or any(
        "# no comment" in word and kind == "promptText" for word, kind in found
    )
    assert ("${", "border") in found and ("?{", "border") in found and ("}", "border") in found
    assert ("a", "hole") in found and ("who", "parameter") in found


def test_links_of_the_examples_lead_to_files() -> None:
    documents = Documents()
    found = 0
    for path in sorted((ROOT / "examples").glob("*.sgl")):
        snapshot = documents.snapshot(path)
        assert snapshot is not None and folds(snapshot)
        for link in links(snapshot):
            assert link.path.is_file() and "\n" not in link.span.text
            found += 1
    assert found >= 5
