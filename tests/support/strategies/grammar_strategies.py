"""Random grammars: ambiguous, left-recursive in every way, nullable, cyclic; and overlapping terminals."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hypothesis import strategies as st

from sglc.automata.term import Language
from sglc.cfg.model.grammar import (
    EMPTY,
    Alternatives,
    Characters,
    Expression,
    Grammar,
    Literal,
    Reference,
    Repeat,
    Rule,
    Sequence,
    Words,
)
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

BYTES = Vocabulary([bytes([byte]) for byte in range(256)])
COUNTS = ((0, 1), (0, None), (1, None), (2, 2), (1, 2), (0, 2), (2, None))


@st.composite
def char_grammars(draw: st.DrawFn) -> Grammar:
    """Rules over the characters x, y and z."""
    names = ["start", "a", "b", "c"][: draw(st.integers(1, 4))]
    leaves: list[Expression] = [
        Literal("x"),
        Literal("y"),
        Literal("xy"),
        Characters(((120, 122),)),
        Words(frozenset(("x", "xz"))),
        *(Reference(name) for name in names),
        *(Reference(name) for name in names),
    ]

    def expression(depth: int) -> Expression:
        kind = draw(st.integers(0, 5 if depth else 0))
        if kind <= 1:
            return draw(st.sampled_from(leaves))
        if kind <= 3:
            return Sequence(tuple(expression(depth - 1) for _ in range(draw(st.integers(2, 3)))))
        if kind == 4:
            return Alternatives(tuple(expression(depth - 1) for _ in range(draw(st.integers(2, 3)))))
        return Repeat(expression(depth - 1), *draw(st.sampled_from(COUNTS)))

    rules = {}
    for name in names:
        arms = [expression(2) for _ in range(draw(st.integers(1, 3)))]
        if draw(st.integers(0, 3)) == 0:
            arms.append(EMPTY)
        rules[name] = Rule(name, arms[0] if len(arms) == 1 else Alternatives(tuple(arms)))
    return Grammar(rules, {}, (), "start", "gbnf")


_TOKENS = (
    '"a"',
    '"b"',
    '"ab"',
    '";"',
    "/a+/",
    "/[ab]+/",
    "/ab?/",
    "/a ?/",
    "/b;/",
    '" b"',
    "/a|ab/",
    "/a*?b/",
    '"aa"',
    "/b(?!a)/",
    "/;[ab]*/",
    "/a;?b/",
    '"A"i',
    "/[ab]{1,2}/",
)
_IGNORED = ('" "', "/ +/", "/;[^ ]*/", "/;[ab]*;/", "/ a?/", '";"', "/;a|;/")
ALPHABET = "ab ;"


@st.composite
def token_grammars(draw: st.DrawFn) -> str:
    """Grammars in Lark's notation whose terminals overlap, with ignored text; over `ALPHABET`."""
    names = ["start", "p", "q"][: draw(st.integers(1, 3))]

    def expression(depth: int) -> str:
        kind = draw(st.integers(0, 9 if depth else 3))
        if kind <= 3:
            return draw(st.sampled_from(_TOKENS if draw(st.integers(0, 9)) < 7 else names))
        if kind <= 6:
            return " ".join(expression(depth - 1) for _ in range(draw(st.integers(2, 3))))
        if kind <= 8:
            return "(" + " | ".join(expression(depth - 1) for _ in range(draw(st.integers(2, 3)))) + ")"
        return f"({expression(depth - 1)}){draw(st.sampled_from('?*+'))}"

    lines = [f"{name}: {' | '.join(expression(2) for _ in range(draw(st.integers(1, 3))))}" for name in names]
    lines += [f"%ignore {draw(st.sampled_from(_IGNORED))}" for _ in range(draw(st.integers(0, 2)))]
    return "\n".join(lines) + "\n"


def texts(alphabet: str, longest: int) -> Iterator[str]:
    """All texts over an alphabet up to a length."""
    for size in range(longest + 1):
        for chars in product(alphabet, repeat=size):
            yield "".join(chars)


def words_of(language: Language, alphabet: str, longest: int) -> set[str]:
    """The words that the masks allow, by trying every byte; fails at a dead end."""
    found: set[str] = set()

    def walk(matcher: Matcher, word: str) -> None:
        if matcher.is_accepting():
            found.add(word)
        legal = matcher.allowed().tolist()
        assert legal or matcher.is_accepting(), f"a dead end after {word!r}"
        if len(word) < longest:
            for byte in legal:
                if chr(byte) in alphabet:
                    twin = matcher.clone()
                    assert twin.accept(byte)
                    walk(twin, word + chr(byte))

    walk(compile_constraint(language=language).matcher(BYTES), "")
    return found
