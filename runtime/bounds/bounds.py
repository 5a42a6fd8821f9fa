"""How few and how many tokens a hole takes: exact where that is found in bounded work, else safe bounds."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.automata.analysis.most_bytes import most_bytes
from sglc.runtime.bounds.places import Ended, HolePlaces
from sglc.runtime.bounds.search import fewest, whole
from sglc.runtime.bounds.token_graph import TokenGraph
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.decoding.requests import Constraints, HoleRequest
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class TokenBounds:
    """Bounds of `HoleResult.tokens`: least <= tokens <= most in every run.

    Where a budget cuts a value off, its last tokens are those of its shortest end alone. They may be fewer
    than the tokenizer would write of the whole: then `cut` is the lower bound.
    """

    least: int
    exact: bool
    """Whether a value of `least` tokens exists; else it is a lower bound."""
    most: int | None
    """None for no bound."""
    most_exact: bool
    """Whether a value of `most` tokens exists; else there may be none of so many."""
    cut: int
    drawn: int | None = None
    """Of a value of `least` tokens: tokens that are drawn, each by a forward pass, with the one that ends the
    message. None where no such value is known."""
    forced: int | None = None
    """Of the same value: tokens that could be no others."""
    text: str = ""
    """The value."""


@dataclass(frozen=True, slots=True)
class Before:
    """The text of the open message before a hole.

    `known` says whether it is all of that text, or only its end, behind what a run inserts or draws.
    `opening` is what the chat template writes before the message since its last special token.
    """

    text: str = ""
    known: bool = True
    opening: str = ""


def token_bounds(
    encoder: Encoder,
    vocabulary: Vocabulary,
    constraints: Constraints,
    request: HoleRequest,
    before: Before,
    *,
    narrower: bool = False,
) -> TokenBounds:
    """The bounds of a hole's tokens. `narrower` says that a run may refuse values of the request's language:
    then what is found bounds it, but is not exact.

    Raises ConstraintError where the language cannot be compiled.
    """
    largest = most_bytes(request.language)
    places = HolePlaces(encoder, vocabulary, constraints, request, before.text, before.opening)
    if places.value.is_dead():
        return TokenBounds(0, False, largest, False, 0)
    if not before.known and _spanned(vocabulary, before.text.encode()):
        # The first token of the value may begin anywhere.
        shortest = constraints.value(request).matcher(vocabulary).shortest_completion()
        least = _fewest_of(vocabulary, len(shortest))
        return TokenBounds(least, False, largest, False, least)
    certain = before.known or len(places.kept) >= SETTLED
    graph = _graph(vocabulary, constraints, request, places, before, certain)
    cut = graph.least()
    if not certain or narrower:
        return TokenBounds(cut, False, largest, False, cut)
    everything = whole(places)
    if everything is not None:
        end = everything.fewest
        return _exact(end, everything.most.tokens, True, min(cut, end.tokens))
    found = fewest(places, graph)
    if found.end is None:
        return TokenBounds(found.tokens, False, largest, False, cut)
    return _exact(found.end, largest, False, min(cut, found.tokens))


def _exact(end: Ended, most: int | None, most_exact: bool, cut: int) -> TokenBounds:
    text = end.text.decode("utf-8", "replace")
    return TokenBounds(end.tokens, True, most, most_exact, cut, end.drawn, end.forced, text)


def _graph(
    vocabulary: Vocabulary,
    constraints: Constraints,
    request: HoleRequest,
    places: HolePlaces,
    before: Before,
    certain: bool,
) -> TokenGraph:
    """The token graph of a hole. Where the tokens before it are not certain, all of the text that is known
    before it may be written anew."""
    prefix, value = places.prefix, places.value
    if not certain:
        prefix = before.text.encode()
        value = constraints.value(request, prefix).matcher(vocabulary)
    return TokenGraph(value, vocabulary, prefix, request.stops)


SETTLED = 3
"""Tokens of known text between unknown text and a value that the value leaves as they are: two decide what
follows (`canonical.COMPARED`), and the first of them may be another one behind the unknown text."""


def _spanned(vocabulary: Vocabulary, data: bytes) -> bool:
    """Whether a token has these bytes inside, with others before and behind."""
    return any(each is not None and data in each[1:-1] for each in vocabulary.token_bytes)


def _fewest_of(vocabulary: Vocabulary, size: int) -> int:
    """The fewest tokens that hold so many bytes."""
    return -(-size // max(1, int(vocabulary.lengths.max(initial=1))))
