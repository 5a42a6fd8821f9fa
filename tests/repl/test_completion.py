"""What is offered at the prompt: what editors are offered there, with the names and types of the session."""

from __future__ import annotations

from random import Random

import pytest

from editing.half_typed import half_typed, programs
from example_budget import examples
from sglc.repl.completion import complete
from sglc.repl.session import ReplSession

TAKEN = (
    "use std.text (hostname)",
    "enum Mood: calm, annoyed, furious",
    "record Guest:\n    name: str\n    mood: Mood\n    age: int in 0..120",
    "error Lost(why: str)",
    "pure fn older(guest: Guest, years: int) -> int:\n    return guest.age + years",
    'let guest = Guest(name = "Ann", mood = calm, age = 3)',
    "let guests = [guest]",
    "let n = 4",
)


@pytest.fixture(scope="module")
def session() -> ReplSession:
    made = ReplSession()
    for text in TAKEN:
        assert made.take(text).accepted
    return made


def offered(session: ReplSession, text: str) -> list[str]:
    return [each.text for each in complete(session, text, (":type", ":load"))]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        pytest.param("guest.", ["age", "mood", "name"], id="fields"),
        pytest.param("guest.na", ["name"], id="a field that is begun"),
        pytest.param("guests[0].", ["age", "mood", "name"], id="of an item"),
        pytest.param("((((guest.", ["age", "mood", "name"], id="within open brackets"),
        pytest.param("guest.mood == ", ["annoyed", "calm", "furious"], id="members of an enum"),
        pytest.param("let m: Mood = ", ["annoyed", "calm", "furious"], id="a declared type"),
        pytest.param("older(", ["guest"], id="what fits a parameter"),
        pytest.param("older(guest, ", ["n"], id="what fits the second parameter"),
        pytest.param("older(guest, ye", ["years = "], id="names of arguments"),
        pytest.param("match guest.mood:\n    case ", ["annoyed", "calm", "furious"], id="cases"),
        pytest.param("for each in guests:\n    each.", ["age", "mood", "name"], id="of a loop"),
        pytest.param("let other = guest\nother.", ["age", "mood", "name"], id="of the same input"),
        pytest.param("| Hello ${guest.", ["age", "mood", "name"], id="inserts"),
        pytest.param("user: | Hello\n| and ${guest.mo", ["mood"], id="text without a role"),
        pytest.param("user: | ?{a: Mo", ["Mood"], id="holes"),
        pytest.param("| ?{a: str ", ["matching /", "max ", "min "], id="refinements"),
        pytest.param("use std.te", ["std.text"], id="modules"),
        pytest.param("use std.text (hostn", ["hostname"], id="names of modules"),
        pytest.param("fn f(a: Gu", ["Guest"], id="types of parameters"),
        pytest.param("fn f(a: Guest) -> int:\n    return a.", ["age", "mood", "name"], id="in declarations"),
        pytest.param("record Guest:\n    size: int\nfn f(a: Guest) -> int:\n    a.", ["size"], id="anew"),
        pytest.param("raise L", ["Lost"], id="errors"),
        pytest.param(":type guest.na", ["name"], id="behind a command"),
    ],
)
def test_what_fits_comes_first(session: ReplSession, text: str, first: list[str]) -> None:
    assert offered(session, text)[: len(first)] == first


@pytest.mark.parametrize(
    ("text", "there"),
    [
        pytest.param("rec", "record ", id="declarations"),
        pytest.param("us", "user:", id="messages"),
        pytest.param("ol", "older", id="functions"),
        pytest.param("hos", None, id="no type in an expression"),
        pytest.param("guest.name.up", "upper()", id="methods"),
        pytest.param('test "a":\n    mo', "mock ", id="tests"),
        pytest.param("", None, id="nothing is typed"),
        pytest.param("let ", None, id="a new name"),
        pytest.param("| Hello gu", None, id="text for the model"),
        pytest.param("ses", None, id="the function around statements is nobody's"),
    ],
)
def test_what_is_offered(session: ReplSession, text: str, there: str | None) -> None:
    found = offered(session, text)
    assert there in found if there is not None else not found


def test_what_is_shown_beside_it(session: ReplSession) -> None:
    (found,) = complete(session, "guest.ag")
    assert (found.label, found.length, found.kind, found.detail) == ("age", 2, "field", "int in 0..120")


def test_names_that_are_set_aside_or_undone_are_gone() -> None:
    session = ReplSession()
    session.take("let answer = 1")
    assert offered(session, "ans") == ["answer"]
    session.undo()
    assert offered(session, "ans") == []


def test_half_typed_inputs_raise_nothing(session: ReplSession) -> None:
    random = Random(1)
    for (text, cursor), _ in zip(half_typed(random, programs()), range(examples(200)), strict=False):
        lines = text[:cursor].split("\n")
        complete(session, "\n".join(lines[-random.randrange(1, 25) :]))
