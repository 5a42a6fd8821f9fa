"""Seams: the tokenisation of forced text, of text before a hole and of text behind it.

One rule holds at all seams. The legal sequences of tokens are those that the model's tokenizer gives for the
legal texts. A legal text is what stands before the hole, a value, and what is known to follow. A token is
*open* if it goes on along one of them. Certain text is written as tokens only as far as every legal text has
the same tokens. The rest is sampled, as part of a token that covers it and goes further.
"""

from __future__ import annotations

import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from string import ascii_letters, digits, punctuation, whitespace
from typing import NamedTuple

import numpy as np

from sglc.runtime.decoding.conversations.canonical import CONTEXT, Canonical, Tokens
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

AHEAD = 24
"""Bytes of what may follow a token that are tokenised with it: enough for the tokens next to it."""
LOOKED = 2048
"""Tokens that are tried, in some 10 ms, to find a legal text in which a token stays as it is. If more would
be needed, the token counts as open."""
MANY = 64
"""Where more bytes than these may come next, some of them begin another word. So the tokens before them
stay."""
KINDS = tuple(
    tuple(byte.encode() for byte in kind) for kind in (ascii_letters, digits, punctuation, whitespace)
)
FEW = 64
"""Where at most so many tokens are legal, each is asked whether it is the only open one. At a place where
longer tokens may begin, as many are tried."""
PART = 64
"""Tokens that are put in order at a time: the first few of them mostly decide."""
MOST = 256
"""At most so many tokens that go beyond a text are checked one by one. For more of them a mask is made."""


class Beginnings:
    """The tokens of a vocabulary by what they begin with."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        pairs = sorted((data, token) for token, data in enumerate(vocabulary.token_bytes) if data)
        self._texts = [data for data, _ in pairs]
        self._tokens = np.array([token for _, token in pairs], np.int64)
        self.longest = max(map(len, self._texts), default=0)
        """Bytes of the longest token."""
        self._blank = np.array([(data or b"").isspace() for data in vocabulary.token_bytes], np.bool_)

    def tokens(self, prefix: bytes) -> np.ndarray:
        """Ids of the tokens that begin with these bytes."""
        return self._tokens[bisect_left(self._texts, prefix) : self._end(prefix)]

    def longer(self, prefix: bytes) -> Sequence[bytes]:
        """The texts of the tokens that begin with these bytes and are longer, ascending."""
        first = bisect_right(self._texts, prefix)
        if first == len(self._texts) or not self._texts[first].startswith(prefix):
            return ()
        return self._texts[first : self._end(prefix)]

    def blank_last(self, tokens: np.ndarray) -> Iterator[int]:
        """The tokens in their order, those of white space alone behind the others."""
        for blank in (False, True):
            for start in range(0, len(tokens), PART):
                part = tokens[start : start + PART]
                yield from part[self._blank[part] == blank].tolist()

    def _end(self, prefix: bytes) -> int:
        after = prefix.rstrip(b"\xff")
        if not after:
            return len(self._texts)
        return bisect_left(self._texts, after[:-1] + bytes((after[-1] + 1,)))


_BEGINNINGS: weakref.WeakKeyDictionary[Vocabulary, Beginnings] = weakref.WeakKeyDictionary()


def beginnings(vocabulary: Vocabulary) -> Beginnings:
    """Of a vocabulary, made once."""
    found = _BEGINNINGS.get(vocabulary)
    if found is None:
        found = _BEGINNINGS[vocabulary] = Beginnings(vocabulary)
    return found


class _Place(NamedTuple):
    """A token behind others; both matchers are behind it."""

    context: Tokens
    token: int
    after: Matcher
    value: Matcher | None
    """The value's own matcher where the model may also end the message behind it."""


class Forced(NamedTuple):
    """Certain text as tokens, as far as they are certain too."""

    tokens: Tokens
    data: bytes
    """The bytes of these tokens."""
    held: bool
    """Whether the rest is held back: what follows may make other tokens of it, so the model writes it."""


