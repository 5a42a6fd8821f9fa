"""Completion: what may be written where the mark stands, by the types around it."""

from __future__ import annotations

import pytest

from editing.marked import marked
from sglc.service.writing.completion import complete
from sglc.syntax.lexer.keywords import HARD

PROGRAM = """use std.text (hostname)

enum Mood: calm, annoyed, furious

## A guest.
record Guest:
    ## As it is written on the card.
    name: str max 40 chars
    mood: Mood
    age: int in 0..120

union Reply:
    Yes:
        text: str
    No

error Lost(why: str)

const LIMIT = 3

pure fn older(guest: Guest, years: int) -> int:
    return guest.age + years

fn ask(about: str, guest: Guest) -> Reply:
    user:
        | About ${about}
    assistant: | ?{reply: Reply}
    return reply

"""


def labels(text: str) -> list[str]:
    snapshot, offset = marked(PROGRAM + text)
    return [item.label for item in complete(snapshot, offset).items]


def first(text: str, count: int) -> list[str]:
    return labels(text)[:count]


@pytest.mark.parametrize(
    ("text", "there", "missing"),
    [
        pytest.param("‸", ["fn", "record", "test", "use"], ["let", "user", "older"], id="at the margin"),
        pytest.param(
            "fn f() -> int:\n    ‸", ["let", "user", "assistant", "return"], ["mock"], id="in a function"
        ),
        pytest.param(
            "pure fn f() -> int:\n    ‸", ["let", "return"], ["user", "mock"], id="in a pure function"
        ),
        pytest.param('test "t":\n    ‸', ["mock", "expect", "fuzz"], ["user"], id="in a test"),
        pytest.param(
            "fn f(g: Guest) -> int:\n    return g.‸", ["name", "mood", "age"], ["calm"], id="fields"
        ),
        pytest.param(
            "fn f(g: Guest) -> int:\n    return g.name.‸", ["upper", "split"], ["age"], id="of text"
        ),
        pytest.param("fn f(g: [Guest]) -> int:\n    return g[0].‸", ["name"], ["map"], id="of an item"),
        pytest.param("fn f(g: [Guest]) -> int:\n    return g.‸", ["map", "filter"], ["name"], id="of a list"),
        pytest.param("const M = Mood.‸", ["calm", "furious"], ["Guest"], id="members"),
        pytest.param(
            "fn f(a: ‸", ["str", "int", "Guest", "Mood"], ["older", "LIMIT"], id="type of a parameter"
        ),
        pytest.param("fn f() -> ‸", ["str", "Reply", "hostname"], ["older"], id="result"),
        pytest.param("record R:\n    a: ‸", ["Guest", "decimal"], ["older"], id="type of a field"),
        pytest.param(
            "record R:\n    a: str ‸", ["max … chars", "matching"], ["multiple of", "temp"], id="of text"
        ),
        pytest.param(
            "record R:\n    a: int ‸", ["in", "multiple of"], ["max … chars", "temp"], id="of a number"
        ),
        pytest.param(
            "fn f() -> int:\n    assistant: | ?{a: ‸", ["int", "Mood", "choose"], ["let"], id="hole"
        ),
        pytest.param(
            "fn f() -> int:\n    assistant: | ?{a: int ‸",
            ["in", "max … tok", "temp"],
            ["max … chars"],
            id="options",
        ),
        pytest.param("fn f(a: str) -> int:\n    user: | Hello ${‸", ["a", "LIMIT"], ["let"], id="insert"),
        pytest.param("fn f(a: str) -> int:\n    user: | Hello ‸", [], ["a", "let"], id="prompt text"),
        pytest.param("use ‸", ["std.text", "std.time"], ["fn"], id="modules"),
        pytest.param("use std.text (‸", ["hostname"], ["fn"], id="names of a module"),
        pytest.param('test "t":\n    mock ‸', ["ask"], ["LIMIT"], id="mocked"),
        pytest.param('test "t":\n    mock ask.‸', ["reply"], ["about"], id="holes of a function"),
        pytest.param("fn f() -> int:\n    raise ‸", ["Lost", "Failure"], ["Guest"], id="errors"),
        pytest.param(
            "fn f(r: Reply) -> int:\n    match r:\n        case ‸", ["Yes", "No", "_"], ["Lost"], id="cases"
        ),
        pytest.param(
            "fn f(m: Mood) -> int:\n    match m:\n        case ‸", ["calm"], ["Yes"], id="cases of an enum"
        ),
        pytest.param("pub pure fn ‸", [], ["older", "LIMIT"], id="a new name"),
        pytest.param("fn f() -> Mood:\n    return Mo‸", ["Mood"], [], id="an enum before a point"),
        pytest.param("# a comment ‸", [], ["fn", "hostname"], id="comment"),
        pytest.param('const A = "a string ‸', [], ["fn", "hostname"], id="string"),
        pytest.param("record R:\n    a: [int] as ‸", ["yaml", "csv"], ["int"], id="forms"),
        pytest.param(
            "fn f() -> int:\n    ensure true\n        retry 2 ‸", ["resample", "repair"], [], id="retry"
        ),
    ],
)
def test_what_a_place_takes(text: str, there: list[str], missing: list[str]) -> None:
    found = labels(text)
    assert set(there) <= set(found)
    assert not set(missing) & set(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "fn f(g: Guest) -> bool:\n    return g.mood == ‸", ["annoyed", "calm", "furious"], id="compared"
        ),
        pytest.param("fn f(g: Guest) -> int:\n    return older(‸", ["g"], id="first argument"),
        pytest.param("fn f(g: Guest, n: int) -> int:\n    return older(g, ‸", ["n"], id="second argument"),
        pytest.param(
            "fn f(g: Guest, n: int) -> int:\n    return older(years = ‸", ["n"], id="named argument"
        ),
        pytest.param("fn f() -> Mood:\n    return ‸", ["annoyed", "calm", "furious"], id="result"),
        pytest.param("fn f() -> int:\n    let m: Mood = ‸", ["annoyed", "calm", "furious"], id="declared"),
        pytest.param('test "t":\n    mock ask.reply = ‸', ["No", "Yes"], id="mocked value"),
    ],
)
def test_what_has_the_type_that_is_due_comes_first(text: str, expected: list[str]) -> None:
    assert first(text, len(expected)) == expected


