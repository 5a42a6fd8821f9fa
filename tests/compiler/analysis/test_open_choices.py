"""W0249: choices over text that is not trusted without an answer for what none of their answers fits."""

from __future__ import annotations

import pytest

from sglc.advice.examine import examine
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.edits import edited
from sglc.driver import compile_source
from sglc.library import Library
from sglc.source import Source

DESK = '"orders" | "repairs" | "sales"'
ROUTE = (
    "pub fn route(mail: untrusted str) -> str:\n    user: | ${mail}\n    assistant: | ?{desk: DESK}\n"
    "    return str(desk)\n"
)


def told(text: str) -> list[Diagnostic]:
    return [each for each in examine(Source("p.sgl", text), Library()) if each.code == "W0249"]


@pytest.mark.parametrize(
    ("type", "said"),
    [
        (DESK, True),
        (f"({DESK}) as yaml", True),
        ('"orders" | "repairs"', False),  # a question with its negation, mostly
        (f'{DESK} | "other"', False),
        (f'{DESK} | "none_of_these"', False),
        ('"low" | "medium" | "high"', False),
        (f"({DESK})?", False),
        ("int in 1..5", False),
        ("str max 9 chars", False),
    ],
)
def test_what_is_a_closed_choice(type: str, said: bool) -> None:
    assert bool(told(ROUTE.replace("DESK", type))) == said


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("untrusted ", ""), False),
        (("${mail}", "${trust(mail)}"), False),
        (("${mail}", "${len(mail)}"), False),
        (("user: | ${mail}", "user: part shown(mail)"), True),
        (("user: | ${mail}", "user: | ${mail.strip()}"), True),
        (("    user: | ${mail}\n", ""), False),
    ],
)
def test_the_text_before_the_hole_decides(change: tuple[str, str], said: bool) -> None:
    part = "part shown(x: str):\n    | ${x}\n\n"
    assert bool(told(part + ROUTE.replace("DESK", DESK).replace(*change))) == said


def test_a_call_with_such_a_text_is_followed() -> None:
    (found,) = told(
        "fn ask(x: str) -> str:\n    user: | ${x}\n"
        f"    assistant: | ?{{desk: {DESK}}}\n    return desk\n\n"
        "pub fn f(mail: untrusted str min 2 chars, own: str) -> (str, str):\n"
        "    return (ask(own), ask(mail))\n"
    )
    assert found.span is not None and found.span.text.startswith('"orders"')
    assert found.witness == '"xx"' and "`mail` of `f`" in found.reason


def test_what_a_function_of_python_gives_counts_and_records_are_looked_into() -> None:
    (found,) = told(
        'extern py "net:page" fn page(url: str) -> str effects read\n\n'
        "enum Mood: angry, happy, sad\n\n"
        "record Ticket:\n    mood: Mood\n    again?: Mood\n\n"
        "pub fn f(url: str) -> Ticket:\n    user: | ${page(url)}\n"
        "    assistant: | ?{t: Ticket}\n    return t\n"
    )
    assert "`t.mood` has no answer" in found.message and found.witness == '""'


NAMED = ROUTE.replace("DESK", "desk").replace("?{desk", "?{d").replace("str(desk)", "d")
ENUM = "enum Desk:\n    orders\n    sales     ## what is new\n    repairs   ## what is broken\n\n"
USE = (
    "pub fn f(mail: untrusted str) -> Desk:\n    user: | ${mail}\n    assistant: | ?{d: Desk}\n    return d\n"
)
MATCH = (
    "\npub pure fn n(d: Desk) -> int:\n    match d:\n        case orders: return 1\n"
    "        case sales | repairs: return 2\n"
)


@pytest.mark.parametrize(
    ("text", "with_edit"),
    [
        (ROUTE.replace("DESK", DESK), f'?{{desk: {DESK} | "other"}}'),
        (f"type desk = {DESK}\n\n" + NAMED, f'type desk = {DESK} | "other"'),
        (ENUM + USE, "    repairs   ## what is broken\n    other\n"),
        ("enum Desk: orders, sales, repairs\n\n" + USE, "enum Desk: orders, sales, repairs, other\n"),
    ],
)
def test_the_edit_adds_an_answer(text: str, with_edit: str) -> None:
    (found,) = told(text)
    after = edited(text, found.offered)
    assert with_edit in after and not told(after)


def test_an_edit_that_breaks_the_program_is_not_offered() -> None:
    (found,) = told(ENUM + USE + MATCH)
    assert found.offered == () and "`other`" in found.hint


def test_a_program_with_the_finding_compiles() -> None:
    assert compile_source(Source("p.sgl", ROUTE.replace("DESK", DESK))).program is not None
