"""Grammars walked natively: masks are those of searches that follow configurations, and of plain kernels."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from example_budget import examples
from sglc.automata.dfa.operations import any_char_class
from sglc.automata.term import Bytes, Choice, Language, Repeat
from sglc.cfg.language import GrammarOptions, Lexing, grammar_language
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar
from sglc.cfg.model.serialize import to_text
from sglc.cfg.notation.reader import read_grammar
from sglc.kernels.gss import api, frames, limits
from sglc.kernels.gss import walk as gss_walk
from sglc.kernels.gss.arrays import Result
from sglc.kernels.jit_library import use_reference
from sglc.runtime.decoding.requests import filled_language
from sglc.runtime.mask.automaton.limits import LimitTracker
from sglc.runtime.mask.constraint import Constraint, ConstraintOptions, compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.gss.machine import GssMachine
from sglc.runtime.mask.gss_walk import masks as stack_masks
from sglc.runtime.mask.gss_walk import tables as stack_tables
from sglc.runtime.mask.gss_walk.masks import StackMasks
from sglc.runtime.mask.lexeme.text_dfa import TextTable
from sglc.runtime.mask.nodes.text import TextNode
from sglc.runtime.mask.product_nodes.lookahead import NotBefore
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.language.language import language as language_of
from sglc.types.type import Optional, Str
from strategies.grammar_strategies import ALPHABET, BYTES, char_grammars, token_grammars
from strategies.mask_cases import mask_of

SINGLE = [bytes([byte]) for byte in range(256)]
LETTERS = Vocabulary(
    [
        *SINGLE,
        *(a + b for a in (b"x", b"xy", b"z") for b in (b"x", b"yz", b"zz")),
        *(b"xyxy", b"xxxxx", b"zzzz", b"yxyx", b"xzxz"),
    ]
)
TOKENS = Vocabulary(
    [
        *(letter.encode() for letter in ALPHABET),
        *(a + b for a in (b"a", b"ab", b" ", b";") for b in (b"a", b"b ", b"; a")),
        *(b"aaaaaaaa", b"abababab", b"a b a b", b";;;;", b"ab ;ab", b"   ", b"b;a b;a", b"A", b"Ab", b"aA"),
        *(b"\xc3", "é".encode()),
    ]
)
SETTINGS = settings(
    max_examples=examples(30),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

_machines = itertools.count(2_000_000)


def apart(language: Language, max_effort: int = 1_000_000) -> Constraint:
    """A constraint on a machine of its own, which knows no mask."""
    options = ConstraintOptions(max_states=next(_machines), max_effort=max_effort)
    return compile_constraint(language=language, options=options)


def lark(text: str, lexing: Lexing = "dynamic") -> Language:
    """The language of a grammar in Lark's notation."""
    return grammar_language(read_grammar(text, "lark"), GrammarOptions(lexing=lexing))


@contextmanager
def without_walks() -> Iterator[None]:
    """Searches follow configurations only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StackMasks, "start", lambda self, config: None)
        patch.setattr(StackMasks, "follow", lambda self, *given: None)
        yield


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Kernels run as Python."""
    use_reference(True)
    try:
        yield
    finally:
        use_reference(False)


@contextmanager
def counted() -> Iterator[list[int]]:
    """What walks come back with."""
    found: list[int] = []
    go = api.StackWalk.go

    def counting(self: api.StackWalk, *given: object) -> int:
        found.append(go(self, *given))  # type: ignore[arg-type]
        # What has been asked for in vain is no longer asked for.
        assert bool(self.requests) == (found[-1] == Result.NEEDS_TABLES) or found[-1] in (
            Result.TOO_MUCH,
            Result.FULL,
        )
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api.StackWalk, "go", counting)
        yield found


def masks(constraint: Constraint, vocabulary: Vocabulary, text: bytes) -> list[set[int]]:
    """The masks at the beginning of a text and after each of its bytes."""
    matcher = constraint.matcher(vocabulary)
    found = [mask_of(matcher, vocabulary)]
    for byte in text:
        assert matcher.accept_bytes(bytes([byte]))
        found.append(mask_of(matcher, vocabulary))
    return found


