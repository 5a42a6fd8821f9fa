"""A place of a draft: where it begins, or behind a token. What may come there is guessed from it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

from sglc.runtime.engine.drafting.kinds import CLASS, FRESH, HISTORY, SINGLE
from sglc.runtime.engine.drafting.prompt_lookup import Lookup
from sglc.runtime.engine.drafting.transition_history import LEVELS, Rates, TransitionHistory
from sglc.runtime.mask.matcher import Matcher

if TYPE_CHECKING:
    from sglc.runtime.engine.drafting.draft_model import Lookahead

Option = tuple[float, int, tuple[int, ...]]
"""How likely a continuation is, its kind, and its tokens; none where the value's end is likely."""


class Place:
    """Where the value and the look-up are behind the tokens of one path of a draft."""

    __slots__ = (
        "_alone",
        "_before",
        "_fresh",
        "_last",
        "_lookup",
        "_matched",
        "_size",
        "ahead",
        "asked",
        "at",
        "best",
        "chance",
        "declined",
        "left",
        "node",
        "options",
        "path",
        "taken",
        "twin",
    )

    def __init__(self, lookup: Lookup, value: Matcher, hint: int, fresh: bool) -> None:
        """Where a draft behind the tokens of `lookup` begins; `value` is a matcher of its own."""
        self._lookup = lookup
        self._size = size = len(lookup)
        self.twin = value
        """Where the value is."""
        self.path: list[int] = []
        """The tokens of the draft before the place."""
        self.node = -1
        """Number of the last of them among the draft's tokens."""
        self.chance = self.best = 1.0
        """That the place is reached; and that the next best token comes there, or a bound of that."""
        self.left = 1.0
        """The chance that none of those comes that were taken here."""
        self.taken: tuple[int, ...] = ()
        """The first tokens of these."""
        self.options: list[Option] | None = None
        """What may come besides what has been taken, the most likely first; None where nobody looked yet."""
        self.asked = False
        """Whether the draft model's tokens are among them."""
        self.declined = False
        """Whether it was not worth asking for them."""
        self.ahead: Lookahead | None = None
        """The decoding of the hole at this place, or at one before it on the path."""
        self.at, self._matched = lookup.find(hint)
        """The place in the text and the draft at which the look-up goes on, -1 for none, and how many tokens
        before it match."""
        self._fresh = FRESH if fresh else 0
        self._alone = -1
        if self.at < 0 and not fresh:
            self.at, self._alone = lookup.single()
            self._matched = 1
        self._before = lookup[size - 2] if size > 1 else -1
        self._last = lookup[size - 1] if size else -1

    @property
    def follows_text(self) -> bool:
        """Whether the look-up goes on within the text."""
        return 0 <= self.at < self._size

    def fork(self) -> Place:
        """The same place, to go on from another way."""
        twin = copy(self)
        twin.twin = self.twin.clone()
        twin.path = list(self.path)
        return twin

    def move(self, added: Sequence[int], matches: bool, node: int, likely: float, fresh: bool) -> None:
        """Go behind tokens that were added, the last as number `node` of the draft, and that come with the
        chance `likely` where the place is reached; `fresh` says that the last is forced text. With `matches`
        the look-up goes on where it has the same."""
        self.path += added
        self.node, self.left, self.taken = node, 1.0, ()
        self.chance = self.best = self.chance * likely
        self.options, self.asked, self.declined = None, False, False
        self._alone, self._fresh = -1, FRESH if fresh else 0
        for token in added:
            if self.at >= 0:
                self.at = self.at + 1 if matches and token == self._token_at(self.at) else -1
            self._matched = min(self._matched + 1, 63)
        self._before = added[-2] if len(added) > 1 else self._last
        self._last = added[-1]

    def guesses(self, history: TransitionHistory, rates: Rates) -> list[Option]:
        """What may come, the most likely first."""
        options: list[Option] = []
        rate = rates.rate
        learned = history.best(self.twin.config, self._before, self._last)
        if learned is not None:
            level = learned[2] + LEVELS * history.narrowness(self.twin)
            kind = HISTORY + 10 * level + min(9, int(learned[1] * 10))
            options.append((rate[kind], kind, learned[0]))
        if self.at >= 0:
            kind = self._fresh + CLASS[self._matched] if self._alone < 0 else SINGLE + self._alone
            options.append((rate[kind], kind, (self._token_at(self.at),)))
            options.sort(reverse=True)
        return options

    def _token_at(self, place: int) -> int:
        return self._lookup[place] if place < self._size else self.path[place - self._size]
