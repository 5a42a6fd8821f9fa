"""Drafts: tokens that may well come next, so that the engine computes them in the same step.

Every token is sampled from the model's own logits. A draft only decides whether these logits are computed
already, so drafts never change the result; a good draft saves a step. Drafts have three sources:

- *prompt lookup*: the text went on elsewhere as it may go on here (see `prompt_lookup`),
- *transition history*: this hole was at this position of its constraint before (see `transition_history`),
- *forced text*: certain once the token before it is. Where a longer token may cover forced text, the token is
  sampled; the most likely tokens are sent in any case, because their rows are needed anyway.

Every draft is checked against the hole's constraint, so no draft is illegal. The acceptance rate of each kind
is measured for each hole. The rate and the cost of a step by its rows (see `cost`) decide how many drafts are
worth their rows. The decision assumes that the other sequences of the batch draft as much as this one. Where
a step's cost grows with its rows, as in large batches on a CPU, nothing is drafted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from weakref import ref

from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.drafting.prompt_lookup import Lookup
from sglc.runtime.engine.drafting.transition_history import LEVELS, WIDTHS, Rates, TransitionHistory
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

LONGEST = 24
"""Most tokens of a draft."""
AHEAD = 3
"""Rows over which the price of one more row is taken, because costs rise in steps."""
LEAST_GAIN = 0.03
"""Drafts that gain less than this share of a step are not worth the noise."""
UNSTABLE = 64
"""Tokens before a hole that may change while it is filled, as text is tokenised jointly over its start."""
GUESS_SECONDS = 1e-4
"""Seconds that guessing takes for one sequence, about. Where drafts gain less on average, the hole gets
none."""
HOPE = 0.05
"""Seconds that the drafts of a step are assumed to save, before anything is measured."""
TRIED, RESTED, RARE = 8, 2, 8
"""There, guesses are made for so many requests of one fill, and then so many requests go without for each
sequence of a step. One fill in so many begins with guesses."""
MOST_HOLES = 64
"""Holes with a transition history; the least recently filled is evicted first. Each takes 4 MB at most."""

_LENGTHS = (2, 3, 4, 6, 9, 14, 23)
"""Upper ends of the classes of matches by their length; longer ones are a class of their own."""
_CLASS = tuple(next((i for i, end in enumerate(_LENGTHS) if n <= end), len(_LENGTHS)) for n in range(64))
_FRESH = len(_LENGTHS) + 1
"""The first of the kinds of matches that end in forced text: a value begins, and may be any."""
_SINGLE = 2 * _FRESH
"""The first of three kinds of matches of one token."""
_HISTORY = _SINGLE + 3
"""The first of the kinds from the history: ten by their probability, for each key of a position and each
width class."""
_SURE = _HISTORY + 10 * LEVELS * WIDTHS
"""Text that follows from the token before it."""
_COVERED = _SURE + 1
"""Forced text that longer tokens may cover."""
_BELIEFS = (
    *(0.35, 0.45, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9),
    *(0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.75),
    *(0.15, 0.3, 0.5),
    *[(tenth + 0.5) / 10 for tenth in range(10)] * LEVELS,
    *[(tenth + 2.0) / 11 for tenth in range(10)] * LEVELS,
    *[(tenth + 4.0) / 13.5 for tenth in range(10)] * LEVELS,
    0.95,
    0.85,
)
"""By kind: how likely a guess is to come, before anything is known."""


class Balance:
    """The measured gain of guessing in one hole, over all of its fills."""

    __slots__ = ("_fills", "gain")

    def __init__(self) -> None:
        self.gain = HOPE
        """Seconds that the drafts of a step save: a moving average over all guesses."""
        self._fills = 0

    def enter(self, gain: float) -> None:
        """A guess promised to save so many seconds; 0.0 if nothing was sent."""
        self.gain += (gain - self.gain) / 16

    def begin(self, sequences: int) -> int:
        """Of how many requests a fill is to think that guesses were made for them already."""
        self._fills += 1
        return 0 if self._fills % RARE == 0 and self.is_low(sequences) else TRIED

    def is_low(self, sequences: int) -> bool:
        """Whether guesses for so many sequences of a step take longer than they save."""
        return self.gain < GUESS_SECONDS * sequences


class Drafting:
    """What the holes of a process share: costs of steps, acceptance rates, transition histories.

    `encode` gives the model's own tokens of a text.
    """

    def __init__(
        self, cost: StepCost, vocabulary: Vocabulary, encode: Callable[[str], Sequence[int]]
    ) -> None:
        self.cost = cost
        self.vocabulary = vocabulary
        self._encode = encode
        self._rates = Rates(_BELIEFS)
        self._holes: OrderedDict[tuple[ref[object], str], tuple[TransitionHistory, Rates, Balance]] = (
            OrderedDict()
        )

    def hole(self, name: str, constraint: object, lookup: Lookup) -> Drafts:
        """Drafts of one fill of a hole. `lookup` is that of its conversation."""
        key = ref(constraint), name
        found = self._holes.get(key)
        if found is None:
            while len(self._holes) >= MOST_HOLES:
                self._holes.popitem(last=False)
            found = self._holes[key] = TransitionHistory(), self._rates.successor(), Balance()
        self._holes.move_to_end(key)
        return Drafts(self, lookup, *found)

    def observe(self, kind: int, came: bool) -> None:
        """A draft of a kind came true or not, in whichever hole."""
        self._rates.observe(kind, came)

    def run(self, history: TransitionHistory, matcher: Matcher, last: int) -> tuple[tuple[int, ...], bytes]:
        """Tokens and bytes that are forced after the token `last`, which is the first of the tokens.

        The model's tokenizer may join the forced text to that token: then the first is another one. A blank
        at the end is left out where longer tokens begin with it.
        """
        key = (matcher.config, last)
        found = history.runs.get(key)
        if found is None:
            found = self._run(matcher.forced(), last)
            if len(history.runs) >= 4096:
                history.runs.clear()
            history.runs[key] = found
        return found

    def _run(self, data: bytes, last: int) -> tuple[tuple[int, ...], bytes]:
        token_bytes = self.vocabulary.token_bytes
        before = token_bytes[last]
        if not data or before is None:
            return (), b""
        try:
            text = (before + data).decode()
            tokens = tuple(self._encode(text))
        except ValueError:  # a character that is not whole, or that the tokenizer cannot write
            return (), b""
        end = token_bytes[tokens[-1]] or b""
        if end.isspace() and len(end) <= len(data) and self.vocabulary.trie.extends(end):
            tokens, data = tokens[:-1], data[: -len(end)]
        return (tokens[: LONGEST + 1], data) if data else ((), b"")


class ForcedDrafts:
    """The drafts where nothing is guessed: tokens that forced text most likely becomes. As `Drafts`."""

    __slots__ = ("_base", "_sent", "saved")

    def __init__(self) -> None:
        self._base = 0
        self._sent: tuple[int, ...] = ()
        self.saved = 0
        """Requests that no step was needed for, if the engine looks at drafts."""

    def propose(self, tokens: list[int], value: Matcher, forced: tuple[int, ...] = ()) -> tuple[int, ...]:
        """`forced`, where the answer is not there already."""
        since = len(tokens) - self._base
        if self._sent and 0 <= since <= len(self._sent) and tuple(tokens[self._base :]) == self._sent[:since]:
            self.saved += 1
            return ()
        self._base, self._sent = len(tokens), forced
        return forced

    def finish(self, tokens: Sequence[int], ended: str) -> None:
        """Nothing is learned."""


class Drafts:
    """Drafts of one fill of a hole; see `propose`."""

    __slots__ = (
        "_answered",
        "_balance",
        "_base",
        "_computed",
        "_drafted",
        "_drafting",
        "_forced",
        "_gains",
        "_hint",
        "_history",
        "_kinds",
        "_lookup",
        "_place",
        "_rates",
        "_rest",
        "_rested_at",
        "_sent",
        "_stable",
        "_tried",
        "_yield",
        "accepted",
        "drafted",
        "saved",
    )

    def __init__(
        self, drafting: Drafting, lookup: Lookup, history: TransitionHistory, rates: Rates, balance: Balance
    ) -> None:
        self._drafting = drafting
        self._balance = balance
        self._tried = balance.begin(max(1, round(drafting.cost.sequences)))
        """Guesses that were made in a row though they are not worth it; no more than `TRIED` are."""
        self._rest = 0
        """So many requests go without guesses."""
        self._rested_at = 0
        """Sequences of a step when that was decided."""
        self._lookup = lookup
        self._history = history
        self._rates = rates
        self._place: tuple[int, int, int, int] | None = None
        """Configuration, two tokens before and number of tokens where the model was asked last."""
        self._base = 0
        """Number of tokens before the draft."""
        self._drafted: list[int] = []
        self._kinds: list[int] = []
        self._gains: list[float] = []
        """By token of the draft: the chance that the logits after it are asked for."""
        self._sent = 0
        """How many tokens of the draft the engine was given."""
        self._computed = -1
        self._answered = 0
        """Requests since the last step."""
        self._yield = 1.0
        """Requests that one step answers: a moving average."""
        self._hint = -1
        self._forced = True
        """Whether the last token was not drawn but forced, or stands before the hole."""
        self._stable = 0
        """So many tokens stay as they were when the hole was first asked for."""
        self.drafted = 0
        """Tokens that were sent as drafts."""
        self.accepted = 0
        """Those that came."""
        self.saved = 0
        """Requests that no step was needed for."""

    def propose(self, tokens: list[int], value: Matcher, forced: tuple[int, ...] = ()) -> tuple[int, ...]:
        """Drafts to send with the request for the logits after `tokens`, where the value is at `value`.

        They never go beyond the value's end: nothing is asked for there. Empty where the answer is there
        already, and where drafts are not worth their rows. `forced` is what certain text most likely becomes
        though other tokens may cover it: it is sent in any case, before what is guessed.
        """
        size = len(tokens)
        cost = self._drafting.cost
        if self._rest:
            return self._resting(tokens, forced)
        self._learn(tokens)
        self._forced = self._place is None or size - self._place[3] != 1
        self._place = (value.config, tokens[-2] if size > 1 else -1, tokens[-1], size)
        if self._is_answered(tokens):
            return ()
        self._settle(tokens)
        batch = max(1, round(cost.sequences))
        if not self._balance.is_low(batch):
            self._tried = TRIED
        elif self._tried < TRIED:
            self._tried += 1
        else:
            self._leave(batch)
            return self._send_forced(size, forced)
        step = cost.estimate(batch)
        self._base, self._sent = size, 0
        self._drafted, self._kinds, self._gains = [], [], []
        if all(cost.estimate(batch * rows) >= rows * step for rows in (2, 4, 8, 16)):
            self._balance.enter(0.0)
            return self._send_forced(size, forced)  # not even certain tokens would be worth their rows
        pending = 1 if self._computed < 0 else max(1, size - self._computed)
        prices = cost.prices(batch, pending)
        worth = step / self._yield
        self._guess(tokens, value, prices, worth, forced)
        best, most, gain, begun = 0, LEAST_GAIN * step, 0.0, 0
        for count, chance in enumerate(self._gains[:LONGEST], 1):
            if chance:
                # What is saved is the step that would compute these tokens; forced ones need rows anyway.
                gain += chance * (worth + cost.estimate(batch * (count - begun)) - step)
                begun = count
                net = gain - prices[count] + prices[0]
                if net > most:
                    best, most = count, net
        self._balance.enter(most if best else 0.0)
        self._sent = best = max(best, len(forced))
        self.drafted += best
        return tuple(self._drafted[:best])

    def _is_answered(self, tokens: list[int]) -> bool:
        """Whether a draft that came true has computed these logits."""
        since = len(tokens) - self._base
        if not 0 <= since <= self._sent or tokens[self._base :] != self._drafted[:since]:
            return False
        self.saved += 1
        self._answered += 1
        return True

    def _resting(self, tokens: list[int], forced: tuple[int, ...]) -> tuple[int, ...]:
        """`propose` while the hole is left alone."""
        self._rest = self._rest - 1 if self._rested_at < 2 * self._drafting.cost.sequences else 0
        if self._is_answered(tokens):
            return ()
        self._settle(tokens)
        return self._send_forced(len(tokens), forced)

    def _send_forced(self, size: int, forced: tuple[int, ...]) -> tuple[int, ...]:
        """Send nothing else."""
        self._base, self._sent = (size, len(forced)) if forced else (0, 0)
        self._drafted, self._kinds = list(forced), [_COVERED] * len(forced)
        self.drafted += len(forced)
        return forced

    def finish(self, tokens: Sequence[int], ended: str) -> None:
        """The value has ended: `complete` after its last token, `end` or `stop` with a token that says so."""
        if ended in ("end", "stop") and self._place is not None and len(tokens) == self._place[3]:
            self._history.learn(*self._place[:3], ())
        else:
            self._learn(tokens)
        self._place = None
        self._settle(tokens)
        self._sent = 0
        self._drafted = []

    def _leave(self, batch: int) -> None:
        """Make no guesses for this hole for a while: they gain nothing in so large a batch."""
        self._tried, self._rest, self._rested_at = 0, RESTED * batch, batch
        self._place, self._base, self._computed = None, 0, -1
        self._sent, self._drafted, self._kinds = 0, [], []

    # -- what came -----------------------------------------------------------------------------------

    def _learn(self, tokens: Sequence[int]) -> None:
        """Record the continuation from the position where the model was asked last."""
        if self._place is not None:
            config, before, last, size = self._place
            if size < len(tokens) and tokens[size - 1] == last:
                self._history.learn(config, before, last, tuple(tokens[size:]))

    def _settle(self, tokens: Sequence[int]) -> None:
        """Compare the draft with what came."""
        came = tokens[self._base :] if self._base <= len(tokens) else ()
        same = 0
        observe = self._drafting.observe
        for drafted, token, kind in zip(self._drafted, came, self._kinds, strict=False):
            right = drafted == token
            self._rates.observe(kind, right)
            observe(kind, right)
            if not right:
                break
            same += 1
        self.accepted += min(same, self._sent)
        self._computed = self._base + min(same, self._sent) if self._base else -1
        if self._base:
            self._yield += (1 + self._answered - self._yield) / 8
        self._answered = 0

    # -- what may come -------------------------------------------------------------------------------

    def _guess(
        self,
        tokens: list[int],
        value: Matcher,
        prices: list[float],
        worth: float,
        forced: tuple[int, ...],
    ) -> None:
        """Fill the draft with `forced` and what is likely after it, until it is not worth its rows any more.

        `prices` are costs of steps with so many drafts, `worth` is what a saved request is worth. The first
        guess is made at any price: it is compared with what comes, and tells how good guesses are.
        """
        lookup, history, rate, drafting = self._lookup, self._history, self._rates.rate, self._drafting
        drafted, kinds, gains = self._drafted, self._kinds, self._gains
        size = len(tokens)
        lookup.follow(tokens, self._stable)
        self._stable = self._stable or max(0, size - UNSTABLE)
        twin = value.clone()
        at, matched = lookup.find(self._hint)
        fresh = _FRESH if self._forced else 0
        alone = -1
        if at < 0 and not fresh:
            at, alone = lookup.single()
            matched = 1
        before, last, chance = tokens[-2] if size > 1 else -1, tokens[-1], 1.0
        for token in forced:
            twin.accept(token)
            drafted.append(token)
            kinds.append(_COVERED)
            chance *= rate[_COVERED]
            gains.append(chance)
            at = at + 1 if 0 <= at < size and token == lookup[at] else -1
            alone, matched, fresh = -1, min(matched + 1, 63), _FRESH
            before, last = last, token
        while (count := len(drafted)) < LONGEST and (
            not count or chance * worth > (prices[count + AHEAD] - prices[count]) / AHEAD
        ):
            options: list[tuple[float, int, tuple[int, ...]]] = []
            learned = history.best(twin.config, before, last)
            if learned is not None:
                level = learned[2] + LEVELS * history.narrowness(twin)
                kind = _HISTORY + 10 * level + min(9, int(learned[1] * 10))
                options.append((rate[kind], kind, learned[0]))
            if at >= 0:
                kind = fresh + _CLASS[matched] if alone < 0 else _SINGLE + alone
                options.append((rate[kind], kind, (lookup[at] if at < size else drafted[at - size],)))
                options.sort(reverse=True)
            continuation = self._take(options, twin, chance)
            if not continuation:
                break  # nothing is known to come, or the value's end is likelier than any token
            chance = self._gains[-1]
            run, data = drafting.run(history, twin, drafted[-1])
            alone, fresh = -1, _FRESH if data else 0
            if data:
                twin.accept_bytes(data)
                drafted[-1:] = run
                chance *= rate[_SURE]
                kinds[:] = (kinds + [_SURE] * len(run))[: len(drafted)]
                gains[:] = (gains[:-1] + [0.0] * len(run))[: len(drafted) - 1] + [chance]
            if twin.is_complete():
                gains[-1] = 0.0
                break
            for token in drafted[count:]:
                if at >= 0:
                    at = at + 1 if token == (lookup[at] if at < size else drafted[at - size]) else -1
                matched = min(matched + 1, 63)
            before = drafted[-2] if len(drafted) > 1 else last
            last = drafted[-1]
        self._hint = at

    def _take(
        self, options: list[tuple[float, int, tuple[int, ...]]], twin: Matcher, chance: float
    ) -> tuple[int, ...]:
        """Draft the first legal continuation, the most likely first; the empty one if none is legal."""
        for likely, kind, continuation in options:
            if not continuation:
                break
            if not twin.accept(continuation[0]):
                continue
            size = 1
            while size < len(continuation) and twin.accept(continuation[size]):
                size += 1
            continuation = continuation[:size]
            self._drafted += continuation
            self._kinds += [kind] + [_SURE] * (len(continuation) - 1)
            self._gains += [0.0] * (len(continuation) - 1)
            self._gains.append(chance * likely * self._rates.rate[_SURE] ** (len(continuation) - 1))
            return continuation
        return ()
