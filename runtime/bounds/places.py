"""The places that the decoder of a hole can come to, one for each sequence of tokens that it may write.

`HoleDecoder` follows one sequence, the one that a model likes. `HolePlaces` gives all of them by the same
rules: certain text is written without asking, tokens that the tokenizer would not write are refused, the
value ends where the decoder ends it. No model is asked, so no conversation and no engine is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sglc.runtime.decoding.conversations.canonical import CONTEXT, Tokens
from sglc.runtime.decoding.conversations.encoder import Encoder
from sglc.runtime.decoding.requests import Constraints, HoleRequest
from sglc.runtime.decoding.seams import Seams
from sglc.runtime.decoding.stop_tracker import StopTracker
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Ended:
    """How a value ended: its text, and its tokens as `HoleResult` counts them."""

    text: bytes
    tokens: int
    drawn: int
    forced: int


@dataclass(frozen=True, slots=True)
class Place:
    """Behind some tokens of a value, where the model is asked next.

    `tokens` are those of the open message so far, `base` of them do not count.
    """

    tokens: Tokens
    base: int
    tracker: StopTracker
    masks: Matcher
    drawn: int = 0
    forced: int = 0

    @property
    def used(self) -> int:
        """Tokens of the value so far."""
        return len(self.tokens) - self.base

    def key(self, skip: int) -> tuple[object, ...]:
        """Equal for places with equal futures; `skip` bytes stand before the value."""
        tracker = self.tracker
        pending = bytes(tracker.data[tracker.candidates[0] :]) if tracker.candidates else b""
        ends = tuple(end - len(tracker.data) for end in tracker.candidates)
        before = min(0, len(tracker.data) - skip)
        context = self.tokens[-CONTEXT:]
        return tracker.value.config, self.masks.config, tracker.alive, ends, pending, before, context


class HolePlaces:
    """The places of one hole behind a text.

    `stretch` is the open message's text, `opening` what the chat template has written before it since its
    last special token. `encoder` is of the model's tokenizer.
    """

    def __init__(
        self,
        encoder: Encoder,
        vocabulary: Vocabulary,
        constraints: Constraints,
        request: HoleRequest,
        stretch: str,
        opening: str = "",
    ) -> None:
        self._encoder, self._vocabulary = encoder, vocabulary
        self._constraints, self._request = constraints, request
        self._seams = Seams(encoder.canonical, vocabulary)
        self._ends_freely = request.end_of_message or not request.stops
        self._opening = opening
        whole = encoder.encode(opening + stretch)
        before, count, at = len(opening.encode()), 0, 0
        while at < before and count < len(whole):
            at += len(vocabulary.token_bytes[whole[count]] or b"")
            count += 1
        self._floor = count
        """Tokens of the opening: none of them is ever taken back."""
        value = constraints.value(request).matcher(vocabulary)
        masks = constraints.hole(request).matcher(vocabulary) if request.stops else value
        self.kept = whole
        """The tokens before the hole that stay as they are, with those of the opening."""
        self.prefix = b""
        """The text of the others: it is written anew with the value."""
        if not value.is_dead() and self._seams.joins:
            taken = self._seams.taken_back(whole, self._floor, masks, self._behind)
            self.kept = whole[: len(whole) - taken]
            self.prefix = b"".join(vocabulary.token_bytes[t] or b"" for t in whole[len(whole) - taken :])
        self.value = value if not self.prefix else constraints.value(request, self.prefix).matcher(vocabulary)
        """A matcher at the beginning of the prefix and the value."""
        self._masks = self.value if not request.stops else self._behind(self.prefix)
        self._stopping: np.ndarray | None = None
        """By token: whether the first byte of a stop is in it. Found when it is asked for."""

    def _behind(self, prefix: bytes) -> Matcher:
        return self._constraints.hole(self._request, prefix).matcher(self._vocabulary)

    # -- places --------------------------------------------------------------------------------------

    def start(self) -> Place | Ended:
        """Where the model is asked first; the end where it never is."""
        certain = self._certain()
        if certain is not None:
            tokens = len(self._encoder.encode(certain.decode()))
            return Ended(certain, tokens, 0, tokens)
        value = self.value.clone()
        masks = value if self._masks is self.value else self._masks.clone()
        tracker = StopTracker(value, self._request.stops)
        return self._settled(Place(self.kept, len(self.kept), tracker, masks))

    def _certain(self) -> bytes | None:
        """The value's bytes where there is only one value."""
        probe, data = self._constraints.value(self._request).matcher(self._vocabulary), b""
        while not probe.is_complete():
            run = probe.forced()
            if not run:
                return None
            data += run
            probe.accept_bytes(run)
        return data

    def may_end(self, place: Place) -> bool:
        """Whether the model may end the message here."""
        return self._ends_freely and not place.tracker.candidates and place.tracker.value.is_accepting()

    def ended(self, place: Place) -> Ended:
        """The end of the message at a place."""
        return Ended(self._own(place), place.used, place.drawn + 1, place.forced)

    def is_open(self, place: Place, token: int) -> bool:
        """Whether the tokenizer would write a legal text with this token, which is legal."""
        if not self._seams.joins:
            return True
        freely = self._ends_freely and not place.tracker.candidates
        value = place.tracker.value if freely else None
        return self._seams.is_open(self._context(place.tokens), token, place.masks, value)

    def after(self, place: Place, token: int) -> Place | Ended:
        """Behind a token that the model has drawn, and what is certain behind it."""
        data = self._vocabulary.token_bytes[token] or b""
        tracker = place.tracker.copy()
        written = len(tracker.data)
        end_at = tracker.feed(data, token)
        if end_at is not None:
            text = bytes(tracker.data[len(self.prefix) : end_at])
            return Ended(text, place.used + (end_at > written), place.drawn + 1, place.forced)
        masks = tracker.value if place.masks is place.tracker.value else place.masks.clone()
        if masks is not tracker.value:
            masks.accept(token)
        tokens = (*place.tokens, token)
        base = len(tokens) if len(tracker.data) <= len(self.prefix) else place.base
        return self._settled(Place(tokens, base, tracker, masks, place.drawn + 1, place.forced))

    def tokens_at(self, place: Place) -> Iterator[int]:
        """The tokens that the model may draw. Where the tokenizer would write none of the legal ones, the
        mask alone decides."""
        found = False
        legal = place.masks.allowed().tolist()
        for token in legal:
            if self.is_open(place, token):
                found = True
                yield token
        if not found and not self.may_end(place):
            yield from legal

    def ending(self, place: Place, tokens: np.ndarray) -> Iterator[int]:
        """Of tokens that go on with the value those that may also end it: a stop, or the beginning of one,
        is in them where the value is whole."""
        if self._stopping is None:
            firsts = {stop.encode()[0] for stop in self._request.stops if stop}
            texts = self._vocabulary.token_bytes
            self._stopping = np.array([not firsts.isdisjoint(text or b"") for text in texts], np.bool_)
        for token in tokens[self._stopping[tokens]].tolist():
            tracker = place.tracker.copy()
            end_at = tracker.feed(self._vocabulary.token_bytes[token] or b"", token)
            if end_at is not None or tracker.candidates:
                yield token

    # -- certain text --------------------------------------------------------------------------------

    def _settled(self, place: Place) -> Place | Ended:
        """The place behind all text that is certain; `place` is given up."""
        while True:
            tracker, value = place.tracker, place.tracker.value
            if tracker.candidates:
                return place
            if value.is_complete():
                return Ended(self._own(place), max(0, place.used), place.drawn, place.forced)
            run = value.forced()
            if not run:
                return place
            after, held = self._forced(place, run)
            if after is None or held:
                return after or place
            place = after

    def _forced(self, place: Place, run: bytes) -> tuple[Place | None, bool]:
        """The place behind certain bytes, None where nothing was written; and whether the rest is left to be
        drawn, as what follows may make other tokens of it."""
        behind = place.tracker.value.clone()
        behind.accept_bytes(run)
        tokens: Tokens | None = None
        if not behind.is_complete():
            tokens = self._seams.committed(self._context(place.tokens), run, place.masks)
        if tokens is None:
            return self._rewritten(place, run), False
        held = False
        if not tokens:
            only = self._seams.only(self._context(place.tokens), place.masks, None)
            held = only is None or not run.startswith(self._vocabulary.token_bytes[only] or b"")
            tokens = () if only is None or held else (only,)
        for token in tokens:
            place = self._written(place, token)
        return place, held

    def _written(self, place: Place, token: int) -> Place:
        """Behind one token of certain text."""
        data = self._vocabulary.token_bytes[token] or b""
        place.tracker.value.accept_bytes(data)
        if place.masks is not place.tracker.value:
            place.masks.accept_bytes(data)
        place.tracker.data += data
        tokens = (*place.tokens, token)
        if len(place.tracker.data) <= len(self.prefix):
            return replace(place, tokens=tokens, base=len(tokens))
        return replace(place, tokens=tokens, forced=place.forced + 1)

    def _rewritten(self, place: Place, run: bytes) -> Place | None:
        """Behind certain bytes, with the tokens of the whole text."""
        skip, known = len(self.prefix), len(place.tracker.data)
        whole = bytes(place.tracker.data) + run
        if len(whole) < skip:
            return None
        text = whole[skip:].decode("utf-8", "ignore")
        run = whole[known : skip + len(text.encode())]
        if not run:
            return None
        before = b"".join(self._vocabulary.token_bytes[t] or b"" for t in self.kept) + self.prefix
        tokens = self._encoder.encode(before.decode() + text)
        place.tracker.value.accept_bytes(run)
        if place.masks is not place.tracker.value:
            place.masks.accept_bytes(run)
        place.tracker.data += run
        forced = place.forced + max(0, len(tokens) - len(place.tokens))
        return replace(place, tokens=tokens, forced=forced)

    def _own(self, place: Place) -> bytes:
        return bytes(place.tracker.data[len(self.prefix) :])

    def _context(self, tokens: Tokens) -> Tokens:
        return Seams.context(tokens, self._floor)
