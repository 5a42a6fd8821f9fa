"""Random grammar blocks of programs, with parameters, constants, counts and skipped text, against Lark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from example_budget import examples
from oracles.lark_oracle import lark_accepts, lark_of, longest_first_parsers
from sglc.check.program import check
from sglc.library import Library
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.source import Source
from sglc.types.dependent import bind
from sglc.types.language.language import language
from sglc.types.language.membership import is_member
from sglc.types.text.decode import decode
from sglc.types.type import Str
from sglc.types.values import GivenError, Parsed, RecordValue
from strategies.grammar_strategies import ALPHABET, BYTES, texts, words_of

PATTERNS = ("a+", "[ab]+", "ab?", "b;", "a ?", ";[ab]*", "[ab]{1,2}", "a|ab", "[^b ]")
LITERALS = ("a", "b", "ab", ";", " b", "aa", "ba")
SKIPPED = (" +", ";[ab]*;", ";", " a?")
NAMES = {"one of xs": "XS", "one of r.names": "NAMES", "one of FIXED": "FIXED", "t": "T"}
"""Values by what they are called here and in Lark, where a list is a pattern, of longer texts first."""
FIXED = ("ab", "b;")
COUNTS = (("?", "?"), ("*", "*"), ("+", "+"), ("{2}", "~2"), ("{1,2}", "~1..2"), ("{0,2}", "~0..2"))
"""Here and in Lark."""


@dataclass(frozen=True)
class Written:
    """A grammar block, the same rules for Lark, and the values of its parameters."""

    block: str
    lark: str
    values: tuple[object, ...]


@st.composite
def written_grammars(draw: st.DrawFn, skip: bool) -> Written:
    """Rules over `ALPHABET` with parameters `xs: [str]`, `t: str` and a record `r` with a list of names."""
    some = st.lists(st.text(ALPHABET, min_size=1, max_size=3), min_size=1, max_size=3, unique=True)
    xs, names, end = draw(some), draw(some), draw(st.text(ALPHABET, min_size=1, max_size=2))
    lists = {"XS": xs, "NAMES": names, "FIXED": FIXED}
    rules = ["start", "p", "q"][: draw(st.integers(1, 3))]
    known = {name: f"/{'|'.join(sorted(words, key=len)[::-1])}/" for name, words in lists.items()}
    known["T"] = f'"{end}"'

    def leaf() -> tuple[str, str]:
        kind = draw(st.integers(0, 9))
        if kind <= 3:
            part = draw(st.sampled_from(sorted(NAMES)))
            return part, NAMES[part]
        if kind <= 5:
            text = f'"{draw(st.sampled_from(LITERALS))}"'
        elif kind <= 7:
            text = f"/{draw(st.sampled_from(PATTERNS))}/"
        else:
            text = draw(st.sampled_from(rules))
        return text, text

    def expression(depth: int) -> tuple[str, str]:
        kind = draw(st.integers(0, 9)) if depth else 0
        if kind <= 2:
            return leaf()
        if kind <= 5:
            parts = [expression(depth - 1) for _ in range(draw(st.integers(2, 3)))]
            return " ".join(part for part, _ in parts), " ".join(part for _, part in parts)
        if kind <= 7:
            parts = [expression(depth - 1) for _ in range(draw(st.integers(2, 3)))]
            return tuple("(" + " | ".join(side) + ")" for side in zip(*parts, strict=True))  # type: ignore[return-value]
        mine, theirs = expression(depth - 1)
        here, there = draw(st.sampled_from(COUNTS))
        return f"({mine}){here}", f"({theirs}){there}"

    block, lark = [], []
    for name in rules:
        arms = [expression(2) for _ in range(draw(st.integers(1, 3)))]
        block.append(f"{name}: {' | '.join(arm for arm, _ in arms)}")
        lark.append(f"{name}: {' | '.join(arm for _, arm in arms)}")
    for name, terminal in known.items():
        if any(re.search(rf"\b{name}\b", line) for line in lark):
            lark.append(f"{name}: {terminal}")
    if skip:
        gap = draw(st.sampled_from(SKIPPED))
        block.append(f"skip /{gap}/")
        lark.append(f"%ignore /{gap}/")
    return Written("\n".join(block), "\n".join(lark) + "\n", (xs, end, RecordValue("R", {"names": names})))


def bound_type(written: Written) -> Str:
    """The type of a hole of a program with the grammar, with its values in."""
    lines = "".join(f"    {line}\n" for line in written.block.splitlines())
    text = (
        "record R:\n    names: [str]\n\n"
        f'const FIXED = ["{FIXED[0]}", "{FIXED[1]}"]\n\n'
        f"grammar G(xs: [str], t: str, r: R):\n{lines}\n"
        "pub fn f(xs: [str], t: str, r: R) -> str:\n    | ?{g: G(xs, t, r) max 90 tok}\n    return g\n"
    )
    program, found = check(Source("p.sgl", text), Library())
    faults = [fault for fault in found if fault.code.startswith("E")]
    assume(not any("no text at all" in f"{fault}" for fault in faults))
    assert program is not None and not faults, (text, faults)
    (facts,) = [hole for module in program.modules for hole in module.holes.values()]
    assert isinstance(facts.type, Str)
    try:
        bound = bind(facts.type, [written.values[number] for number in facts.type.given])
    except GivenError as fault:
        assume("text" not in str(fault))
        raise
    assert isinstance(bound, Str)
    return bound


def some(count: int) -> settings:
    return settings(
        max_examples=examples(count),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )


@some(12)
@given(written_grammars(skip=False))
def test_words_are_those_that_lark_accepts(written: Written) -> None:
    bound = bound_type(written)
    lark = lark_of(written.lark)
    expected = {word for word in texts(ALPHABET, 3) if lark_accepts(lark, word)}
    assert words_of(language(bound, {}), ALPHABET, 3) == expected


@some(12)
@given(written_grammars(skip=True))
def test_what_is_generated_with_skipped_text_parses_with_lark(written: Written) -> None:
    words = words_of(language(bound_type(written), {}), ALPHABET, 4)
    for lark in longest_first_parsers(written.lark):
        assert [word for word in words if not lark_accepts(lark, word)] == []


PIECES = [text.encode() for text in texts(ALPHABET, 3)][1:]
TOKENS = Vocabulary(PIECES)


@some(12)
@given(st.booleans().flatmap(lambda skip: written_grammars(skip=skip)), st.randoms(use_true_random=False))
def test_masks_are_those_of_trying_every_token(written: Written, dice: Random) -> None:
    """And what is written is a value, of the parts that the parser finds in it."""
    bound = bound_type(written)
    matcher = compile_constraint(language=language(bound, {})).matcher(TOKENS)
    single = compile_constraint(language=language(bound, {})).matcher(BYTES)
    for _ in range(5):
        legal = matcher.allowed().tolist()
        assert legal == [n for n, token in enumerate(PIECES) if single.clone().accept_bytes(token)]
        if not legal:
            break
        token = dice.choice(legal)
        assert matcher.accept(token) and single.accept_bytes(PIECES[token])
    assert matcher.accept_bytes(matcher.shortest_completion()) and matcher.is_accepting()
    value = decode(matcher.text().decode(), bound, {})
    assert isinstance(value, Parsed) and is_member(value, bound, {})
