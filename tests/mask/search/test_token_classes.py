"""What is known of a vocabulary's tokens, against the tokens themselves."""

from __future__ import annotations

import contextlib
import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.kernels.trie.token_groups import Group
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.lexeme.text_lexeme import TextLexeme
from sglc.runtime.mask.vocabulary import token_classes as columns
from sglc.runtime.mask.vocabulary.token_classes import bytes_in, group_set
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.core.options import SchemaOptions

KNOWN = 'abz09 _-~"\\\t\n\r\x00\x1f\x7f\x80\x9f\xa0é字😀ß×жЯ\u2028'
CHARACTERS = st.sampled_from([*KNOWN])


def text_of(token: bytes | None) -> str | None:
    """The characters of a token of whole characters."""
    try:
        return token.decode() if token else None
    except UnicodeDecodeError:
        return None


TOKENS = st.lists(
    st.none()
    | st.text(CHARACTERS, max_size=6).map(str.encode)
    # Bytes that happen to be a character are one of ASCII, or one whose group is known below.
    | st.binary(max_size=3).filter(lambda data: all(c.isascii() or c in KNOWN for c in text_of(data) or ""))
    | st.text(CHARACTERS, max_size=3).map(lambda text: text.encode()[:-1]),
    min_size=1,
    max_size=60,
)
PIECES = [
    b"a",
    b"bc",
    b"\xc3\xa9",
    b"\xc3",
    b"\xa9",
    b"\\n",
    b"\\u00",
    b"e9",
    b"\\ud83d\\ude00",
    b"\\ud83d",
    b"\\ude00",
    b"\\u",
    b'"',
    b'",',
    b'": ',
    b"\\",
    b"\xf0\x9f\x98\x80",
    b"\xf0\x9f",
    b'\\"',
    b"d",
    b"8",
    b" ",
]
ALONE = itertools.count(400_000)
"""Limits that no other constraint has: each makes a machine of its own."""
CLASSES_OF = CHARACTERS.filter(lambda c: ord(c) < 128) | st.integers(0, 127).map(chr)
CLASSES = st.sets(CLASSES_OF)


BEYOND = {
    "\x80\x9f": Group.CONTROL_1,
    "\u2028": Group.SEPARATOR,
    "éß": 14,
    "жЯ": 17,
    "字": 25,
    "\xa0×😀": Group.REST,
}
"""Some characters beyond ASCII by group."""
GROUPS = st.sets(st.sampled_from(sorted(BEYOND.values())))


def inside(char: str, ascii_class: set[str], beyond: set[int]) -> bool:
    if ord(char) < 0x80:
        return char in ascii_class
    return next(group for characters, group in BEYOND.items() if char in characters) in beyond


@settings(max_examples=examples(100), deadline=None)
@given(
    TOKENS,
    CLASSES,
    GROUPS,
    st.none() | st.integers(0, 7),
    st.sets(CLASSES_OF),
    st.booleans(),
)
def test_tokens_inside_a_class(
    tokens: list[bytes | None],
    chosen: set[str],
    beyond: set[int],
    most: int | None,
    forbidden: set[str],
    dense: bool,
) -> None:
    if not any(tokens):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_FEW", 0 if dense else 3000)
        vocabulary = Vocabulary(tokens)
        assert len(vocabulary.columns.characters) == len(tokens)
        check_inside(vocabulary, chosen, beyond, most, forbidden)


def check_inside(
    vocabulary: Vocabulary, chosen: set[str], beyond: set[int], most: int | None, forbidden: set[str]
) -> None:
    # Control characters of ASCII share a group, so a class has all of them or none is seen as inside.
    shared = {chr(c) for c in [*range(32), 127]} - set("\t\n\r")
    if not shared <= chosen:
        seen = chosen - shared
    else:
        seen = chosen
    groups = group_set(sum([1 << c for c in range(128) if chr(c) in chosen]), sum([1 << n for n in beyond]))
    expected = set()
    for index, token in enumerate(vocabulary.token_bytes):
        text = text_of(token)
        if text is not None and (most is None or len(text) <= most):
            if all(inside(c, seen, beyond) for c in text):
                expected.add(index)
    found = vocabulary.columns.inside(groups, most)
    assert set(vocabulary.unpack(found).tolist()) == expected
    found = vocabulary.columns.inside(groups, most, "".join(sorted(forbidden)).encode())
    begun = {index for index in expected if text_of(vocabulary.token_bytes[index])[:1] in forbidden}  # type: ignore[index]
    assert set(vocabulary.unpack(found).tolist()) == expected - begun
    for byte in (ord('"'), ord("a")):
        tokens = vocabulary.unpack(vocabulary.columns.containing(byte)).tolist()
        assert tokens == [
            index for index, token in enumerate(vocabulary.token_bytes) if byte in (token or b"")
        ]
    assert {c for c in range(128) if bytes_in(groups)[c]} == {ord(c) for c in seen}


@pytest.mark.slow
@settings(max_examples=examples(100), deadline=None)
@given(TOKENS, CLASSES, GROUPS)
def test_groups_below_a_node(tokens: list[bytes | None], chosen: set[str], beyond: set[int]) -> None:
    vocabulary = Vocabulary(tokens)
    trie = vocabulary.trie
    groups = group_set(sum([1 << c for c in range(128) if chr(c) in chosen]), sum([1 << n for n in beyond]))
    found = vocabulary.unpack(vocabulary.columns.inside(groups, None)).tolist() if any(tokens) else []
    for node in range(trie.size):
        path = trie.path(node)
        if text_of(path) is None or not {path} & {tokens[i] for i in found}:
            continue
        # The node itself is inside: then its subtree is wholly inside exactly if nothing else is below.
        quiet = not (vocabulary.columns.below[node] & ~groups).any()
        below = [i for place in range(node + 1, int(trie.end[node])) for i in trie.ids(place)]
        assert quiet == all(i in found for i in below)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=7).map(b"".join), max_size=40))