def test_a_path_is_replaced_as_a_whole() -> None:
    snapshot, offset = marked("use std.te‸")
    found = complete(snapshot, offset)
    assert snapshot.text[found.start : offset] == "std.te" and "std.text" in [i.label for i in found.items]
    snapshot, offset = marked('fn f() -> int:\n    include "texts/a.m‸')
    assert snapshot.text[complete(snapshot, offset).start : offset] == "a.m"


def test_variables_of_closed_blocks_are_not_in_sight() -> None:
    text = "fn f(xs: [int]) -> int:\n    for inner in xs:\n        let deep = inner\n"
    text += "    let after = 1\n    return ‸"
    found = labels(text)
    assert {"xs", "after"} <= set(found) and not {"inner", "deep"} & set(found)


def test_holes_of_messages_stay_in_sight() -> None:
    assert "said" in labels("fn f() -> str:\n    user: | Hi\n    assistant: | ?{said: str}\n    return ‸")


def test_a_line_that_cannot_be_read_takes_nothing_away() -> None:
    assert {"a", "b"} <= set(labels("fn f(a: int) -> int:\n    let b = a\n    let c = (((\n    return ‸"))


def test_no_word_of_the_language_is_offered_as_a_name() -> None:
    snapshot, offset = marked(PROGRAM + "fn f() -> int:\n    return ‸")
    assert not [
        each for each in complete(snapshot, offset).items if each.kind != "word" and each.label in HARD
    ]