def a_text(data: st.DataObject, constraint: Constraint, letters: str, size: int) -> bytes:
    """A text that is legal as far as one can be drawn."""
    matcher = constraint.matcher(BYTES)
    text = b""
    while len(text) < size:
        legal = [letter.encode() for letter in letters if matcher.clone().accept_bytes(letter.encode())]
        if not legal:
            break
        text += data.draw(st.sampled_from(legal))
        assert matcher.accept_bytes(text[-1:])
    return text


def compare(language: Language, vocabulary: Vocabulary, text: bytes) -> list[set[int]]:
    """Masks by walks, by searches and by the plain kernels, along one text."""
    with counted():
        walked = masks(apart(language), vocabulary, text)
    with without_walks():
        assert masks(apart(language), vocabulary, text) == walked
    with plain_kernels():
        matcher = apart(language).matcher(vocabulary)
        assert matcher.accept_bytes(text)
        assert mask_of(matcher, vocabulary) == walked[-1]
    return walked


@pytest.mark.slow
@settings(SETTINGS, max_examples=examples(6))
@given(st.data(), char_grammars())
def test_masks_of_random_grammars(data: st.DataObject, grammar: Grammar) -> None:
    try:
        language = grammar_language(grammar)
        text = a_text(data, apart(language), "xyz", 8)
    except (GrammarError, ConstraintError):
        return
    compare(language, LETTERS, text)


@pytest.mark.slow
@SETTINGS
@given(st.data(), token_grammars(), st.sampled_from(("longest", "dynamic")))
def test_masks_of_random_terminals(data: st.DataObject, grammar: str, lexing: Lexing) -> None:
    try:
        language = lark(grammar, lexing)
        text = a_text(data, apart(language), ALPHABET, 8)
    except (GrammarError, ConstraintError):
        return
    compare(language, TOKENS, text)


SUMS = (
    'start: sum\nsum: sum "+" one | one\none: NAME "(" sum ("," sum)* ")" | NAME | "(" sum ")" | /[0-9]+/\n'
    "NAME: /[a-zé]+/\n%ignore / +/\n"
)
RESTS = [
    b"a+b",
    b"a+",
    b"((a",
    b"))",
    b"a(b,c)",
    b"a(b,c",
    b" + ",
    b")+(",
    "é+".encode(),
    "éé".encode(),
    b"1+2",
    b"12)",
    b"+1+1+1+1",
    b"a b",
    b",,",
    b"a(,",
    b"(((((((((((",
    b") )",
    b"), b",
]


def test_what_is_forbidden_is_not_taken_for_read() -> None:
    """A text that is under way reads a byte with which a forbidden character ends."""
    grammar = 'start: (A B)+ ";" (A B)+\nA: /x(?!é)/\nB: /[éèa]/\n'
    words = ["x", ";", "a", "é", "è", "xa", "xé", "xè", "xèx", "xéx", ";xé", ";xè", "èx", "è;x", "a;"]
    vocabulary = Vocabulary([b"\xc3", b"\xa8", b"\xa9", b"x\xc3", *(word.encode() for word in words)])
    made = apart(lark(grammar))
    # Behind the semicolon places are new, and what is read there is known.
    for text in ("", "x", "xè", "xè;", "xè;x", "xaxè;xa"):
        matcher = made.matcher(vocabulary)
        assert matcher.accept_bytes(text.encode())
        taken = [matcher.clone().accept_bytes(word) for word in vocabulary.token_bytes]
        assert mask_of(matcher, vocabulary) == set(np.flatnonzero(taken).tolist()), text


def test_rests_of_tokens_are_walked() -> None:
    vocabulary = Vocabulary([*SINGLE, *RESTS])
    language = lark(SUMS)
    with counted() as codes:
        found = masks(apart(language), vocabulary, b"a(b")
    assert Result.DONE in codes and Result.TOO_MUCH not in codes
    rests = [{RESTS[token - 256] for token in mask if token >= 256} for mask in found]
    operand = {
        b"a+b",
        b"a+",
        b"((a",
        b"a(b,c)",
        b"a(b,c",
        "é+".encode(),
        "éé".encode(),
        b"1+2",
        b"(((((((((((",
    }
    assert rests[0] == operand
    assert rests[2] == operand | {b"12)"}
    assert rests[3] == {
        b"a+b",
        b"a+",
        b"a(b,c)",
        b"a(b,c",
        "é+".encode(),
        "éé".encode(),
        b")+(",
        b"+1+1+1+1",
        b" + ",
    } | {b"((a", b"((((((((((("}