def test_texts_before_quotes(tokens: list[bytes]) -> None:
    found = set()
    for token in tokens:
        for end in range(len(token)):
            for start in range(end + 1):
                if token[end] == ord('"'):
                    with contextlib.suppress(ValueError):
                        found.add(json.loads(f'"{token[start:end].decode()}"', strict=False))
    assert Vocabulary(tokens or [b"a"]).columns.quoted == found


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=6).map(b"".join), min_size=1, max_size=60),
    st.integers(0, 5),
    st.none() | st.integers(0, 6),
    st.sampled_from(["canonical", "any"]),
    st.randoms(use_true_random=False),
)
def test_bounded_texts_as_walks(
    tokens: list[bytes], least: int, more: int | None, spelling: Any, random: Any
) -> None:
    """Texts that are bounded in length only are parts of one walk; the same as walks of their own."""
    vocabulary = Vocabulary([*tokens, *(bytes([byte]) for byte in range(256))])
    bounds = {"minLength": least} | ({} if more is None else {"maxLength": least + more})
    matchers = []
    for counted in (TextLexeme.counted, lambda table, place: None):
        constraint = compile_constraint(
            json_schema={"type": "string"} | bounds,
            schema_options=SchemaOptions(spelling=spelling),
            options=ConstraintOptions(max_terms=next(ALONE)),
        )
        matchers.append((constraint.matcher(vocabulary), counted))
    for _ in range(12):
        rows = []
        for matcher, counted in matchers:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(TextLexeme, "counted", counted)
                rows.append(matcher.mask())
        assert np.array_equal(*rows), vocabulary.unpack(rows[0] ^ rows[1])
        legal = vocabulary.unpack(rows[0])
        if not len(legal):
            return
        token = int(random.choice(legal.tolist()))
        assert all([matcher.accept(token) for matcher, _ in matchers])


FIRST_AND_REST = [
    "([^a]|a[tb<>0])*ax",
    "([^a]|a[^tbx])*at",
    "([^aé]|a[^0x]|é[<>tb])*ax",
    "[^<]{2}([^a]|a[^tb]){2,4}",
    ".*?</t>",
    "[^<]*<t",
    "a[^b]*b",
    "[ab][^ab]*",
    "[^é]?[^b<]*<",
    "([^t]t*)*<t>",
    "[a-z][a-z0-9]*",
    "[tabx]{1,3}",
    "x[tabx<]{2,4}0",
    "[tabx]{2,3}<[tabx>0]{1,2}",
    "[tabxé字]{1,4}",
    "[^<]{2,4}",
    "([tabx]{1,2}<){1,2}",
    "[tb][tabx]{2,4}",
    "0[tabx]{2}[tabx0]{1,2}",
    "([tabx]|<0)[tabx<]{0,2}[tabx<]*>",
    "(b<|[tax0][tabx0]{1,3})",
    "[tab]{3}[^x]{1,3}",
    "([tabx0]{1,3}|[tab]{5}<)x*",
    "(é|b)[^b]*",
    ".{2,5}t>",
    "[^t<]{0,4}<[^<]{1,3}",
    "(b[^b]*){2}",
    "ta.*bt.*",
]


@settings(max_examples=examples(24), deadline=None)
@given(
    st.sampled_from(FIRST_AND_REST),
    st.lists(st.text("tabx<>0é字\U0001f600\n", max_size=5).map(str.encode), max_size=40),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_texts_that_go_on_otherwise_than_they_begin(
    pattern: str, tokens: list[bytes], quoted: bool, random: Any
) -> None:
    """Classes of which some characters lead elsewhere at first are looked up; the same by walks alone."""
    tokens = [*tokens, b"a", b"t", b"x<"]
    cut = [token[start:stop] for token in tokens for start, stop in ((0, -1), (1, None)) if token]
    vocabulary = Vocabulary([*tokens, *cut, *(bytes([byte]) for byte in range(256))])
    matchers = []
    ways = (
        (TextLexeme._loop, TextLexeme._run),
        (lambda leaf, local: (None, local), lambda leaf, local: None),
    )
    for way in ways:
        options = ConstraintOptions(max_terms=next(ALONE))
        if quoted:
            constraint = compile_constraint(
                json_schema={"type": "string", "pattern": f"^({pattern})$"}, options=options
            )
        else:
            constraint = compile_constraint(regex=f"(?s){pattern}", options=options)
        matchers.append((constraint.matcher(vocabulary), way))
    for _ in range(8):
        rows = []
        for matcher, (loop, run) in matchers:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(TextLexeme, "_loop", loop)
                patch.setattr(TextLexeme, "_run", run)
                rows.append(matcher.mask())
        assert np.array_equal(*rows), vocabulary.unpack(rows[0] ^ rows[1])
        legal = vocabulary.unpack(rows[0])
        if not len(legal):
            return
        some = [index for index in legal.tolist() if index < len(tokens)] or legal.tolist()
        token = random.choice([index for index in some if vocabulary.token_bytes[index] == b"a"] or some)
        assert all([matcher.accept(token) for matcher, _ in matchers])