class Seams:
    """The rule for one tokenizer. `masks` are matchers of what a hole is filled with, stops included."""

    def __init__(self, canonical: Canonical, vocabulary: Vocabulary) -> None:
        self._canonical = canonical
        self._vocabulary = vocabulary
        self.joins = bool(vocabulary.size) and int(vocabulary.lengths.max()) > 1
        """Whether there are tokens of more than one byte, so that a text can be written in more than one
        way."""

    # -- tokens that are drawn -----------------------------------------------------------------------

    def is_open(self, context: Tokens, token: int, masks: Matcher, value: Matcher | None) -> bool:
        """Whether a legal token goes on as the tokenizer would write some legal text.

        `value` is the value's own matcher where the model may also end the message behind it. Answers are
        remembered: texts under one constraint come to the same places again and again.
        """
        if not self.joins:
            return True
        if value is not None and value.store is not masks.store:
            return self._goes_on(context, token, masks, value)
        known = self._canonical.known_open(masks.store)
        place = masks.config, None if value is None else value.config, context, token
        found = known.get(place)
        if found is None:
            found = known[place] = self._goes_on(context, token, masks, value)
        return found

    def _goes_on(self, context: Tokens, token: int, masks: Matcher, value: Matcher | None) -> bool:
        """See `is_open`."""
        after = masks.clone()
        if not after.accept(token):
            return False
        # Depth first; a text may be as long as LOOKED tokens before it is known to be one.
        open_places: list[Iterator[_Place | None]] = [
            iter([_Place(context, token, after, _accepted(value, token))])
        ]
        looked = -1
        while open_places:
            for place in open_places[-1]:
                looked += 1
                if looked > LOOKED:
                    return True
                if place is None:
                    continue
                decided = self._decided(place)
                if decided:
                    return True
                if decided is None:
                    open_places.append(self._continued(place))
                    break
            else:
                open_places.pop()
        return False

    def _decided(self, place: _Place) -> bool | None:
        """Whether a token goes on as the tokenizer would write some legal text; None if what follows has to
        be looked at."""
        context, token, after, value = place
        canonical = self._canonical
        data = self._vocabulary.token_bytes[token] or b""
        if _is_whole(data) and not data[-1:].isspace():
            # White space alone is split by what follows it.
            if not canonical.keeps(context, token, b""):
                return False
            if after.following() > MANY:
                return True
        if canonical.keeps(context, token, _way_on(after)):
            return True
        if value is not None and value.is_accepting() and canonical.keeps(context, token, b""):
            return True
        return False if after.is_complete() else None

    def _continued(self, place: _Place) -> Iterator[_Place | None]:
        """Places behind each legal token; None for a token before which the tokenizer splits otherwise.

        White space comes last: it decides nothing about what is before it, and may go on for long.
        """
        context, token, after, value = place
        canonical, token_bytes = self._canonical, self._vocabulary.token_bytes
        data = token_bytes[token] or b""
        longer = (*context, token)[-CONTEXT:]
        for following in beginnings(self._vocabulary).blank_last(after.allowed()):
            more = token_bytes[following] or b""
            blank = data[-1:].isspace() and more[:1].isspace()
            if _is_whole(more) and not blank and not canonical.keeps(context, token, more):
                yield None
                continue
            behind = after.clone()
            behind.accept(following)
            yield _Place(longer, following, behind, _accepted(value, following))

    def only(self, context: Tokens, masks: Matcher, value: Matcher | None) -> int | None:
        """The only open token, where few tokens are legal. Then the model is not asked."""
        if masks.mask_size() > FEW:
            return None
        found = None
        for token in masks.allowed().tolist():
            if self.is_open(context, token, masks, value):
                if found is not None:
                    return None
                found = token
        return found

    # -- text that is certain ------------------------------------------------------------------------

    def committed(self, context: Tokens, run: bytes, masks: Matcher) -> Tokens | None:
        """The tokens of a forced run that every legal text has, whatever follows it; `masks` is before it.

        None where the tokens before it are not the tokenizer's own.
        """
        size = len(run.decode("utf-8", "ignore").encode())
        whole = self._canonical.tokens(context, run[:size])
        if whole is None:
            return () if self._is_own(context) else None
        if not self.joins:
            return whole

        def reaches(place: int) -> bool:
            probe = masks.clone()
            probe.accept_bytes(run[:place])
            return probe.longest() > len(run) - place

        behind = masks.clone()
        behind.accept_bytes(run)
        return self._certain(context, run, whole, behind, reaches)

    def forced(self, context: Tokens, run: bytes, value: Matcher, masks: Matcher) -> Forced | None:
        """A forced run of a value as tokens; both matchers are before it.

        None where the value ends with it, or where the tokens before it are not the tokenizer's own: then the
        text is tokenised as a whole.
        """
        behind = value.clone()
        behind.accept_bytes(run)
        tokens = None if behind.is_complete() else self.committed(context, run, masks)
        if tokens is None:
            return None
        held = False
        if not tokens:
            only = self.only(context, masks, None)
            held = only is None or not run.startswith(self._vocabulary.token_bytes[only] or b"")
            tokens = () if only is None or held else (only,)
        data = b"".join(self._vocabulary.token_bytes[token] or b"" for token in tokens)
        return Forced(tokens, data, held)

    def pending(self, context: Tokens, run: bytes, masks: Matcher) -> Tokens:
        """The tokens that held-back bytes most likely become; none where others are likelier.

        A blank alone seldom stands before anything: words begin with theirs.
        """
        tokens = self._canonical.tokens(context, run)
        if tokens and (self._vocabulary.token_bytes[tokens[-1]] or b"").isspace():
            tokens = tokens[:-1]
        return tokens if tokens and self.is_open(context, tokens[0], masks, None) else ()

    def taken_back(
        self, tokens: Sequence[int], floor: int, masks: Matcher, behind: Callable[[bytes], Matcher]
    ) -> int:
        """How many of the tokens before a hole may become others with what the hole begins with.

        Only those from `floor` on are looked at. `masks` is at the hole's beginning, `behind` gives the
        same behind some bytes.
        """
        if not self.joins:
            return 0
        token_bytes = self._vocabulary.token_bytes
        reach, start, text = beginnings(self._vocabulary).longest, len(tokens), b""
        while start > floor and len(text) < reach:
            start -= 1
            text = (token_bytes[tokens[start]] or b"") + text

        def reaches(place: int) -> bool:
            return behind(text[place:]).longest() > len(text) - place

        whole = tuple(tokens[start:])
        context = self.context(tokens[:start], floor)
        return len(whole) - len(self._certain(context, text, whole, masks, reaches))

    @staticmethod
    def context(tokens: Sequence[int], floor: int) -> Tokens:
        """The tokens before a place that decide about what follows; those before `floor` do not."""
        return tuple(tokens[max(floor, len(tokens) - CONTEXT) :])

    def _certain(
        self, context: Tokens, run: bytes, whole: Tokens, masks: Matcher, reaches: Callable[[int], bool]
    ) -> Tokens:
        """The first of the tokens `whole` of a run that every legal text has. `masks` is behind the run.

        A text has others where one of its tokens begins in the run and ends behind it: then the tokens are
        those of the run up to that place, and this one. `reaches` says whether such a token is legal at a
        place. Besides, what follows may decide how the run is split into words, as white space is by whether
        more of it comes.
        """
        known, canonical = beginnings(self._vocabulary), self._canonical
        kept = whole
        for way in (_way_on(masks), *(_next_of_each_kind(masks) if run[-1:].isspace() else ())):
            kept = _common(kept, canonical.tokens(context, run + way) or ())
        for place in range(max(0, len(run) - known.longest), len(run)):
            longer = known.longer(run[place:]) if run[place] & 0xC0 != 0x80 else ()
            if not longer:
                continue
            part = canonical.tokens(context, run[:place])
            if part is not None and part[: len(kept)] == kept:
                continue
            size = len(run) - place
            if len(longer) > MOST and not reaches(place):
                continue
            found = (data for data in longer if masks.clone().accept_bytes(data[size:]))
            if part is None or part != whole[: len(part)]:
                for data in islice(found, FEW):
                    kept = _common(kept, self._before(context, run[:place], data, kept))
            elif len(longer) > MOST or next(found, None) is not None:
                kept = part
        return kept

    def _is_own(self, context: Tokens) -> bool:
        """Whether the tokenizer writes the end of the context as it is."""
        if not context:
            return True
        data = self._vocabulary.token_bytes[context[-1]] or b""
        return self._canonical.tokens(context[:-1], data) == context[-1:]

    def _before(self, context: Tokens, before: bytes, data: bytes, otherwise: Tokens) -> Tokens:
        """The tokens of `before` where the tokenizer writes `data` behind it as one token."""
        found = self._canonical.tokens(context, before + data)
        if not found or self._vocabulary.token_bytes[found[-1]] != data:
            return otherwise
        return found[:-1]


