"""Walks that decode characters find what walks over rows of bytes find; tokens of subtrees are gathered."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.charset import ranges
from sglc.automata.term import CharDfa, Encoding
from sglc.kernels import jit_library
from sglc.kernels.trie.api import UNBOUNDED
from sglc.kernels.trie.arrays import Quiet
from sglc.kernels.trie.token_groups import GROUP, SCRIPTS, Fact, Group
from sglc.runtime.mask.lexeme.key_dfa import KeyTable
from sglc.runtime.mask.lexeme.lazy_dfa import NumberedLexeme
from sglc.runtime.mask.lexeme.table import LexemeDfa, LexemeState
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.lexeme.text_lexeme import TextLexeme
from sglc.runtime.mask.nodes.object_keys import KeyLexeme
from sglc.runtime.mask.nodes.substring import SpanTable
from sglc.runtime.mask.search.lexeme_walks import LexemeWalks
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

EDGES = (
    0,
    8,
    9,
    10,
    0x1F,
    0x20,
    0x22,
    0x23,
    0x2F,
    0x41,
    0x5C,
    0x61,
    0x62,
    0x7F,
    0x80,
    0x85,
    0x9F,
    0xA0,
    0xC0,
    0xD6,
    0xE9,
    0x410,
    0x430,
    0x44F,
    0x4E00,
    0x9FA5,
    0x7FF,
    0x800,
    0x2028,
    0x2029,
    0x202A,
    0xD7FF,
    0xE000,
    0xFFFF,
    0x10000,
    0x1F600,
    0x1F7FF,
    0x10FFFF,
)
"""Characters at the ends of what an encoding tells apart."""
characters = st.sampled_from(EDGES)
encodings = st.sampled_from(("raw", "json", "json-any"))


def spelled(point: int, upper: bool) -> list[bytes]:
    """Ways to write a character, right or wrong in an encoding."""
    units = chr(point).encode("utf-16-be")
    long = "".join(f"\\u{units[at] << 8 | units[at + 1]:04x}" for at in range(0, len(units), 2))
    short = {8: b"\\b", 9: b"\\t", 10: b"\\n", 0x22: b'\\"', 0x2F: b"\\/", 0x5C: b"\\\\"}
    digits = (long.upper().replace("\\U", "\\u") if upper else long).encode()
    return [chr(point).encode(), digits, short.get(point, b"\\")]


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Characters in a row, cut anywhere, now and then wrong."""
    parts = [
        draw(st.sampled_from(spelled(draw(characters), draw(st.booleans()))))
        for _ in range(draw(st.integers(1, 4)))
    ]
    data = b"".join(parts)
    if draw(st.integers(0, 5)) == 0:
        wrong = (b"\x80", b"\xc0", b"\xe0\x80", b"\xf0\x80", b"\xed\xa0", b"\\ud800\\u")
        data += draw(st.sampled_from(wrong))
    first = draw(st.integers(0, len(data) - 1))
    return data[first : draw(st.integers(first + 1, len(data)))]


@st.composite
def automata(draw: st.DrawFn) -> CharDfa:
    """A few states; from each some ranges of characters. All of them reach the first, which accepts."""
    states = draw(st.integers(1, 4))
    edges = []
    for _ in range(states):
        cuts = sorted(draw(st.sets(characters, max_size=6)))
        row = [
            (low, high, draw(st.integers(0, states - 1)))
            for below, above in zip(cuts[::2], cuts[1::2], strict=False)
            for low, high in ranges([(below, above)])
        ]
        if draw(st.booleans()):
            row = [(low, high, draw(st.integers(0, states - 1))) for low, high in ranges([(0, 0x10FFFF)])]
        if not row or all(target != 0 for _, _, target in row):
            row = [(0x30, 0x39, 0), *[edge for edge in row if edge[0] > 0x39]]
        edges.append(tuple(row))
    accepting = {0, *draw(st.sets(st.integers(0, states - 1)))}
    return CharDfa(tuple(edges), frozenset(accepting))


def some_quiet(
    data: st.DataObject, leaf: LexemeDfa, place: LexemeState, vocabulary: Vocabulary, first: np.ndarray
) -> Quiet | None:
    """What a walk may leave out, or nothing."""
    self_loop = leaf.self_loop(place, vocabulary.columns.longest)
    if self_loop is None or (first & self_loop.bytes).any() or not data.draw(st.booleans()):
        return None
    columns = vocabulary.columns
    return columns.quiet(self_loop.groups, self_loop.bytes, self_loop.dead, self_loop.home, first)