@pytest.mark.parametrize(("behind", "legal"), [("è", True), ("é", False), ("éx", False), ("x", True)])
def test_a_lookahead_of_more_than_one_byte(behind: str, legal: bool) -> None:
    """The first byte of what follows is that of a forbidden character, so that more has to be looked at."""
    language = lark(f'start: "b" A "{behind}" | "b" "c"\nA: /a(?!é)/\n', "longest")
    vocabulary = Vocabulary([b"a", b"b", b"c", b"ba", "ba\u00e8".encode()[:-1], "è".encode(), "é".encode()])
    found = compare(language, vocabulary, b"b")
    assert (vocabulary.token_bytes.index(b"a") in found[1]) == legal
    assert (vocabulary.token_bytes.index(b"ba") in found[0]) == legal


@pytest.mark.parametrize("text", ["ba😁", "baअ", "ba😀", "baऄ"])
def test_masks_inside_of_a_character_that_may_be_forbidden(text: str) -> None:
    """Each lookahead numbers the places inside of characters as it comes to them."""
    language = lark(
        'start: "b" A ("ऄ" | "अ" | "x" | "😀" | "😁") "z" | "b" B "y"\nA: /a(?![ऄ😀])/\nB: /a[अ😁ऄ€]+/\n'
    )
    vocabulary = Vocabulary([*SINGLE, b"\x98\x80z", b"\x98\x81z", b"\x80z", b"\x81z", b"\x80y", b"\x81y"])
    for size in range(len(text.encode())):
        walked, stepped = (apart(language).matcher(vocabulary) for _ in range(2))
        assert walked.accept_bytes(text.encode()[:size])
        assert stepped.accept_bytes(text.encode()[:size])
        legal = {
            token for token, data in enumerate(vocabulary.token_bytes) if stepped.clone().accept_bytes(data)
        }
        assert mask_of(walked, vocabulary) == legal


