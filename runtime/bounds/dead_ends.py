"""Legal texts at which the tokens of a vocabulary come to a dead end.

A mask lets a token through where some legal text begins with it. Whether tokens can write the rest of that
text is another question: where a vocabulary has a token for each byte they always can, and that is the proof
for nearly all models. With others a run may come to a place from which no tokens lead to an end, and fail
there.
"""

from __future__ import annotations

from dataclasses import dataclass

from sglc.automata.analysis.emptiness import few_words
from sglc.automata.term import Language
from sglc.runtime.bounds.token_graph import TokenGraph
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

WORDS = 1_000
"""Most values of a type that are spelled one by one; enumerations have fewer."""
NEVER = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})
"""Bytes that no text in UTF-8 has."""


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """What tokens cannot write. `text` is the place from which they lead to no end, or, if `whole`, a value
    that no tokens write."""

    text: bytes
    whole: bool = False


def lacking(vocabulary: Vocabulary) -> frozenset[int]:
    """The bytes of UTF-8 that no token writes alone. Where there is none, there is no dead end."""
    single = {data[0] for data in vocabulary.token_bytes if data is not None and len(data) == 1}
    return frozenset(range(256)) - NEVER - single


def dead_end(language: Language, vocabulary: Vocabulary, stops: tuple[str, ...] = ()) -> DeadEnd | None:
    """A dead end of a value's language, the shortest in tokens; None where none was found.

    That is a proof where the vocabulary lacks no byte, or all places could be explored; the exploration has
    the limits of `TokenGraph`. Of a language with few words, one that no tokens write is a dead end too.
    """
    if not lacking(vocabulary):
        return None
    words = few_words(language, WORDS)
    for word in words or ():
        if not spelled(word, vocabulary):
            return DeadEnd(word, whole=True)
    try:
        start = compile_constraint(language=language).matcher(vocabulary)
    except ConstraintError:
        return None
    graph = TokenGraph(start, vocabulary, b"", stops)
    while not graph.whole and not graph.ended:
        graph.grow()
    found = graph.stuck()
    return None if found is None else DeadEnd(found)


def spelled(word: bytes, vocabulary: Vocabulary) -> bool:
    """Whether some tokens write a text, whatever a tokenizer would take."""
    trie, reached = vocabulary.trie, {0}
    for start in range(len(word)):
        if start in reached:
            reached |= {start + size for _, size in trie.beginnings(word[start:])}
    return len(word) in reached
