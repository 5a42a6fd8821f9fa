"""A hole draws from the text before it: other texts, other draws; the same text, the same draws."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.hashed_engine import HashedEngine
from outcomes import compiled
from sglc.options import LEVELS
from sglc.runtime.decoding.conversations.conversation import Conversation, PlainChat
from sglc.runtime.decoding.conversations.digest import TextDigest
from sglc.runtime.session import Session

DIGITS = 8
PROMPTS = [f"word{number:03}" for number in range(200)]
ALL_DIFFERENT = 24.32
"""The 99.9th percentile of chi-square with DIGITS - 1 degrees of freedom."""


class _Row:
    """Logits that know no prompt: all tokens are as likely."""

    def __init__(self, engine: HashedEngine) -> None:
        self._row = np.zeros_like(engine._preferred)

    def __call__(self, tokens: list[int]) -> np.ndarray:
        return self._row


def deaf() -> HashedEngine:
    """An engine that does not read what is before a token."""
    engine = HashedEngine()
    engine._logits = _Row(engine)  # type: ignore[method-assign]
    return engine


def asking(hole: str, result: str = "int", function: str = "") -> str:
    return (
        f"pub fn f(x: str) -> {result}{function}:\n    user: | About ${{x}}, please.\n"
        f"    assistant: | Well: ?{{d: {hole}}}\n    return d\n"
    )


def draws(
    text: str, prompts: Sequence[str], level: int = 2, seed: int = 3, together: bool = False
) -> list[Any]:
    """What `f` gives for each prompt, one after the other or all together."""
    session = Session(compiled(text, level), deaf())

    async def one(prompt: str) -> Any:
        return (await session.run("f", {"x": prompt}, seed=seed)).value

    async def all_of_them() -> list[Any]:
        if together:
            return list(await asyncio.gather(*map(one, prompts)))
        return [await one(each) for each in prompts]

    return asyncio.run(all_of_them())


def chi_square(values: Sequence[object], kinds: int) -> float:
    expected = len(values) / kinds
    counts = Counter(values)
    return sum((count - expected) ** 2 for count in counts.values()) / expected + expected * (
        kinds - len(counts)
    )


HOLES = {
    "local": f"int in 0..{DIGITS - 1} temp 1.0",
    "written seed": f"int in 0..{DIGITS - 1} temp 1.0 seed 7",
    "exact": f"int in 0..{DIGITS - 1} temp 1.0 decode exact",
    "smc": f"int in 0..{DIGITS - 1} temp 1.0 decode smc(2)",
    "choose": f"choose [{', '.join(map(str, range(DIGITS)))}] temp 1.0",
}


@pytest.mark.parametrize("hole", HOLES.values(), ids=HOLES)
def test_one_seed_gives_other_prompts_independent_draws(hole: str) -> None:
    found = draws(asking(hole), PROMPTS)
    assert chi_square(found, DIGITS) < ALL_DIFFERENT
    # Neighbours differ in a character or two. If a draw told something of the next, equal ones or some
    # distance would be too frequent.
    steps = [(after - before) % DIGITS for before, after in pairwise(found)]
    assert chi_square(steps, DIGITS) < ALL_DIFFERENT


def test_samples_of_one_prompt_are_independent_of_those_of_others_and_of_each_other() -> None:
    found = draws(asking(f"int in 0..{DIGITS - 1} n 2 temp 1.0", "[int]"), PROMPTS)
    assert chi_square([first for first, _ in found], DIGITS) < ALL_DIFFERENT
    assert chi_square([(second - first) % DIGITS for first, second in found], DIGITS) < ALL_DIFFERENT
    assert [first for first, _ in found] == draws(asking(HOLES["local"]), PROMPTS)


@pytest.mark.parametrize("hole", HOLES.values(), ids=HOLES)
def test_equal_prompts_give_equal_draws(hole: str) -> None:
    first = draws(asking(hole), PROMPTS[:12])
    assert first == draws(asking(hole), list(reversed(PROMPTS[:12])))[::-1]
    assert first == draws(asking(hole), PROMPTS[:12], together=True)
    assert (first == draws(asking(hole), PROMPTS[:12], seed=4)) == ("seed 7" in hole)


SAME = (
    asking("str min 8 chars max 12 chars temp 1.0", "str"),
    """
part about(x: str):
    | About ${x}, \\
pub fn f(x: str) -> str:
    user:
        part about(x)
        | please.
    assistant: | Well: ?{d: str min 8 chars max 12 chars temp 1.0}
    return d
""",
    """
pub fn f(x: str) -> str:
    let whole = "About " + x + ", please."
    user: | ${whole}
    assistant:
        for word in ["Well", ": "]:
            | ${word}\\
        | ?{d: str min 8 chars max 12 chars temp 1.0}
    return d
""",
)


@pytest.mark.parametrize("text", SAME)
@pytest.mark.parametrize("level", LEVELS)
def test_a_prompt_draws_the_same_however_it_is_put_together(text: str, level: int) -> None:
    assert draws(text, PROMPTS[:5], level) == draws(SAME[0], PROMPTS[:5])


def test_roles_and_the_ends_of_messages_count() -> None:
    def digest(*messages: tuple[str, str]) -> bytes:
        return TextDigest().of(messages)

    cases = [
        (),
        (("", ""),),
        (("user", ""),),
        (("user", "ab"),),
        (("system", "ab"),),
        (("user", "a"), ("user", "b")),
        (("user", "ab"), ("user", "")),
        (("user", ""), ("user", "ab")),
        (("", "userab"),),
        (("usera", "b"),),
    ]
    assert len({digest(*case) for case in cases}) == len(cases)
    assert digest(("system", "Be kind."), ("user", "Grüße 🌊")).hex() == "03c1fa00599cddff9afb4bd53f058c97"


TEXTS = st.text("ab\n🌊\ud800", max_size=4)
ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("role"), st.sampled_from(["user", "assistant"])),
        st.tuples(st.just("text"), TEXTS),
        st.tuples(st.sampled_from(["mark", "restore", "fork", "ask"]), st.just("")),
    ),
    max_size=24,
)


@given(ACTS)
def test_a_digest_is_that_of_the_text_whatever_was_read_before(acts: list[tuple[str, str]]) -> None:
    talk = Conversation(chat=PlainChat())
    others, marks = [talk], [talk.mark()]
    for act, text in acts:
        if act == "role":
            talk.role(text)
        elif act == "text":
            talk.text(text)
        elif act == "mark":
            marks.append(talk.mark())
        elif act == "restore":
            talk.restore(marks[-1])
        elif act == "fork":
            others.append(talk := talk.fork())
        else:
            assert talk.digest() == TextDigest().of(talk.state.messages)
    for each in others:
        assert each.digest() == TextDigest().of(each.state.messages)


def test_what_was_read_is_not_read_again() -> None:
    """Bytes that are read, and those of the text: a hundred holes in each of ten messages."""
    talk = Conversation(chat=PlainChat())
    size = 0
    for _ in range(10):
        talk.role("user")
        for _ in range(100):
            talk.digest()
            talk.text("some words ")
            size += len("some words ")
    talk.digest()
    assert talk.read.read == size
    begun = talk.mark()
    talk.text("a value")
    talk.restore(begun)
    talk.digest()  # a retry of the hole that was just filled
    assert talk.read.read == size
    copies = [talk.fork() for _ in range(5)]
    for copy in copies:
        copy.text("more")
        copy.digest()
    assert [copy.read.read for copy in copies] == [len("more")] * 5