def test_states_for_which_there_are_no_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has been refused once is refused again."""
    monkeypatch.setattr(stack_tables, "_MOST_STATES", 2)
    monkeypatch.setattr(limits, "MOST_LOOKAHEADS", 2)
    tables = stack_tables.StackTables(GssMachine())
    nodes = [TextNode(TextTable(any_char_class(((97, 97 + n),)), "raw"), 0, None) for n in range(3)]
    for node in nodes[:2]:
        assert tables.place(node, (0, 0, None)) is not None
    for _ in range(2):
        with pytest.raises(stack_tables.TooLarge):
            tables.place(nodes[2], (0, 0, None))
    bars = [NotBefore(((97, 97 + n),)) for n in range(2)]
    for number, node in enumerate([*bars, bars[1]]):
        tables._machine.register(node)
        if number == 0:
            tables.describe([node.index])
        else:
            with pytest.raises(stack_tables.TooLarge):
                tables.describe([node.index])


def test_parts_all_of_which_may_be_empty() -> None:
    """Closures would grow with every dash, if stacks that are equal were not one."""
    parts = " ".join(f'(n{n} | "{chr(97 + n % 26)}")?' for n in range(40))
    rules = "\n".join(f'n{n}: ("-" e{n % 3})*' for n in range(40))
    empties = 'e0: e1? | e2 e1?\ne1: e2? | "_"\ne2: e0?\n'
    language = lark(f"start: ({parts})+\n{rules}\n{empties}")
    vocabulary = Vocabulary([*SINGLE, b"-" * 24, b"a-b-c", b"----a", b"-_-_-_", b"z" * 30])
    with counted() as codes:
        walked = masks(apart(language), vocabulary, b"a--")
    assert Result.DONE in codes and Result.TOO_MUCH not in codes
    with without_walks():
        assert masks(apart(language), vocabulary, b"a--") == walked


def test_counts_beyond_those_of_walks_are_searched() -> None:
    """Counts that have to be kept apart are more than closures have room for."""
    language = Language(Repeat(Choice((Bytes(b"a"), Bytes(b"b"))), 2100, 2300, b","), grammar=True)
    vocabulary = Vocabulary([*SINGLE, b"a,", b",a", b",b,a", b"a,b,a,", b",,", b"ab"])
    constraint = apart(language)
    matcher = constraint.matcher(vocabulary)
    assert matcher.accept_bytes(b"a," * 2000 + b"a")
    with counted() as codes:
        found = mask_of(matcher, vocabulary)
    with without_walks():
        assert found == masks(apart(language), vocabulary, b"a," * 2000 + b"a")[-1]
    assert codes.count(Result.TOO_MUCH) == 1


def test_only_grammars_are_walked() -> None:
    """Search by configurations is quicker for patterns and schemas, whose masks leave a path for others."""
    vocabulary = Vocabulary([*SINGLE, b"ab-", b"-a", b";a", b'", "', b"12, "])
    pattern = compile_constraint(regex="(([a-c]{2,40}-){1,40};){1,40}").language
    schema = compile_constraint(json_schema={"type": "array", "items": {"enum": ["a", 12, [3]]}}).language
    with counted() as codes:
        found = masks(apart(pattern), vocabulary, b"ab-bc-;")
        masks(apart(schema), vocabulary, b'["a", 12, [3]')
    assert not codes
    with counted() as codes:
        assert masks(apart(Language(pattern.root, grammar=True)), vocabulary, b"ab-bc-;") == found
    assert codes


@pytest.mark.parametrize("grammar_first", [False, True])
def test_a_grammar_with_the_parts_of_a_pattern_changes_nothing_for_it(grammar_first: bool) -> None:
    """Under the same options: whether masks are walked is a fact about the constraint."""
    options = ConstraintOptions(max_states=next(_machines))
    vocabulary = Vocabulary([*SINGLE, b"ab-", b"-a", b";a"])
    pattern = compile_constraint(regex="(([a-c]{2,40}-){1,40};){1,40}").language
    every = [Language(pattern.root, grammar=grammar) for grammar in (False, True)]
    made = {}
    for language in every[::-1] if grammar_first else every:
        made[language.grammar] = compile_constraint(language=language, options=options)
    assert not made[False].machine.of_grammars and made[True].machine.of_grammars
    walks, found = {}, {}
    for grammar, constraint in made.items():
        with counted() as codes:
            found[grammar] = masks(constraint, vocabulary, b"ab-bc-;")
        walks[grammar] = len(codes)
    assert walks[True] and not walks[False]
    assert found[True] == found[False]


def test_a_hole_of_a_grammar_is_walked() -> None:
    """The grammar of a type is one; inside of JSON it is a part like others."""
    type = Str(grammar=to_text("Sums", read_grammar(SUMS, "lark")))
    language = language_of(type, {})
    assert language.grammar and filled_language(language, ("\n",), b"x").grammar
    assert not language_of(Optional(type), {}).grammar
    vocabulary = Vocabulary([*SINGLE, *RESTS])
    with counted() as codes:
        found = masks(apart(language), vocabulary, b"a+(b")
    assert Result.DONE in codes
    assert found == masks(apart(replace(language, grammar=False)), vocabulary, b"a+(b")


@pytest.mark.parametrize(("name", "value"), [("PAUSE", 100), ("ITEMS", 8), ("ROOM", 8), ("MOST_UNSURE", 0)])
def test_walks_that_pause_or_give_up(name: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = Vocabulary([*SINGLE, *RESTS])
    language = lark(SUMS, "longest")
    with without_walks():
        expected = masks(apart(language), vocabulary, b"a(b, 1")
    limited(name, value, monkeypatch)
    with plain_kernels(), counted() as codes:
        assert masks(apart(language), vocabulary, b"a(b, 1") == expected
    assert Result.PAUSED in codes or name != "PAUSE"
    assert (Result.TOO_MUCH in codes) == (name in ("ITEMS", "ROOM"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("MOST_FRAMES", 60), ("MOST_LINKS", 12), ("MOST_PLACES", 2), ("MOST_CONFIGS", 60), ("MOST_POOL", 100)],
)
def test_what_is_learned_is_forgotten_when_it_is_too_much(
    name: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary = Vocabulary([*SINGLE, *RESTS])
    language = lark(SUMS, "longest")
    with without_walks():
        expected = masks(apart(language), vocabulary, b"a(b, 1")
    limited(name, value, monkeypatch)
    constraint = apart(language)
    with plain_kernels(), counted() as codes:
        for _ in range(2):
            assert masks(constraint, vocabulary, b"a(b, 1") == expected
        assert masks(apart(language), vocabulary, b"a(b, 1") == expected
    assert Result.FULL in codes and Result.DONE in codes and Result.TOO_MUCH not in codes


def test_stacks_far_below_which_continuations_are_taken_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = Vocabulary([*SINGLE, *RESTS, b")" * 9 + b"+a", b")," * 4])
    language = lark(SUMS, "longest")
    text = b"(a(b," * 12 + b"a"
    with without_walks():
        expected = masks(apart(language), vocabulary, text)
    limited("DEEP", 3, monkeypatch)
    with plain_kernels(), counted() as codes:
        matcher = apart(language).matcher(vocabulary)
        assert matcher.accept_bytes(text)
        assert mask_of(matcher, vocabulary) == expected[-1]
        assert masks(apart(language), vocabulary, text[:12]) == expected[:13]
    assert Result.DONE in codes and Result.TOO_MUCH not in codes


def limited(name: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a limit in all modules of walks."""
    for module in (gss_walk, frames, limits):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, value)


