"""All legal texts of a hole that has few, as a trie of its choices, and the probability of each.

Where a type has few texts, every place at which a walk of `decode exact` may come to choose is known before
the model is asked. So the logits of all these places are computed together, in one step behind the first
place, and a text is drawn as a whole. The law is that of walks, by the same parts: matchers, seams and ends
are those of `Writing`, tokens have the temperature of the hole, and certain text has no weight. The
probability of a text is the sum over all tokens that end it: an end of the message, a stop, or a longer token
that the stop begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sglc.runtime.decoding.conversations.canonical import Tokens
from sglc.runtime.decoding.hole_text import HoleText
from sglc.runtime.decoding.seams import beginnings
from sglc.runtime.decoding.strategies.attempt import Attempt, Attempts
from sglc.runtime.decoding.strategies.prefix_tree import legal_ids, log_shares
from sglc.runtime.decoding.strategies.side_by_side import all_of
from sglc.runtime.decoding.writing import Ended, Writing
from sglc.runtime.engine.scheduling.branch import Branch

PLACES = 64
"""Most places of a trie: a step of the engine takes so many requests. With more, one draw would take several
steps, as a few walks do, and walks compute only the places that they come to."""
ENDS = 2048
"""Most tokens at a place that begin with a stop. Whether the tokenizer would write them is asked for those
that are likely enough to count. A newline or a comma begins some dozens or hundreds of tokens of a
vocabulary, a blank tens of thousands; walks ask that of the tokens that they draw."""
KEPT = 64
"""Tries that are remembered, the newest ones. A program has some dozens of such holes at most, and rows of
data fill each behind the same tokens."""
RESOLUTION = 2.0**-24
"""Tokens that end a text are asked the most probable first, until the others have this part of what was found
or less: half a unit in the last place of a float32 1, and logits are float32."""


class ChoicePlace(NamedTuple):
    """A place at which several tokens are legal."""

    before: tuple[int, int] | None
    """The number of the place before it and the token taken there, by its place in `ids`; None for the
    first."""
    tokens: Tokens
    """What is written before it, behind the tokens that the hole begins with."""
    data: bytes
    """The same as bytes."""
    ids: np.ndarray
    """The legal tokens, int32 [n], ascending."""
    is_open: Callable[[int], bool]
    """Whether the tokenizer would write a legal text with a token here."""


class TextEnd(NamedTuple):
    """One or several tokens behind which a text has ended."""

    place: int
    """The number of the place where they are drawn; -1 where nothing is drawn."""
    choices: np.ndarray
    """Which ones, by their places in `ids`: integers [n]."""
    asked: bool
    """Whether it is known that the tokenizer would write them."""
    text: str
    tokens: int
    """Tokens of the text."""
    forced: int
    """Of these, those of certain text."""


@dataclass(slots=True, eq=False)
class ChoiceTrie:
    """Places before those behind them, and all ends."""

    places: list[ChoicePlace] = field(default_factory=list)
    ends: list[TextEnd] = field(default_factory=list)

    def end(
        self,
        place: int,
        choices: Sequence[int] | np.ndarray,
        attempt: Attempt,
        ended: Ended,
        asked: bool = True,
    ) -> None:
        """Note an end. Texts that a budget has no room for are left out."""
        text = attempt.writing.text
        if ended.how != "budget":
            value = ended.data[len(text.prefix) :].decode()
            chosen = np.asarray(choices, np.int64)
            self.ends.append(TextEnd(place, chosen, asked, value, ended.tokens, text.forced))


@dataclass(frozen=True, slots=True, eq=False)
class LegalTexts:
    """The legal texts of a hole and their probabilities."""

    texts: tuple[str, ...]
    scores: tuple[float, ...]
    """Natural logarithm of the probability of each at the temperature of the draw."""
    logprobs: tuple[float, ...]
    """The same at temperature 1."""
    ends: tuple[TextEnd, ...]
    """Of each the most probable end."""
    places: int
    """Places whose logits were asked for."""

    @property
    def log_legal(self) -> float:
        """Natural logarithm of the probability that one of the texts is written, p(L); at most 0."""
        return min(0.0, float(np.logaddexp.reduce(self.scores)))


_Waiting = list[tuple[Attempt, tuple[int, int] | None]]
"""Beginnings of texts, with the place and the token before each."""


def choice_trie(root: Attempt) -> ChoiceTrie | None:
    """The trie of all texts that begin as `root`; None where it would have more than PLACES, or a place more
    than ENDS.

    Texts that a budget has no room for are left out.
    """
    trie = ChoiceTrie()
    start = tuple(root.writing.text.conversation.branch.tokens)
    waiting: _Waiting = [(root.fork(), None)]
    try:
        while waiting:
            attempt, before = waiting.pop()
            try:
                if not _go_on(trie, attempt, before, start, waiting):
                    return None
            finally:
                attempt.close()
    finally:
        for attempt, _ in waiting:
            attempt.close()
    return trie


def _go_on(
    trie: ChoiceTrie, attempt: Attempt, before: tuple[int, int] | None, start: Tokens, waiting: _Waiting
) -> bool:
    """Take in a beginning up to its next place, and what lies behind each token there; False where the trie
    becomes too large."""
    ended = _certain(attempt.writing)
    if ended is not None:
        trie.end(*((-1, [0]) if before is None else (before[0], [before[1]])), attempt, ended)
        return True
    writing, text = attempt.writing, attempt.writing.text
    tokens = tuple(text.conversation.branch.tokens)
    if len(trie.places) == PLACES or tokens[: len(start)] != start:
        return False
    number, data = len(trie.places), bytes(text.tracker.data)
    ids = legal_ids(writing.legal.row(), text.vocabulary.size)
    is_open = _open_check(text)
    trie.places.append(ChoicePlace(before, tokens[len(start) :], data, ids, is_open))
    stopping = _stopping(text, ids)
    if np.count_nonzero(stopping) > ENDS:
        return False
    if stopping.any():
        ended = Ended(data, "stop", text.used(), len(data))
        trie.end(number, np.flatnonzero(stopping), attempt, ended, asked=False)
    for choice in np.flatnonzero(~stopping).tolist():
        token = int(ids[choice])
        if token in writing.end_ids:
            trie.end(number, [choice], attempt, Ended(data, "end", text.used(), len(data)))
        elif is_open(token):
            twin = attempt.fork()
            ended = twin.writing.take(token)
            if ended is None:
                waiting.append((twin, (number, choice)))
            else:
                trie.end(number, [choice], twin, ended)
                twin.close()
    return True


def _open_check(text: HoleText) -> Callable[[int], bool]:
    """Whether the tokenizer would write a legal text with a token: also to be asked once the text is
    closed."""
    seams, context, masks, ending = text.seams, text.context(), text.masks, text.ending()
    return lambda token: seams is None or seams.is_open(context, token, masks, ending)


def _stopping(text: HoleText, ids: np.ndarray) -> np.ndarray:
    """bool [n]: which tokens begin with a whole stop where the value may end: then it ends before them."""
    found = np.zeros(len(ids), np.bool_)
    if not text.tracker.candidates and text.tracker.value.is_accepting():
        known = beginnings(text.vocabulary)
        for stop in text.request.stops:
            found |= np.isin(ids, known.tokens(stop.encode()))
    return found


def _certain(writing: Writing) -> Ended | None:
    """Write what is certain, tokens that are the only ones of the tokenizer's own included; the end, if it
    comes before a choice."""
    while True:
        ended = writing.forced()
        if isinstance(ended, Ended):
            return ended
        if ended:
            continue
        writing.legal.forgive()
        only = writing.text.only_open(writing.legal)
        if only is None:
            return None
        behind = writing.take(only)
        if behind is not None:
            return behind


def _kept_trie(attempts: Attempts, root: Attempt) -> ChoiceTrie | None:
    """`choice_trie`, remembered for holes of the same texts behind the same tokens.

    Seams look at a few tokens only. A trie that a budget cuts is made anew, and so is one of values of the
    run, which seldom come again.
    """
    text, request, limit = root.writing.text, attempts.request, attempts.room.limit
    longest = attempts.longest_of_few()
    if request.passing or longest is None or (limit is not None and limit.tokens <= longest):
        return choice_trie(root)
    if limit is not None:
        attempts.room.has(longest + 1, limit)
    place = (text.vocabulary, request.stops, request.end_of_message, text.prefix, text.context())
    key = (request.key, request.excluded, *place)
    kept: dict[Hashable, ChoiceTrie | None] = attempts.constraints.tries
    if key not in kept:
        made = choice_trie(root)
        if len(kept) >= KEPT:
            kept.pop(next(iter(kept)))
        kept[key] = made
    return kept[key]


async def legal_texts(attempts: Attempts, root: Attempt, temperature: float) -> LegalTexts | None:
    """The texts of a hole with their probabilities; None where its trie is too large, see `choice_trie`.

    Two steps of the model: the first place, and all others together. Raises what asking the model raises.
    """
    trie = _kept_trie(attempts, root)
    if trie is None:
        return None
    attempts.poll()
    rows = await _asked(attempts, root.writing.text.alone.branch, trie.places, temperature)
    return _summed(trie, rows)


Shares = tuple[np.ndarray, np.ndarray]
"""Log-probabilities of the legal tokens of a place, at the temperature of the draw and at 1."""


async def _asked(
    attempts: Attempts, start: Branch, places: list[ChoicePlace], temperature: float
) -> list[Shares]:
    """For each place the log-probabilities of its legal tokens."""

    async def shares(branch: Branch, place: ChoicePlace) -> Shares:
        logits = await attempts.logits_behind(branch, place.data)
        return log_shares(logits, place.ids, temperature), log_shares(logits, place.ids, 1.0)

    async def forked(place: ChoicePlace) -> Shares:
        fork = first.fork()
        try:
            fork.rollback(len(start.tokens))
            fork.append(place.tokens)
            return await shares(fork, place)
        finally:
            fork.close()

    if not places:
        return []
    first = start.fork()
    try:
        first.append(places[0].tokens)
        found = await shares(first, places[0])
        return [found, *await all_of(forked(place) for place in places[1:])]
    finally:
        first.close()


def _summed(trie: ChoiceTrie, rows: list[Shares]) -> LegalTexts:
    """The probabilities of texts: products along the trie, summed over the ends of each."""
    reached: list[tuple[float, float]] = []
    for place in trie.places:
        if place.before is None:
            reached.append((0.0, 0.0))
            continue
        (number, choice), (score, logprob) = place.before, reached[place.before[0]]
        shares, raw = rows[number]
        reached.append((score + float(shares[choice]), logprob + float(raw[choice])))
    ways: dict[str, list[tuple[float, float, TextEnd]]] = {}
    for end in trie.ends:
        score = logprob = 0.0
        if end.place >= 0:
            (score, logprob), (shares, raw) = reached[end.place], rows[end.place]
            choices = end.choices if end.asked else _open_ends(trie.places[end.place], end.choices, shares)
            score, logprob = score + _log_sum(shares[choices]), logprob + _log_sum(raw[choices])
        ways.setdefault(end.text, []).append((score, logprob, end))
    return LegalTexts(
        tuple(ways),
        tuple(_log_sum([score for score, _, _ in each]) for each in ways.values()),
        tuple(_log_sum([logprob for _, logprob, _ in each]) for each in ways.values()),
        tuple(max(each, key=lambda way: way[0])[2] for each in ways.values()),
        len(trie.places),
    )


def _open_ends(place: ChoicePlace, choices: np.ndarray, shares: np.ndarray) -> list[int]:
    """Those of the choices that the tokenizer would write, as far as they count (RESOLUTION)."""
    order = choices[np.argsort(-shares[choices], kind="stable")]
    weights = np.exp(shares[order].astype(np.float64) - max(float(shares[order[0]]), -1e300))
    left = np.cumsum(weights[::-1])[::-1]
    found, kept = 0.0, []
    for choice, weight, rest in zip(order.tolist(), weights.tolist(), left.tolist(), strict=True):
        if rest <= RESOLUTION * found:
            break
        if place.is_open(int(place.ids[choice])):
            found += weight
            kept.append(choice)
    return kept


def _log_sum(values: Sequence[float] | np.ndarray) -> float:
    """log of the sum of exponentials, in float64; -inf for none."""
    return float(np.logaddexp.reduce(np.asarray(values, np.float64))) if len(values) else -math.inf
