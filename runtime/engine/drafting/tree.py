"""A draft while it is made: a tree of tokens, each guessed behind those of its path.

Where the executor computes no trees it is a chain: a tree whose places have one token each. Elsewhere a place
keeps what else may come there, and tokens are added in the order of the chance that their path comes (the
order of EAGLE-2: Li et al. 2024), as long as that chance times what a token is worth exceeds its row. So the
tree grows sideways where the second token of a place is likelier than what comes at the ends of its paths.

Text in the prompt and the history of the hole are asked first. Where they know nothing that is worth as much
as a token of the draft model, the tree is *silent*: the draft model may be asked at `place`, and the tree
goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush, heapreplace

from sglc.runtime.engine.drafting.kinds import ASKED, COVERED, MODEL, SURE
from sglc.runtime.engine.drafting.place import Option, Place
from sglc.runtime.engine.drafting.prompt_lookup import Lookup
from sglc.runtime.engine.drafting.transition_history import Rates, TransitionHistory
from sglc.runtime.engine.scheduling.draft import Draft
from sglc.runtime.mask.matcher import Matcher

LONGEST = 24
"""Most tokens of a draft."""
AHEAD = 3
"""Most rows over which the price of one more row is taken, because costs rise in steps: the next row may be
dear and those behind it free."""

Run = Callable[[TransitionHistory, Matcher, int], tuple[tuple[int, ...], bytes]]
"""See `Drafting.run`."""


class DraftTree:
    """Drafted tokens behind the tokens of a lookup, which they all follow.

    `prices` are costs of steps with so many drafts, `worth` is what a saved request is worth. The first guess
    is made at any price: it is compared with what comes, and tells how good guesses are.
    """

    __slots__ = (
        "_branches",
        "_history",
        "_open",
        "_pushed",
        "_rates",
        "_run",
        "_starts",
        "gains",
        "kinds",
        "others",
        "place",
        "prices",
        "silent",
        "tokens",
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
        branches: bool = False,
    ) -> None:
        """`hint` is where the look-up matched last; `fresh` says that the last token was not drawn; without
        `branches` it is a chain."""
        self._history, self._rates, self._run = history, rates, run
        self.prices, self.worth = prices, worth
        self._branches = branches
        self.tokens: list[int] = []
        """In the order in which they were added, which is that of their chances."""
        self.kinds: list[int] = []
        self.gains: list[float] = []
        """By token: the chance that the logits after it are asked for."""
        self._starts: dict[int, int] = {}
        """Tokens that do not follow the one before them to the number of the one that they follow."""
        self.others: list[tuple[int, int, int]] = []
        """Guesses that were not taken: the number of the token before them, token, kind. They are compared
        with what comes, too."""
        self.silent = False
        """Whether the draft model is to be asked."""
        self.place = Place(lookup, value.clone(), hint, fresh)
        """Where the tree was gone on with last."""
        self._open: list[tuple[float, int, Place]] = [(-1.0, 0, self.place)]
        """Places at which more may come, as a heap: the largest `best` is first, of equals the newest. Of a
        chain it is one."""
        self._pushed = 0

    @property
    def row(self) -> float:
        """Seconds that one more row takes, or each of a few more where that is less."""
        count, prices = len(self.tokens), self.prices
        return min((prices[count + more] - prices[count]) / more for more in range(1, AHEAD + 1))

    @property
    def hint(self) -> int:
        """Where the look-up goes on."""
        return self.place.at

    def force(self, forced: Sequence[int]) -> None:
        """Begin with tokens that forced text most likely becomes, though others may cover it."""
        place = self.place
        for token in forced:
            place.twin.accept(token)
            self._grow(place, [token], COVERED, self._rates.rate[COVERED], True, place.follows_text)

    def go_on(self, defers: Callable[[float], bool] | None = None) -> None:
        """Guess as far as the text and the history know what comes and it is worth its rows.

        `defers` is given the chance of the best guess at `place`, 0 for none, and says whether the draft
        model is to be asked there instead; None where there is none.
        """
        self.silent = False
        while self._open and len(self.tokens) < LONGEST:
            place = self.place = self._open[0][2]
            if self.tokens and place.best * self.worth <= self.row:
                return
            if place.options is None:
                place.options = place.guesses(self._history, self._rates)
                if self._branches and self._is_behind(place, defers is not None):
                    continue
            options = place.options
            if defers is not None and not place.asked and not place.declined:
                if defers(options[0][0] if options else 0.0):
                    if not self._branches and options and options[0][2]:
                        self.others.append((place.node, options[0][2][0], options[0][1]))
                    self.silent = True
                    return
                if self._branches:
                    place.declined = True
                    self._is_behind(place, False)
                    continue
            if self._branches:
                heappop(self._open)
            else:
                self._open.clear()
            self._take_best(place, defers)
            if self.silent:
                return

    def offer(self, options: list[Option]) -> None:
        """The tokens of the draft model at `place`, its best first, each with the forced ones behind it. What
        was guessed there without it comes behind them, if it is another token."""
        place = self.place
        given = {continuation[0] for _, _, continuation in options}
        if self._branches:
            for likely, kind, continuation in place.options or ():
                if continuation and continuation[0] in given:
                    self.others.append((place.node, continuation[0], kind))
                elif continuation:
                    options.append((likely, kind, continuation))
            place.best = place.chance * options[0][0]
        place.options, place.asked = options, True
        self.close()
        self._push(place)

    def close(self) -> None:
        """Nothing more is to come at `place`."""
        self._open = [entry for entry in self._open if entry[2] is not self.place]
        heapify(self._open)

    def draft(self, count: int) -> tuple[Draft, list[int]]:
        """The draft, and the kinds of its tokens. The first `count` tokens that were added stand before all
        others, and the first path among them before its siblings."""
        for _, _, place in self._open if self._branches else ():
            self._leave(place)
        if not self._starts:
            return Draft(self.tokens), self.kinds
        size = len(self.tokens)
        parents = [self._starts.get(number, number - 1) for number in range(size)]
        end, order = -1, []
        for number in range(count):
            if parents[number] == end:
                order.append(number)
                end = number
        first = set(order)
        order += [number for number in range(size) if number not in first]
        place_of = {number: at for at, number in enumerate((-1, *order), -1)}
        self.others = [(place_of[node], token, kind) for node, token, kind in self.others]
        tokens, kinds = [self.tokens[number] for number in order], [self.kinds[number] for number in order]
        return Draft(tokens, [place_of[parents[number]] for number in order]), kinds

    def _is_behind(self, place: Place, asks: bool) -> bool:
        """Whether what may come at the first of the open places is less likely than what may come at
        another."""
        known = place.options[0][0] if place.options else 0.0
        place.best = place.chance * max(known, self._rates.rate[ASKED] if asks else 0.0)
        self._pushed += 1
        heapreplace(self._open, (-place.best, -self._pushed, place))
        return self._open[0][2] is not place

    def _take_best(self, place: Place, defers: Callable[[float], bool] | None) -> None:
        """Draft the first legal continuation, unless the value's end is likelier; the place is open again if
        others may come there."""
        options = place.options
        assert options is not None
        looked = bool(options)
        while options:
            likely, kind, continuation = options.pop(0)
            if not continuation:
                return
            if continuation[0] in place.taken:
                self.others.append((place.node, continuation[0], kind))
                continue
            branches, size = self._branches and bool(options), len(self.tokens)
            taken = place.fork() if branches else place
            if not self._take(taken, min(likely, place.left), kind, continuation):
                continue
            if taken.twin.is_complete():
                self.gains[-1] = 0.0  # nothing is asked for there
            else:
                self._push(taken)
            if branches:
                place.asked = True
                place.left, place.taken = max(0.0, place.left - likely), (*place.taken, self.tokens[size])
                place.best = place.chance * min(options[0][0], place.left)
                self._push(place)
            return
        if looked and not place.asked and defers is not None and defers(0.0):
            self._push(place)
            self.silent = True

    def _take(self, place: Place, likely: float, kind: int, continuation: Sequence[int]) -> bool:
        """Draft a continuation at a place and move it behind; False if its first token is not legal, or one
        of those that the draft model holds for forced is not."""
        twin, sure = place.twin, self._rates.rate[SURE]
        if not twin.accept(continuation[0]):
            return False
        size = 1
        while size < len(continuation) and twin.accept(continuation[size]):
            size += 1
        tokens = list(continuation[:size])
        if MODEL <= kind < SURE:
            if size < len(continuation):
                return False
            self._grow(place, tokens, kind, likely * (sure if size > 1 else 1.0), size > 1, True)
            return True
        likely *= sure ** (size - 1)
        run, data = self._run(self._history, twin, tokens[-1])
        if data:
            twin.accept_bytes(data)
            tokens[-1:] = run
            likely *= sure
            if tokens[0] in place.taken:  # joined with what is forced, it is another sibling
                return False
        self._grow(place, tokens, kind, likely, bool(data), True)
        return True

    def _grow(
        self, place: Place, added: list[int], kind: int, likely: float, fresh: bool, matches: bool
    ) -> None:
        """Add tokens at a place, and move it behind them."""
        size = len(self.tokens)
        if place.node != size - 1:
            self._starts[size] = place.node
        place.move(added, matches, size + len(added) - 1, likely, fresh)
        self.tokens += added
        self.kinds += [kind] + [SURE] * (len(added) - 1)
        self.gains += [0.0] * (len(added) - 1) + [place.chance]

    def _push(self, place: Place) -> None:
        """Open a place, before others that are as likely; or leave it where nothing there is worth a row."""
        if not self._branches:
            self._open.append((0.0, 0, place))
        elif place.options is not None and (
            len(self.tokens) >= LONGEST or place.best * self.worth <= self.row
        ):
            self._leave(place)
        else:
            self._pushed += 1
            heappush(self._open, (-place.best, -self._pushed, place))

    def _leave(self, place: Place) -> None:
        """Compare what was not taken at a place with what comes."""
        for _, kind, continuation in place.options or ():
            if continuation and place.twin.allows(continuation[0]):
                self.others.append((place.node, continuation[0], kind))