def test_configurations_of_too_many_threads_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = Vocabulary([*SINGLE, *RESTS])
    expected = masks(apart(lark(SUMS)), vocabulary, b"a(b, 1")
    monkeypatch.setattr(stack_masks, "_MOST_THREADS", 0)
    assert masks(apart(lark(SUMS)), vocabulary, b"a(b, 1") == expected


def test_items_beyond_those_that_walks_count() -> None:
    """Frames of a configuration may have counted further than keys of closures have room for."""
    language = Language(Repeat(Choice((Bytes(b"a"), Bytes(b"b"))), 2100, 2300, b","), grammar=True)
    vocabulary = Vocabulary([*SINGLE, b"a,", b",a", b",b,a", b"a,b,a,", b",,", b"ab"])
    walked, stepped = (apart(language).matcher(vocabulary) for _ in range(2))
    for size in (1900, 98, 1, 1, 45, 2, 52, 100, 99):
        for matcher in (walked, stepped):
            assert matcher.accept_bytes(b"a," * size)
        legal = {
            token for token, data in enumerate(vocabulary.token_bytes) if stepped.clone().accept_bytes(data)
        }
        assert mask_of(walked, vocabulary) == legal


def test_entries_in_any_order() -> None:
    """Entries may lie below each other; what is left out of one because it is legal is so by another."""
    vocabulary = Vocabulary([*SINGLE, *RESTS, *(a + b for a in RESTS for b in RESTS)])
    constraint = apart(lark(SUMS))
    matcher = constraint.matcher(vocabulary)
    assert matcher.accept_bytes(b"a(b")
    every = np.arange(len(vocabulary.trie.byte), dtype=np.int32)
    roots = every[vocabulary.trie.depth == 1]
    walks = StackMasks(constraint.machine, vocabulary, roots)
    start = walks.start(matcher.config)
    assert start is not None

    def walk(entries: np.ndarray) -> np.ndarray:
        row = np.zeros(vocabulary.words, np.int32)
        with constraint.machine.lock, LimitTracker(constraint.machine, constraint.options) as account:
            assert walks._follow("", start.threads, (), entries, row, account)
        return row

    alone = [walk(every[number : number + 1]) for number in every.tolist()]
    chance = random.Random(3)
    for _ in range(30):
        chosen = np.array(chance.sample(every.tolist(), 40), np.int32)
        expected = np.bitwise_or.reduce([alone[number] for number in chosen.tolist()])
        assert (walk(chosen) == expected).all()


def test_effort_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long tokens of a text that can be cut anywhere."""
    language = lark('start: s\ns: s s | s "," s | "(" s ")" | "a" | "aa" | "a" s "a"\n')
    vocabulary = Vocabulary([*SINGLE, *(b"a" * size + b")" for size in range(180, 190))])
    walked = masks(apart(language), vocabulary, b"(a")
    assert all(token in walked[-1] for token in range(256, vocabulary.size))
    # A walk asks whether it may go on.
    monkeypatch.setattr(gss_walk, "PAUSE", 100)
    with plain_kernels(), pytest.raises(ConstraintError, match="alternatives"):
        masks(apart(language, max_effort=10_000), vocabulary, b"(a")
