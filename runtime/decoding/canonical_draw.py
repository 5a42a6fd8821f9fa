"""Drawing a token among those that the tokenizer would write.

What the tokenizer would not write is refused, and the token is drawn among the rest with the same noise,
which draws it from their distribution. Where nothing is left, what was refused is let in: the mask alone
decides.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from time import thread_time_ns

from sglc.runtime.decoding.conversations.canonical import Tokens
from sglc.runtime.decoding.seams import Seams
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.sampling.sampler import NothingAllowed, Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.mask.matcher import Matcher

FEW = 32
"""At most so many legal tokens are checked one by one before one is drawn, where limits shape the draw."""

MOST_DRAWS = 64
"""Behind so many draws at one place that the tokenizer would not write, all legal tokens are checked at once:
each draw with limits passes over the whole vocabulary and over all tokens left out. Draws of records on a
small model met at most 27 such tokens at one place."""


class CanonicalDraw:
    """Draws of one hole; `request` samples among the tokens of `legal`, whose matcher is at the place."""

    def __init__(self, seams: Seams | None, legal: NextTokens, request: SamplingRequest) -> None:
        self._seams = seams
        self._legal = legal
        self._request = request

    async def draw(
        self,
        pick: Callable[[], Awaitable[Sampled]],
        context: Tokens,
        ending: Matcher | None,
        besides: Iterable[int] = (),
    ) -> Sampled:
        """The token that `pick` samples behind the tokens `context`, perhaps at the second try.

        `ending` is the value's matcher where the model may end the message behind the value. The mass of the
        legal tokens counts what the tokenizer would not write. `besides` are tokens that are not wanted: the
        next best is. Raises NothingAllowed, and what `pick` raises.
        """
        legal, sampling = self._legal, self._request.sampling
        legal.forgive()
        strict = self._seams is not None and self._seams.joins
        if strict and not sampling.plain and sampling.temperature:
            refuse_few(legal, lambda token: self.is_open(token, context, ending))
        for token in besides:
            legal.refuse(token)
        first: Sampled | None = None
        draws = 0
        while True:
            try:
                drawn = await pick()
            except NothingAllowed:
                if besides or not legal.forgive():
                    raise
                strict = False
                continue
            if not strict or drawn.token in legal.end_ids or self.is_open(drawn.token, context, ending):
                return drawn if first is None else drawn._replace(log_mass=first.log_mass, top=first.top)
            first = drawn if first is None else first
            legal.refuse(drawn.token)
            draws += 1
            if draws == MOST_DRAWS:
                refuse_closed(legal, lambda token: self.is_open(token, context, ending))

    def is_open(self, token: int, context: Tokens, ending: Matcher | None) -> bool:
        """Whether the tokenizer would write a legal text with this token. See `Seams.is_open`."""
        if self._seams is None:
            return True
        start = thread_time_ns()
        found = self._seams.is_open(context, token, self._legal.matcher, ending)
        self._request.picking += thread_time_ns() - start
        return found


def refuse_few(legal: NextTokens, is_open: Callable[[int], bool]) -> None:
    """Where few tokens are legal, leave out what the tokenizer would not write (`is_open`): limits such as
    top-k look at the tokens that are left. Where many bytes may come next, the mask is not made to count
    tokens."""
    if legal.matcher.following() <= FEW and legal.matcher.mask_size() <= FEW:
        refuse_closed(legal, is_open)


def refuse_closed(legal: NextTokens, is_open: Callable[[int], bool]) -> None:
    """Leave out all legal tokens that the tokenizer would not write."""
    for token in legal.matcher.allowed().tolist():
        if not is_open(token):
            legal.refuse(token)
