"""The constant prefix of a function: roles and text up to the first thing that may differ."""

from __future__ import annotations

from sglc.bytecode.prefix import PrefixMessage, constant_prefix
from sglc.driver import compile_source
from sglc.source import Source


def prefix(text: str, name: str = "f") -> tuple[PrefixMessage, ...]:
    program = compile_source(Source("main.sgl", text)).program
    assert program is not None
    return constant_prefix(program, next(code for code in program.codes if code.name == name))


def test_goes_through_constants_lines_and_parts_and_stops_at_an_argument() -> None:
    text = """
enum Mood: calm, angry
const LIMIT = 3
record R:
    mood: Mood
part rules(who: str):
    | Be ${who}.
fn f(x: str):
    system:
        | You help.
        part rules("kind")
    user:
        | At most ${LIMIT} \\
        | words, ${calm}.
        |
        | Shape: ${schema(R)}
        | Ask: ${x}!
    assistant: | ?{answer: Mood}
"""
    system, user = prefix(text)
    assert system == PrefixMessage("system", "You help.\nBe kind.", True)
    assert user.role == "user" and not user.complete
    assert user.text.startswith("At most 3 words, calm.\n\nShape: ") and user.text.endswith("\nAsk: ")


def test_stops_at_a_hole_and_at_a_branch() -> None:
    assert prefix("fn f():\n    | Say ?{x: int}.\n") == (PrefixMessage("", "Say ", False),)
    branch = "fn f(b: bool):\n    | a\n    if b:\n        | b\n"
    assert prefix(branch) == (PrefixMessage("", "a", False),)


def test_only_functions_with_a_conversation_of_their_own_have_one() -> None:
    text = "part p(x: str):\n    | a\nfn f(x: str):\n    part p(x)\npure fn g() -> int:\n    return 1\n"
    assert prefix(text, "p") == () and prefix(text, "g") == ()
