"""Thresholds of the mask engine, on both sides of each.

What only chooses a way, or how much is kept, changes no mask, no completion and no row. What refuses says so
one step behind the last thing that it takes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sglc.automata.caches import clear_caches
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Bytes, Language, Repeat, Span
from sglc.runtime.mask import workspaces
from sglc.runtime.mask.artifact.build import TableBudget, tabulate
from sglc.runtime.mask.artifact.constraint import TabledConstraint
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.core.errors import CompletionTooLong, ConstraintError
from sglc.runtime.mask.lexeme.key_dfa import MANY_WORDS, count_words
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.matcher import fill_masks
from sglc.runtime.mask.node_notation import reached
from sglc.runtime.mask.vocabulary import disk_cache
from sglc.runtime.mask.vocabulary.tokenizer_bytes import token_bytes_of_json
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.schema.core.options import SchemaOptions

PIECES = [b"ab", b"abc", b'"a', b'": ', b'", "', b"12", b"; ", b"\xc3", "éé".encode(), b"-b", b"w1", b"[1,"]
VOCABULARY = Vocabulary([bytes([byte]) for byte in range(256)] + PIECES)
RECORD = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-zé]{2,8}$"},
        "of": {"anyOf": [{"type": "integer"}, {"type": "array", "items": {"enum": ["a", "b", 3]}}]},
        **{f"p{number}": {"type": "boolean"} for number in range(7)},
    },
    "patternProperties": {"^x[0-9]+": {"type": "null"}},
    "required": ["name"],
}
UNIONS = {"anyOf": [{"properties": {"ab": {"const": number}, f"k{number}": {}}} for number in range(4)]}
WORDS = [f"w{number}" for number in range(70)] + [f"é{number}" for number in range(70)]
ANY_ORDER = SchemaOptions(order="any", spelling="any")
DIFFERENT = {"type": "array", "uniqueItems": True, "items": {"enum": [1, 12, "a"]}}
SUMS = """
start: NAME "=" (sum ";")*
sum: sum "+" part | part
part: NAME | /[0-9]+/ | "(" sum ")"
NAME: /[a-z]+/
%ignore / +/
"""
STATEMENTS = f"""
start: ({" | ".join([f'"kw{number}" NAME' for number in range(30)])} | ";")*
NAME: /[a-z]+/
"""
LETTERS = """
start: "select"i NAME ("where"i | "with"i | /(abc){6}/)
NAME: /[a-z]+/
%ignore / +/
"""
CASES: list[tuple[dict[str, Any], bytes]] = [
    ({"json_schema": RECORD}, '{"name": "aéb", "of": [3, "a"], "p1": true, "x1": null}'.encode()),
    ({"json_schema": RECORD, "schema_options": ANY_ORDER}, b'{"p3": true, "name": "ab", "of": 12}'),
    ({"json_schema": UNIONS, "schema_options": ANY_ORDER}, b'{"k1": {"a": [1]}, "ab": 1}'),
    ({"json_schema": DIFFERENT}, b'[1, "a", 12]'),
    ({"regex": "(([a-c]{2,5}-){1,4};){1,3}"}, b"abc-ab-;ab-;"),
    ({"regex": r"(\p{L}{3,40}[0-9]|(a|b)*c)x?"}, "abéa1x".encode()),
    ({"regex": "[ab]{0,9}(a[bc]|b){2}-.{0,300}"}, b"abab-xyz"),
    ({"choices": WORDS}, "é12".encode()),
    ({"grammar": SUMS}, b"ab = 12 + (ab);ab;"),
    ({"grammar": STATEMENTS}, b"kw1ab;kw29c;"),
    ({"grammar": LETTERS}, b"SelEct ab wHere"),
]
ROOM = "sglc.runtime.mask."
HUGE = 1 << 40
WAYS = {
    "automaton.machine.VIEW_BYTES": (0, HUGE),
    "compile.compiler._MOST_REMEMBERED": (0, HUGE),
    "compile.compiler.MANY": (2, HUGE),
    "gss_walk.terminals._MOST_WORDS": (0, HUGE),
    "gss_walk.masks._MOST_LARGE": (0, HUGE),
    "gss_walk.tables._MOST_PARTS": (0, 5),
    "gss_walk.tables._MOST_STATES": (0, 2),
    "gss_walk.tables._SHORT": (0, HUGE),
    "lexeme.codepoint_lexeme.TOGETHER": (1, HUGE),
    "lexeme.codepoint_lexeme._WIDE": (1, HUGE),
    "lexeme.self_loops._FEW": (1, HUGE),
    "lexeme.self_loops._MANY": (1, HUGE),
    "mask_cache.MOST_TRANSITIONS": (1, HUGE),
    "mask_cache._LONGEST_SPAN": (0, HUGE),
    "nodes.core._KEPT": (-1, HUGE),
    "nodes.object_keys._MOST_SHAPED": (0, HUGE),
    "search.mask_sharing._MOST_STEPS": (0, HUGE),
    "vocabulary.token_classes._FEW": (0, HUGE),
    "workspaces._MOST_KEPT": (1, HUGE),
}
"""By threshold: a value that all is beyond of, and one that nothing reaches."""


def seen(constraint: Constraint, text: bytes, vocabulary: Vocabulary) -> list[tuple[bytes, bytes, bytes]]:
    """Of every beginning of a text: mask, forced text and shortest completion."""
    matcher = constraint.matcher(vocabulary)
    found = []
    for at in range(len(text) + 1):
        found.append((matcher.mask().tobytes(), matcher.forced(), matcher.shortest_completion()))
        assert matcher.accept_bytes(text[at : at + 1]) or at == len(text), (text, at)
    assert matcher.is_accepting()
    return found


def every(vocabulary: Vocabulary) -> list[list[tuple[bytes, bytes, bytes]]]:
    """The same of all cases, with nothing that was found before."""
    workspaces.clear()
    clear_caches()
    return [seen(compile_constraint(**given), text, vocabulary) for given, text in CASES]


@pytest.fixture(scope="module")
def expected() -> list[list[tuple[bytes, bytes, bytes]]]:
    return every(VOCABULARY)


@pytest.mark.slow
@pytest.mark.parametrize("side", [0, 1], ids=["beyond", "below"])
@pytest.mark.parametrize("name", WAYS)
def test_ways_find_the_same(
    name: str, side: int, expected: list[list[tuple[bytes, bytes, bytes]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ROOM + name, WAYS[name][side])
    # A vocabulary of its own: token classes and walks are kept with it.
    vocabulary = Vocabulary(VOCABULARY.token_bytes)
    assert every(vocabulary) == expected
    workspaces.clear()


def at_places(vocabulary: Vocabulary) -> list[Any]:
    """Matchers after every beginning of the texts."""
    found = []
    for given, text in CASES:
        constraint = compile_constraint(**given)
        for at in range(len(text)):
            matcher = constraint.matcher(vocabulary)
            assert matcher.accept_bytes(text[:at])
            found.append(matcher)
    return found


@pytest.mark.parametrize(
    "name, value",
    [("matcher._FEW", 1), ("matcher._FEW", HUGE)]
    + [("vocabulary.row_deltas._MOST_BASES", 1), ("vocabulary.row_deltas._MOST_BASES", HUGE)],
)
def test_batches_are_written_alike(name: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ROOM + name, value)
    vocabulary = Vocabulary(VOCABULARY.token_bytes)
    workspaces.clear()
    matchers = at_places(vocabulary)
    expected = [matcher.mask() for matcher in matchers]
    for _ in range(2):
        for size in (1, 3, len(matchers)):
            rows = np.full((size, vocabulary.words), 77, np.int32)
            fill_masks(matchers[:size], rows)
            assert np.array_equal(rows, np.stack(expected[:size]))
    workspaces.clear()


@pytest.mark.parametrize("side", [0, 1], ids=["beyond", "below"])
@pytest.mark.parametrize(
    "name, values",
    [
        ("build._GROUP", (1, HUGE)),
        ("token_steps._MOST_NUMBERED", (0, HUGE)),
        ("build._LONGEST_TEXT", (1, HUGE)),
    ],
)
def test_tables_ahead_of_time_say_the_same(
    name: str,
    values: tuple[int, int],
    side: int,
    expected: list[list[tuple[bytes, bytes, bytes]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(f"{ROOM}artifact.{name}", values[side])
    options = ConstraintOptions()
    for number in (0, 4, 9):
        given, text = CASES[number]
        language = compile_constraint(**given).language
        tables = tabulate(language, VOCABULARY, budget=TableBudget(states=40, walks=2))
        constraint = TabledConstraint(language, options, tables, VOCABULARY)
        for (mask, forced, ending), known in zip(
            seen(constraint, text, VOCABULARY), expected[number], strict=True
        ):
            assert (mask, ending) == (known[0], known[2])
            # A beginning of long forced text may be all that is stored.
            assert forced == known[1] or (name == "build._LONGEST_TEXT" and forced == known[1][:1])


@pytest.mark.slow
@pytest.mark.parametrize("name, values", [("_MOST_TEXTS", (0, HUGE)), ("_MOST_BYTES", (0, HUGE))])
def test_masks_after_a_warm_up_are_the_same(
    name: str,
    values: tuple[int, int],
    expected: list[list[tuple[bytes, bytes, bytes]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for value in values:
        monkeypatch.setattr(f"{ROOM}warmup.{name}", value)
        workspaces.clear()
        for (given, text), known in zip(CASES, expected, strict=True):
            constraint = compile_constraint(**given)
            constraint.warm_up(VOCABULARY, 0.02)
            assert seen(constraint, text, VOCABULARY) == known


@pytest.mark.parametrize("least, kept", [(1, True), (HUGE, False)])
def test_tries_of_large_vocabularies_are_kept(
    least: int, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{ROOM}vocabulary.vocabulary._CACHED_FROM", least)
    monkeypatch.setattr(disk_cache, "cache_folder", lambda: tmp_path)
    tries = [Vocabulary(VOCABULARY.token_bytes).trie for _ in range(2)]
    assert bool([*tmp_path.rglob("*.npz")]) == kept
    assert all(np.array_equal(trie.token, VOCABULARY.trie.token) for trie in tries)


# What refuses


def test_words_are_counted_up_to_a_bound() -> None:
    for digits, count in ((5, 10**5), (6, MANY_WORDS), (7, MANY_WORDS)):
        assert (count_words(compile_regex(f"[0-9]{{{digits}}}")) or MANY_WORDS) == count


@pytest.mark.parametrize("size, refused", [(5, False), (6, True)])
def test_spans_of_long_texts_are_refused(size: int, refused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{ROOM}nodes.substring.LONGEST_TEXT", 5)
    language = Language(Span("abcdefg"[:size]))

    def compiled() -> Constraint:
        workspaces.clear()
        return compile_constraint(language=language)

    if refused:
        with pytest.raises(ConstraintError, match="more than 5 characters"):
            compiled()
    else:
        assert compiled().matcher(VOCABULARY).accept_bytes(b"bcd")


@pytest.mark.parametrize("token, refused", [(9, False), (10, True)])
def test_huge_ids_of_tokens_are_refused(
    token: int, refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{ROOM}vocabulary.tokenizer_bytes._MOST_TOKENS", 10)
    path = tmp_path / "tokenizer.json"
    model = {"type": "BPE", "vocab": {"a": token}, "merges": []}
    path.write_text(json.dumps({"model": model, "decoder": {"type": "ByteLevel"}}))

    def size() -> int:
        return len(token_bytes_of_json(path)[0])

    if refused:
        with pytest.raises(ValueError, match="beyond the limit of 10"):
            size()
    else:
        assert size() == 10


@pytest.mark.slow
@pytest.mark.parametrize("least, refused", [(1 << 20, False), ((1 << 20) + 1, True)])
def test_words_beyond_a_length_are_not_written_out(least: int, refused: bool) -> None:
    table = TextTable(compile_regex("[ab]+"), "raw")
    if refused:
        with pytest.raises(CompletionTooLong):
            table.shortest_word(0, least, None)
    else:
        assert len(table.shortest_word(0, least, None)) == least


@pytest.mark.parametrize("count, whole", [(300, True), (400, False)])
def test_forced_text_ends(count: int, whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the part that passes the bound no more of it is looked for."""
    part = b"abcdefgh" * 25
    monkeypatch.setattr(f"{ROOM}gss.completion._LONGEST_FORCED", 65_536)
    matcher = compile_constraint(language=Language(Repeat(Bytes(part), count, count))).matcher(VOCABULARY)
    assert matcher.forced() == part * (count if whole else 328)


@pytest.mark.parametrize("most, left", [(-1, True), (0, False)])
def test_nodes_are_listed_up_to_a_bound(most: int, left: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    language = compile_constraint(json_schema=UNIONS).language
    workspace = workspaces.Workspace(ConstraintOptions(), of_grammars=False)
    root = workspace.compiler.compile(language)
    nodes, _ = reached(root)
    monkeypatch.setattr(f"{ROOM}node_notation.MOST_NODES", len(nodes) + most)
    assert reached(root) == (nodes[: len(nodes) + most], left)


@pytest.mark.parametrize("parts, left", [(1, True), (HUGE, False)])
def test_parts_are_listed_up_to_a_bound(parts: int, left: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{ROOM}explanation._MOST_PARTS", parts)
    found = compile_constraint(json_schema=UNIONS).explain(b'{"')
    assert (found.place.more > 0) == left and (len(found.place.parts) == 1) == left