def needed(walks: LexemeWalks, boundaries: np.ndarray, row: np.ndarray) -> list[int]:
    """The places of boundaries at or below which a token is not in a row: walks may leave out the others."""
    trie = walks.whole.trie
    return [
        place
        for place, node in enumerate(boundaries.tolist())
        if any(
            not row[index >> 5] >> (index & 31) & 1
            for below in range(node, int(trie.end[node]))
            for index in walks.vocabulary.trie.ids(below)
        )
    ]


@pytest.mark.slow
@given(
    st.lists(texts(), min_size=1, max_size=60),
    automata(),
    encodings,
    st.integers(0, 3),
    st.none() | st.integers(1, 5),
    st.sets(st.sampled_from((0x22, 0x2C, 0x61, 0x80, 0xC2))),
    st.data(),
)
@settings(deadline=None, max_examples=examples(40))
def test_characters_are_walked_as_rows_are(
    tokens: list[bytes],
    dfa: CharDfa,
    encoding: Encoding,
    least: int,
    most: int | None,
    begins: set[int],
    data: st.DataObject,
) -> None:
    vocabulary = Vocabulary(tokens)
    walks = LexemeWalks(vocabulary, 10)
    table = TextTable(dfa, encoding)
    state = data.draw(st.integers(0, table.boundary - 1))
    if table.start(least, most) is None or not table.gapless or not table.alive(state, least, most):
        return
    first = np.array([byte in begins for byte in range(256)])
    leaf = TextLexeme(table)
    start = leaf.number(state)
    for byte in data.draw(st.none() | texts()) or b"":
        following = leaf.step(start, byte)
        if following < 0 or table.advance(leaf.places[following], least, most) is None:
            break
        start = following
        if leaf.places[start] < table.boundary:
            break
    place = LexemeState(leaf, start, least, most)
    quiet = some_quiet(data, leaf, place, vocabulary, first)
    known = np.zeros(vocabulary.words, np.int32)
    if quiet is not None:
        self_loop = leaf.self_loop(place, vocabulary.columns.longest)
        assert self_loop is not None
        known = vocabulary.columns.inside(self_loop.groups, self_loop.room)

    def found(by_rows: bool) -> object:
        # Of what is looked up, a walk may find some too.
        row = known.copy()
        walk = LexemeDfa.walk_rows if by_rows else TextLexeme.walk_states
        boundaries, _, reach = walk(leaf, walks.whole, walks.whole.roots, place, first, row, quiet)
        return row.tolist(), boundaries[needed(walks, boundaries, row)].tolist(), reach

    by_number = leaf.places
    rows = found(True)
    compiled = found(False)
    assert compiled[:2] == rows[:2]  # type: ignore[index]
    if least == 0 and most is None:
        # What is left out is looked up, or dies.
        row = np.zeros(vocabulary.words, np.int32)
        boundaries, _, _ = leaf.walk_states(walks.whole, walks.whole.roots, place, first, row, None)
        assert compiled[:2] == (row.tolist(), boundaries[needed(walks, boundaries, row)].tolist())  # type: ignore[index]
    jit_library.use_reference(True)
    try:
        leaf = TextLexeme(table)
        place = place._replace(table=leaf, state=leaf.number(by_number[start]))
        if quiet is not None and quiet.home >= 0:
            again = leaf.self_loop(place, vocabulary.columns.longest)
            assert again is not None
            quiet = quiet.changed(home=again.home)
        assert found(False) == compiled
    finally:
        jit_library.use_reference(False)


def characters_begun(data: bytes) -> int:
    """How many characters are spelled by bytes inside a JSON string, the last of which need not be whole."""
    count = at = 0
    while at < len(data):
        count += data[at] & 0xC0 != 0x80
        if data[at] != 0x5C:
            at += 1
        elif data[at + 1 : at + 2] != b"u":
            at += 2
        else:
            # Behind one half of a surrogate pair, the other is of the same character.
            at += 12 if data[at + 2 : at + 3] in (b"d", b"D") and data[at + 3 : at + 4] in b"89abAB" else 6
    return count


def _group_beyond(char: int) -> int:
    for low, high, group in [(0x80, 0x9F, 3), (0x2028, 0x2029, 4), *SCRIPTS.tolist()]:
        if low <= char <= high:
            return int(group)
    return Group.REST


def _bits(group: int) -> tuple[int, int]:
    return (1 << group, 0) if group < 64 else (0, 1 << (group - 64))


