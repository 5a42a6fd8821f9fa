"""A token is allowed if and only if some completion exists after it: held against the oracle of terms."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracles.term_oracle import accepts, some_words, viable
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import Bytes, Choice, Except, Language, Repeat, Sequence, Term, Text
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.lexeme import self_loops
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from strategies.byte_vocabulary import BYTE_VOCABULARY, EXAMPLES, some
from strategies.mask_cases import brute_force, mask_of, prefixes, shortest_by_search, vocabularies
from strategies.typed_values import languages, words_of


@pytest.fixture(params=["walked", "looked up"], autouse=True)
def classes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Tokens of small classes are walked; the second time they are looked up like those of large ones."""
    if request.param == "looked up":
        monkeypatch.setattr(self_loops, "_FEW", 1)
    self_loops.self_loop_class.cache_clear()
    return request.param


@pytest.mark.slow
@some(EXAMPLES)
@given(st.data())
def test_masks_are_exact(data: st.DataObject) -> None:
    language = data.draw(languages())
    constraint = compile_constraint(language=language)
    assert constraint.is_empty == (not viable(language, b""))
    assume(not constraint.is_empty)
    vocabulary = data.draw(vocabularies(language))
    prefix = data.draw(prefixes(language))
    matcher = constraint.matcher(vocabulary)
    assert matcher.accept_bytes(prefix)
    assert mask_of(matcher, vocabulary) == brute_force(language, prefix, vocabulary)
    assert matcher.is_accepting() == accepts(language, prefix)


@st.composite
def counted_texts(draw: st.DrawFn) -> tuple[Language, Vocabulary, bytes]:
    """A text with counts, perhaps followed by characters of its own kind, and tokens of many lengths."""
    dfa = compile_regex(draw(st.sampled_from(("[a-c]*", "a*b?a*", "(ab|é)*", "[ab]*c[ab]*", r"[ab\\\n]*"))))
    low = draw(st.integers(0, 9))
    high = draw(st.none() | st.integers(low, low + 12))
    text = Text(dfa, draw(st.sampled_from(("raw", "json"))), low, high)
    ending = draw(st.sampled_from((b"", b'"', b"a", b"aab", b"c")))
    root: Term = Sequence((text, Bytes(ending)))
    if draw(st.booleans()):
        root = Choice((root, Sequence((Repeat(Bytes(b"a"), 0, 5), Bytes(b"!")))))
    language = Language(root)
    letters = st.sampled_from(("a", "b", "c", "é", '"', "\\n", "!"))
    tokens = draw(st.lists(st.lists(letters, min_size=1, max_size=14).map("".join), max_size=20))
    runs = [letter * size for letter in "ab" for size in (1, 2, 3, 5, 8, 13)]
    ends = [run + end for run in ("a", "aa", "ab", "aaa") for end in ('"', "!", "\\n", "c")]
    pieces = [token.encode() for token in (*tokens, *runs, *ends, "é", "c", '"', "!", "a" * 12 + '"')]
    vocabulary = Vocabulary([*pieces, b"\xc3", b"\xa9a"])
    return language, vocabulary, draw(prefixes(language)) if viable(language, b"") else b""


@pytest.mark.slow
@some(EXAMPLES)
@given(counted_texts())
def test_counts_are_exact(case: tuple[Language, Vocabulary, bytes]) -> None:
    language, vocabulary, prefix = case
    constraint = compile_constraint(language=language)
    assert constraint.is_empty == (not viable(language, b""))
    matcher = constraint.matcher(vocabulary)
    assert constraint.is_empty or matcher.accept_bytes(prefix)
    assert mask_of(matcher, vocabulary) == brute_force(language, prefix, vocabulary)


@pytest.mark.slow
@some(EXAMPLES // 2)
@given(st.data())
def test_legal_walks_never_meet_a_dead_end(data: st.DataObject) -> None:
    language = data.draw(languages())
    assume(viable(language, b""))
    vocabulary = data.draw(vocabularies(language))
    constraint = compile_constraint(language=language)
    matcher = constraint.matcher(vocabulary)
    dice = random.Random(data.draw(st.integers(0, 1000)))
    masks = []
    for _ in range(dice.randrange(1, 12)):
        legal = sorted(mask_of(matcher, vocabulary))
        masks.append(legal)
        if not legal:
            # The vocabulary may lack a byte that is needed; nothing else may stop a walk.
            follows = {data[:1] for data in some_words(language, 8)} - {b""}
            assert matcher.is_complete() or follows or matcher.steps
            break
        token = dice.choice(legal)
        assert matcher.allows(token)
        assert matcher.accept(token)
    text = matcher.text()
    assert viable(language, text)
    ending = matcher.shortest_completion()
    assert accepts(language, text + ending)
    assert matcher.clone().accept_bytes(ending)

    # A clone keeps its place; a rollback finds every earlier mask again.
    twin = matcher.clone()
    while matcher.steps:
        matcher.rollback(1)
        assert sorted(mask_of(matcher, vocabulary)) == masks[matcher.steps]
    assert matcher.text() == b""
    assert twin.text() == text


@pytest.mark.slow
@some(EXAMPLES // 2)
@given(st.data())
def test_forced_bytes_are_the_only_way_on(data: st.DataObject) -> None:
    language = data.draw(languages())
    assume(viable(language, b""))
    prefix = data.draw(prefixes(language))
    matcher = compile_constraint(language=language).matcher(BYTE_VOCABULARY)
    assert matcher.accept_bytes(prefix)
    run = matcher.forced()
    for position in range(len(run) + 1):
        before = prefix + run[:position]
        legal = [byte for byte in matcher.allowed().tolist()]
        alone = len(legal) == 1 and not accepts(language, before)
        if position < len(run):
            assert alone
            assert legal == [run[position]]
            assert matcher.accept(run[position])
        else:
            assert not alone
    assert matcher.is_complete() == (not matcher.allowed().size and matcher.is_accepting())


@some(EXAMPLES // 2)
@given(st.data())
def test_completions_are_as_short_as_any(data: st.DataObject) -> None:
    language = data.draw(languages())
    assume(viable(language, b""))
    prefix = data.draw(prefixes(language))
    matcher = compile_constraint(language=language).matcher(BYTE_VOCABULARY)
    assert matcher.accept_bytes(prefix)
    ending = matcher.shortest_completion()
    assert accepts(language, prefix + ending)
    assert len(ending) == shortest_by_search(matcher, len(ending))


@pytest.mark.slow
@some(EXAMPLES // 3)
@given(st.data())
def test_excluded_values_are_never_finished(data: st.DataObject) -> None:
    inner = data.draw(languages())
    assume(viable(inner, b""))
    refused = frozenset(data.draw(st.lists(words_of(inner), max_size=3)))
    language = Language(Except(inner.root, refused), inner.rules)
    constraint = compile_constraint(language=language)
    assert constraint.is_empty == (not viable(language, b""))
    assume(not constraint.is_empty)
    vocabulary = data.draw(vocabularies(language))
    prefix = data.draw(prefixes(language))
    matcher = constraint.matcher(vocabulary)
    assert matcher.accept_bytes(prefix)
    assert mask_of(matcher, vocabulary) == brute_force(language, prefix, vocabulary)
    word = prefix + matcher.shortest_completion()
    assert word not in refused
    assert accepts(language, word)
