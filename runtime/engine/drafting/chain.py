"""A chain of drafts while it is made: each token is guessed behind the ones before it.

Text in the prompt and the history of the hole are asked first. Where they know nothing that is worth as much
as a token of the draft model, the chain is *silent*: the draft model may be asked, and the chain goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sglc.runtime.engine.drafting.kinds import CLASS, COVERED, FRESH, HISTORY, SINGLE, SURE
from sglc.runtime.engine.drafting.prompt_lookup import Lookup
from sglc.runtime.engine.drafting.transition_history import LEVELS, Rates, TransitionHistory
from sglc.runtime.mask.matcher import Matcher

LONGEST = 24
"""Most tokens of a draft."""
AHEAD = 3
"""Most rows over which the price of one more row is taken, because costs rise in steps: the next row may be
dear and those behind it free."""

Run = Callable[[TransitionHistory, Matcher, int], tuple[tuple[int, ...], bytes]]
"""See `Drafting.run`."""
Option = tuple[float, int, tuple[int, ...]]
"""How likely a continuation is, its kind, and its tokens; none where the value's end is likely."""


class Chain:
    """Drafted tokens behind the tokens of a lookup, which they all follow.

    `prices` are costs of steps with so many drafts, `worth` is what a saved request is worth. The first guess
    is made at any price: it is compared with what comes, and tells how good guesses are.
    """

    __slots__ = (
        "_alone",
        "_at",
        "_before",
        "_fresh",
        "_history",
        "_last",
        "_lookup",
        "_matched",
        "_rate",
        "_run",
        "_size",
        "chance",
        "gains",
        "kinds",
        "others",
        "prices",
        "silent",
        "tokens",
        "twin",
        "worth",
    )

    def __init__(
        self,
        lookup: Lookup,
        history: TransitionHistory,
        rates: Rates,
        run: Run,
        value: Matcher,
        prices: Sequence[float],
        worth: float,
        hint: int = -1,
        fresh: bool = False,
    ) -> None:
        """`hint` is where the look-up matched last; `fresh` says that the last token was not drawn."""
        self._lookup, self._history, self._rate, self._run = lookup, history, rates.rate, run
        self.prices, self.worth = prices, worth
        self._size = size = len(lookup)
        self.twin = value.clone()
        """Where the value is behind the chain."""
        self.tokens: list[int] = []
        self.kinds: list[int] = []
        self.gains: list[float] = []
        """By token: the chance that the logits after it are asked for."""
        self.others: list[tuple[int, int, int]] = []
        """Guesses that the draft model was asked instead of: place in the chain, token, kind. They are
        compared with what comes, too."""
        self.chance = 1.0
        """That all of the chain comes."""
        self.silent = False
        """Whether the draft model is to be asked."""
        self._at, self._matched = lookup.find(hint)
        """The place in the text and the chain at which the look-up goes on, -1 for none, and how many tokens
        before it match."""
        self._fresh = FRESH if fresh else 0
        self._alone = -1
        if self._at < 0 and not fresh:
            self._at, self._alone = lookup.single()
            self._matched = 1
        self._before = lookup[size - 2] if size > 1 else -1
        self._last = lookup[size - 1] if size else -1

    @property
    def hint(self) -> int:
        """Where the look-up goes on."""
        return self._at

    @property
    def row(self) -> float:
        """Seconds that one more row takes, or each of a few more where that is less."""
        count, prices = len(self.tokens), self.prices
        return min((prices[count + more] - prices[count]) / more for more in range(1, AHEAD + 1))

    def force(self, forced: Sequence[int]) -> None:
        """Begin with tokens that forced text most likely becomes, though others may cover it."""
        for token in forced:
            self.twin.accept(token)
            self.tokens.append(token)
            self.kinds.append(COVERED)
            self.chance *= self._rate[COVERED]
            self.gains.append(self.chance)
            self._move([token], matches=0 <= self._at < self._size)
            self._fresh = FRESH

    def go_on(self, defers: Callable[[float], bool] | None = None) -> None:
        """Guess as far as the text and the history know what comes and it is worth its rows.

        `defers` is given the chance of the best guess, 0 for none, and says whether the draft model is to be
        asked instead; None where there is none.
        """
        self.silent = False
        while (count := len(self.tokens)) < LONGEST and (not count or self.chance * self.worth > self.row):
            options = self._options()
            if defers is not None and defers(options[0][0] if options else 0.0):
                self.silent = True
                if options and options[0][2]:
                    self.others.append((count, options[0][2][0], options[0][1]))
                return
            if not self._take(options):
                # Nothing is known to come, or the value's end is likelier than any token.
                ends = any(not continuation for _, _, continuation in options)
                self.silent = bool(options) and not ends and defers is not None and defers(0.0)
                return
            if self._is_over():
                return

    def add(self, token: int, kind: int, forced: Sequence[int]) -> bool:
        """Go on with a token of the draft model and the forced tokens behind it.

        False where the token is no part of the value, or the value is complete.
        """
        self.silent = False
        if not self.twin.accept(token):
            return False
        for each in forced:
            if not self.twin.accept(each):
                return False
        self.tokens += (token, *forced)
        self.kinds += [kind] + [SURE] * len(forced)
        self.chance *= self._rate[kind] * (self._rate[SURE] if forced else 1.0)
        self.gains += [0.0] * len(forced) + [self.chance]
        self._alone, self._fresh = -1, FRESH if forced else 0
        if self.twin.is_complete():
            self.gains[-1] = 0.0
            return False
        self._move([token, *forced], matches=True)
        return len(self.tokens) < LONGEST

    def _options(self) -> list[Option]:
        """What may come, the most likely first."""
        options: list[Option] = []
        history, rate = self._history, self._rate
        learned = history.best(self.twin.config, self._before, self._last)
        if learned is not None:
            level = learned[2] + LEVELS * history.narrowness(self.twin)
            kind = HISTORY + 10 * level + min(9, int(learned[1] * 10))
            options.append((rate[kind], kind, learned[0]))
        if self._at >= 0:
            kind = self._fresh + CLASS[self._matched] if self._alone < 0 else SINGLE + self._alone
            options.append((rate[kind], kind, (self._token_at(self._at),)))
            options.sort(reverse=True)
        return options

    def _token_at(self, place: int) -> int:
        return self._lookup[place] if place < self._size else self.tokens[place - self._size]

    def _take(self, options: list[Option]) -> bool:
        """Draft the first legal continuation; False if none is legal, or the value's end is likelier."""
        rate, twin = self._rate, self.twin
        for likely, kind, continuation in options:
            if not continuation:
                return False
            if not twin.accept(continuation[0]):
                continue
            size = 1
            while size < len(continuation) and twin.accept(continuation[size]):
                size += 1
            self.tokens += continuation[:size]
            self.kinds += [kind] + [SURE] * (size - 1)
            self.gains += [0.0] * (size - 1)
            self.chance *= likely * rate[SURE] ** (size - 1)
            self.gains.append(self.chance)
            self._append_run(size)
            return True
        return False

    def _append_run(self, taken: int) -> None:
        """Append the text that is forced behind the tokens that were taken just now."""
        tokens, kinds, gains = self.tokens, self.kinds, self.gains
        first = len(tokens) - taken
        run, data = self._run(self._history, self.twin, tokens[-1])
        self._alone, self._fresh = -1, FRESH if data else 0
        if data:
            self.twin.accept_bytes(data)
            tokens[-1:] = run
            self.chance *= self._rate[SURE]
            kinds[:] = (kinds + [SURE] * len(run))[: len(tokens)]
            gains[:] = (gains[:-1] + [0.0] * len(run))[: len(tokens) - 1] + [self.chance]
        self._move(tokens[first:], matches=True)

    def _move(self, added: Sequence[int], matches: bool) -> None:
        """Follow tokens that were added; the look-up goes on where it has the same."""
        for token in added:
            if self._at >= 0:
                self._at = self._at + 1 if matches and token == self._token_at(self._at) else -1
            self._matched = min(self._matched + 1, 63)
        self._alone = -1
        self._before = added[-2] if len(added) > 1 else self._last
        self._last = added[-1]

    def _is_over(self) -> bool:
        """Whether the value is complete behind the chain: nothing is asked for there."""
        if self.twin.is_complete():
            self.gains[-1] = 0.0
            return True
        return False