def _common(first: Tokens, second: Tokens) -> Tokens:
    """What both begin with."""
    pairs = zip(first, second, strict=False)
    return first[: next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))]


def _accepted(value: Matcher | None, token: int) -> Matcher | None:
    """The value's matcher behind a token; None where it is not all of the value."""
    if value is None:
        return None
    after = value.clone()
    return after if after.accept(token) else None


def _way_on(masks: Matcher) -> bytes:
    """The beginning of a text that may follow, in whole characters. It is the only one, where only one may
    follow."""
    try:
        way = b"" if masks.is_complete() else masks.shortest_completion()
    except ConstraintError:
        way = masks.forced()
    return way[:AHEAD] if len(way) <= AHEAD else _cut(way[:AHEAD])


def _next_of_each_kind(masks: Matcher) -> list[bytes]:
    """A byte of each kind of ASCII characters that may follow. The kind decides how white space is split."""
    legal = masks.next_bytes()
    found = [next((each for each in kind if each in legal), b"") for kind in KINDS]
    return [each for each in found if each]


def _cut(data: bytes) -> bytes:
    """The bytes without a broken character at their end (one at their beginning stays)."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            size = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data if back >= size else data[:-back]
    return data


def _is_whole(data: bytes) -> bool:
    """Whether bytes neither begin nor end inside a character."""
    return bool(data) and data[0] & 0xC0 != 0x80 and len(_cut(data)) == len(data)