def _is_whole(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.slow
@given(st.lists(st.none() | texts(), min_size=1, max_size=40))
@settings(deadline=None, max_examples=examples(100))
def test_tokens_below_a_node(tokens: list[bytes | None]) -> None:
    vocabulary = Vocabulary([b"a", *tokens, b"a"])
    trie, subtrees = vocabulary.trie, vocabulary.subtrees
    places = subtrees.places
    assert sorted(places.tolist()) == list(range(len(trie.byte)))
    parts, heights = subtrees.facts[places, 2:], subtrees.facts[places, 0] >> np.uint64(Fact.TALL)
    paths: list[bytes] = []
    for node in range(trie.size):
        above = [path for path in paths if len(path) == trie.depth[node] - 1]
        paths.append((above[-1] if trie.depth[node] > 1 else b"") + bytes([trie.byte[node]]))
    for node, path in enumerate(paths):
        inside = range(node + 1, int(trie.end[node]))
        expected = [0, 0]
        for below in inside:
            rest = paths[below]
            bits = [_bits(int(GROUP[rest[-1]]))]
            with contextlib.suppress(UnicodeDecodeError):
                if (char := ord(rest.decode()[-1])) >= 0x80:
                    bits.append(_bits(_group_beyond(char)))
            if trie.ids(below):
                try:
                    rest.decode()
                except UnicodeDecodeError as fault:
                    bits.append(_bits(127))
                    if fault.reason != "unexpected end of data":
                        bits.append(_bits(5))
            for low, high in bits:
                expected = [expected[0] | low, expected[1] | high]
        assert parts[node].tolist() == expected
        assert subtrees.read[node] == sum(byte & 0xC0 != 0x80 for byte in path)
        assert subtrees.spelled[node] == characters_begun(path)
        assert all(subtrees.tokens[token] == subtrees.spelled[node] for token in trie.ids(node))
        leads = [sum(byte & 0xC0 != 0x80 for byte in paths[below][len(path) :]) for below in inside]
        assert heights[node] == max(leads, default=0)
        partial = subtrees.parts[subtrees.firsts[node] : subtrees.firsts[trie.end[node]]].tolist()
        cut = [below for below in range(node, trie.end[node]) if not _is_whole(paths[below])]
        assert sorted(partial) == sorted(i for below in cut for i in trie.ids(below))
        span = subtrees.order[subtrees.begins[node] : subtrees.begins[trie.end[node]]].tolist()
        assert sorted(span) == sorted(i for below in range(node, trie.end[node]) for i in trie.ids(below))


@pytest.mark.slow
@given(st.lists(texts(), min_size=1, max_size=60), automata(), encodings)
@settings(deadline=None, max_examples=examples(40))
def test_what_is_looked_up_and_walked_is_all(tokens: list[bytes], dfa: CharDfa, encoding: Encoding) -> None:
    vocabulary = Vocabulary(tokens)
    walks = LexemeWalks(vocabulary, 10)
    leaf = TextLexeme(TextTable(dfa, encoding))
    place = LexemeState(leaf, leaf.number(0))
    first = np.zeros(256, bool)
    row = np.zeros(vocabulary.words, np.int32)
    LexemeDfa.walk_rows(leaf, walks.whole, walks.whole.roots, place, first, row, None)
    found, inside = walks.lexeme(place, first)
    looked_up = np.zeros(vocabulary.words, np.int32) if inside is None else inside
    assert (looked_up | (0 if found.row is None else found.row)).tolist() == row.tolist()


def test_a_text_of_many_states_is_loaded_in_parts() -> None:
    pytest.importorskip("llvmlite")
    size = 2000
    edges = tuple(((0x61, 0x61, (at + 1) % size), (0x62, 0x7A, (at * 7) % size)) for at in range(size))
    leaf = TextLexeme(TextTable(CharDfa(edges, frozenset([0, 5, 9])), "raw"))
    vocabulary = Vocabulary([b"a" * n for n in range(1, 300)] + [b"ab" * n + b"z" for n in range(40)])
    walks = LexemeWalks(vocabulary, 10)
    first = np.zeros(256, bool)
    first[0x61] = True
    place = LexemeState(leaf, leaf.number(3))
    found = []
    for walk in (LexemeDfa.walk_rows, TextLexeme.walk_states):
        row = np.zeros(vocabulary.words, np.int32)
        boundaries, _, _ = walk(leaf, walks.whole, walks.whole.roots, place, first, row, None)
        found.append((row.tolist(), boundaries[needed(walks, boundaries, row)].tolist()))
    assert found[0] == found[1]


@given(automata(), encodings, st.integers(0, 3), st.none() | st.integers(0, 4), texts())
@settings(deadline=None, max_examples=examples(100))
def test_first_bytes_and_steps(
    dfa: CharDfa, encoding: Encoding, least: int, most: int | None, data: bytes
) -> None:
    table = TextTable(dfa, encoding)
    if not table.gapless:
        return
    by_rows, by_steps = TextLexeme(table), TextLexeme(TextTable(dfa, encoding))
    bound = UNBOUNDED if most is None else most
    for local in range(table.boundary):
        expected = LexemeDfa.first(by_rows, by_rows.number(local), least, bound)
        for reference in (True, False):
            jit_library.use_reference(reference)
            try:
                found = by_steps.first(by_steps.number(local), least, bound)
            finally:
                jit_library.use_reference(False)
            assert found.tolist() == expected.tolist()
        here = by_steps.number(local)
        wanted = by_rows.number(local)
        for byte in data:
            here, wanted = by_steps.step(here, byte), by_rows.row(wanted)[byte]
            assert (here < 0) == (wanted < 0)
            if here < 0:
                break
            assert by_steps.describe(here) == by_rows.describe(wanted)
            steps, rows = by_steps.table.moves(by_steps.places[here]), table.moves(by_rows.places[wanted])
            assert [move[:2] for move in steps] == [move[:2] for move in rows]


@pytest.mark.slow
@given(
    st.lists(texts(), min_size=1, max_size=60),
    st.lists(automata(), max_size=2),
    encodings,
    st.sets(st.lists(characters, max_size=3).map(lambda points: "".join(map(chr, points))), max_size=6),
    st.data(),
)
@settings(deadline=None, max_examples=examples(40))
def test_keys_are_walked_as_rows_are(
    tokens: list[bytes], families: list[CharDfa], encoding: Encoding, names: set[str], data: st.DataObject
) -> None:
    count = len(names) + len(families)
    if not count:
        return
    vocabulary = Vocabulary([*tokens, b'"', b'a"', b'b":'])
    walks = LexemeWalks(vocabulary, 10)
    numbered = {name: label for label, name in enumerate(sorted(names))}
    table = KeyTable(numbered, dict(enumerate(families, len(names))), encoding)
    leaf = KeyLexeme(table, count)
    start = leaf.number(0)
    for byte in data.draw(st.none() | texts()) or b"":
        following = leaf.step(start, byte)
        if following < 0:
            break
        start = following
    labels = sum(1 << label for label in data.draw(st.sets(st.integers(0, count - 1))))
    place = LexemeState(leaf, start, open=leaf.words(labels))
    first = np.arange(256) == 0x22
    quiet = some_quiet(data, leaf, place, vocabulary, first)
    known = np.zeros(vocabulary.words, np.int32)
    if quiet is not None:
        self_loop = leaf.self_loop(place, vocabulary.columns.longest)
        assert self_loop is not None
        known = vocabulary.columns.inside(self_loop.groups, self_loop.room)

    def found(by_rows: bool) -> object:
        # Of what is looked up, a walk may find some too.
        row = known.copy()
        walk = LexemeDfa.walk_rows if by_rows else KeyLexeme.walk_states
        boundaries, ends, _ = walk(leaf, walks.whole, walks.whole.roots, place, first, row, quiet)
        places = needed(walks, boundaries, row)
        ended = leaf.labels_of(ends[places])
        return row.tolist(), boundaries[places].tolist(), None if ended is None else ended.tolist()

    rows = found(True)
    assert found(False) == rows
    jit_library.use_reference(True)
    try:
        assert found(False) == rows
    finally:
        jit_library.use_reference(False)


@pytest.mark.slow
@given(
    st.lists(texts(), min_size=1, max_size=60),
    st.text(st.sampled_from('ab\u00e9"\n\u2028\U0001f600'), max_size=9),
    encodings,
    st.integers(0, 2),
    st.none() | st.integers(2, 4),
)
@settings(deadline=None, max_examples=examples(40))
def test_spans_are_walked_as_rows_are(
    tokens: list[bytes], text: str, encoding: Encoding, least: int, most: int | None
) -> None:
    vocabulary = Vocabulary([*tokens, b"ab", b'"', b"a"])
    walks = LexemeWalks(vocabulary, 10)
    leaf = SpanTable(text, encoding).lexeme
    place = LexemeState(leaf, leaf.number(0), least, most)
    first = np.arange(256) == 0x22
    found = []
    for walk in (LexemeDfa.walk_rows, NumberedLexeme.walk_states):
        row = np.zeros(vocabulary.words, np.int32)
        boundaries, _, _ = walk(leaf, walks.whole, walks.whole.roots, place, first, row, None)
        found.append((row.tolist(), boundaries[needed(walks, boundaries, row)].tolist()))
    assert found[0] == found[1]
