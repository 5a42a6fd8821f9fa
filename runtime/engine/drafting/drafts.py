"""Drafts: tokens that may well come next, so that the engine computes them in the same step.

Every token is sampled from the model's own logits. A draft only decides whether these logits are computed
already, so drafts never change the result; a good draft saves a step. Drafts have four sources:

- *prompt lookup*: the text went on elsewhere as it may go on here (see `prompt_lookup`),
- *transition history*: this hole was at this position of its constraint before (see `transition_history`),
- *draft model*: a second model draws the token, where the first two know nothing (see `draft_model`),
- *forced text*: certain once the token before it is. Where a longer token may cover forced text, the token is
  sampled; the most likely tokens are sent in any case, because their rows are needed anyway.

Every draft is checked against the hole's constraint, so no draft is illegal. The acceptance rate of each kind
is measured for each hole. The rate and the cost of a step by its rows (see `cost`) decide how many drafts are
worth their rows. The decision assumes that the other sequences of the batch draft as much as this one. Where
a step's cost grows with its rows, as in large batches on a CPU, nothing is drafted.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from weakref import ref

from sglc.runtime.engine.core.cost import StepCost
from sglc.runtime.engine.core.statistics import DraftCounts
from sglc.runtime.engine.drafting.balance import RESTED, TRIED, Balance
from sglc.runtime.engine.drafting.draft_model import DraftModel, Lookahead, ModelBranch
from sglc.runtime.engine.drafting.kinds import ASKED, BELIEFS, COVERED, MODEL, SOURCES, sibling, source
from sglc.runtime.engine.drafting.place import Option, Place
from sglc.runtime.engine.drafting.prompt_lookup import Lookup
from sglc.runtime.engine.drafting.transition_history import Rates, TransitionHistory
from sglc.runtime.engine.drafting.tree import LONGEST, DraftTree
from sglc.runtime.engine.scheduling.draft import NO_DRAFT, Draft
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

LEAST_GAIN = 0.03
"""Drafts that gain less than this share of a step are not worth the noise."""
UNSTABLE = 64
"""Tokens before a hole that may change while it is filled, as text is tokenised jointly over its start."""
MOST_HOLES = 64
"""Holes with a transition history; the least recently filled is evicted first. Each takes 4 MB at most."""


class Drafting:
    """What the holes of a process share: costs of steps, acceptance rates, transition histories.

    `encode` gives the model's own tokens of a text; `model` is a draft model, if there is one; `trees` says
    whether drafts may be trees, which the engine's executor decides.
    """

    def __init__(
        self,
        cost: StepCost,
        vocabulary: Vocabulary,
        encode: Callable[[str], Sequence[int]],
        model: DraftModel | None = None,
        trees: bool = False,
    ) -> None:
        self.cost = cost
        self.trees = trees
        self.vocabulary = vocabulary
        self.model = model
        self._encode = encode
        self._rates = Rates(BELIEFS)
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


class Drafts:
    """Drafts of one fill of a hole; see `propose`."""

    __slots__ = (
        "_answered",
        "_balance",
        "_base",
        "_catch_up",
        "_computed",
        "_draft",
        "_drafting",
        "_extra",
        "_forced",
        "_history",
        "_kinds",
        "_lookup",
        "_model",
        "_pending_forced",
        "_place",
        "_price",
        "_rates",
        "_read",
        "_requests",
        "_rest",
        "_rested_at",
        "_sent",
        "_spent",
        "_stable",
        "_tree",
        "_tried",
        "_yield",
        "counts",
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
        self._model: ModelBranch | None = None if drafting.model is None else drafting.model.fill()
        self._catch_up = 0.0
        """Seconds in which the draft model reads what it has not read."""
        self._price = 0.0
        """Seconds of a token of the draft model once it has."""
        self._place: tuple[int, int, int, int] | None = None
        """Configuration, two tokens before and number of tokens where the model was asked last."""
        self._base = 0
        """Number of tokens before the draft."""
        self._tree: DraftTree | None = None
        """The draft while it is made, and where the look-up went on behind it."""
        self._read: list[int] | None = None
        """The path of the draft that the draft model has read last; None for none."""
        self._draft = NO_DRAFT
        """What was guessed, the tokens that were sent first."""
        self._kinds: list[int] = []
        self._pending_forced = 0
        """So many tokens of the draft are sent whatever they are worth."""
        self._sent = 0
        """How many tokens of the draft the engine was given."""
        self._computed = -1
        self._requests = 0
        """Tokens that the hole has asked for."""
        self._answered = 0
        """Requests since the last step."""
        self._yield = 1.0
        """Requests that one step answers: a moving average."""
        self._spent = 0.0
        """Seconds that the drafts of the last step took: those of the draft model, and rows."""
        self._extra = 0.0
        """The same as a moving average."""
        self._forced = True
        """Whether the last token was not drawn but forced, or stands before the hole."""
        self._stable = 0
        """So many tokens stay as they were when the hole was first asked for."""
        self.counts = DraftCounts()
        """Tokens that were sent as drafts, and those that came, by source."""
        self.saved = 0
        """Requests that no step was needed for."""

    @property
    def silent(self) -> bool:
        """Whether the draft model is to be asked, by `extend`, for what `propose` did not know."""
        return self._tree is not None and self._tree.silent

    def propose(self, tokens: list[int], value: Matcher, forced: tuple[int, ...] = ()) -> Draft:
        """Drafts to send with the request for the logits after `tokens`, where the value is at `value`.

        They never go beyond the value's end: nothing is asked for there. Empty where the answer is there
        already, and where drafts are not worth their rows. `forced` is what certain text most likely becomes
        though other tokens may cover it: it is sent in any case, before what is guessed. Where `silent` is
        true afterwards, `extend` has the drafts to send instead.
        """
        size = len(tokens)
        cost = self._drafting.cost
        self._requests += 1
        if self._rest:
            return self._resting(tokens, forced)
        self._learn(tokens)
        self._forced = self._place is None or size - self._place[3] != 1
        self._place = (value.config, tokens[-2] if size > 1 else -1, tokens[-1], size)
        if self._is_answered(tokens):
            return NO_DRAFT
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
        if all(cost.estimate(batch * rows) >= rows * step for rows in (2, 4, 8, 16)):
            self._balance.enter(0.0)
            return self._send_forced(size, forced)  # not even certain tokens would be worth their rows
        self._guess(tokens, value, forced, batch)
        return NO_DRAFT if self.silent else self._send()

    async def extend(self, ahead: Lookahead) -> Draft:
        """The draft of the last `propose`, gone on with by the draft model; `ahead` is at the same place."""
        tree, model = self._tree, self._model
        assert tree is not None and model is not None
        with model.hold():
            while tree.silent:
                price = self._price_at(tree.place)
                options = await self._asked(tree, model, ahead)
                if options:
                    self._spent += price
                    self._catch_up = 0.0
                    tree.offer(options)
                else:
                    tree.close()
                tree.go_on(self._defers)
        return self._send()

    async def _asked(self, tree: DraftTree, model: ModelBranch, root: Lookahead) -> list[Option]:
        """The draft model's tokens at the tree's place, each with the forced ones behind it, the best first.

        `root` is where the draft begins. A tree has the next best ones, too, as long as what the better ones
        leave of the chance is worth a row and the draw. None where the value ends by the draft model.
        """
        place, trees = tree.place, self._drafting.trees
        ahead = place.ahead or root
        place.ahead = ahead = ahead.fork() if trees else ahead
        if ahead.ended or not ahead.follow(place.path):
            return []
        first = await model.draw(ahead, several=trees)
        if first is None:
            return []
        self._read = list(place.path)
        rate = self._rates.rate
        kind = MODEL + min(9, int(10 * math.exp(first.logprob)))
        options: list[Option] = []
        given = ahead.fork().take(first.token) if trees else ahead.take(first.token)
        if given:
            options.append((rate[kind], kind, tuple(given)))
        else:
            self._observe(ASKED, False)  # the value ends here by the draft model: no request is saved
        left, drawn = 1.0 - rate[kind], [first.token]
        value, price = place.chance * tree.worth, tree.row + model.model.again
        while trees and left * value > price and len(tree.tokens) + len(drawn) < LONGEST:
            other = await model.draw(ahead, drawn)
            if other is None:
                break
            self._spent += model.model.again
            drawn.append(other.token)
            kind = sibling(ahead.lead(first, other))
            given, likely = ahead.fork().take(other.token), min(rate[kind], left)
            if given:
                options.append((likely, kind, tuple(given)))
            if likely * value <= price:
                break
            left -= likely
        return options

    def at(self, tokens: Sequence[int]) -> tuple[str, int] | None:
        """The source of what was drafted behind `tokens`, and the token; None if none was sent for there."""
        since = len(tokens) - self._base
        if not 0 <= since < self._sent:
            return None
        draft = self._draft.first(self._sent)
        path = draft.path(tokens[self._base :])
        node = path[-1] if path else -1
        number = next((n for n in range(node + 1, self._sent) if draft.follows(n, node)), None)
        if len(path) < since or number is None:
            return None
        return SOURCES[source(self._kinds[number])], draft.tokens[number]

    def finish(self, tokens: Sequence[int], ended: str) -> None:
        """The value has ended: `complete` after its last token, `end` or `stop` with a token that says so."""
        if ended in ("end", "stop") and self._place is not None and len(tokens) == self._place[3]:
            self._history.learn(*self._place[:3], ())
        else:
            self._learn(tokens)
        self._place = None
        self._settle(tokens)
        self._balance.end(self._requests)

    def close(self) -> None:
        """The fill is over, however it ended: release what the draft model holds for it."""
        if self._model is not None:
            self._model.close()

    # -- what is sent ----------------------------------------------------------------------------------

    def _is_answered(self, tokens: list[int]) -> bool:
        """Whether a draft that came true has computed these logits."""
        since = len(tokens) - self._base
        if not 0 <= since <= self._sent:
            return False
        if self._draft.parents:
            if len(self._draft.first(self._sent).path(tokens[self._base :])) < since:
                return False
        elif tokens[self._base :] != self._draft.tokens[:since]:
            return False
        self.saved += 1
        self._answered += 1
        return True

    def _resting(self, tokens: list[int], forced: tuple[int, ...]) -> Draft:
        """`propose` while the hole is left alone."""
        self._rest = self._rest - 1 if self._rested_at < 2 * self._drafting.cost.sequences else 0
        if self._is_answered(tokens):
            return NO_DRAFT
        self._settle(tokens)
        return self._send_forced(len(tokens), forced)

    def _send(self) -> Draft:
        """As much of the draft as saves most; at least the forced tokens that it begins with."""
        tree, cost = self._tree, self._drafting.cost
        assert tree is not None
        batch = max(1, round(cost.sequences))
        step, prices = cost.estimate(batch), tree.prices
        best, most, gain, begun = 0, LEAST_GAIN * step, 0.0, 0
        for count, chance in enumerate(tree.gains[:LONGEST], 1):
            if chance:
                # What is saved is the step that would compute these tokens; forced ones need rows anyway.
                gain += chance * (tree.worth + cost.estimate(batch * (count - begun)) - step)
                begun = count
                net = gain - prices[count] + prices[0]
                if net > most:
                    best, most = count, net
        self._balance.enter(max(0.0, most - self._spent) if best else 0.0)
        self._sent = best = max(best, self._pending_forced)
        self._draft, self._kinds = tree.draft(best)
        self._spent += prices[best] - prices[0]
        return self._draft.first(best)

    def _send_forced(self, size: int, forced: tuple[int, ...]) -> Draft:
        """Send nothing else."""
        self._tree = None
        self._base, self._sent = (size, len(forced)) if forced else (0, 0)
        self._draft, self._kinds = Draft(list(forced)), [COVERED] * len(forced)
        return self._draft

    def _leave(self, batch: int) -> None:
        """Make no guesses for this hole for a while: they gain nothing in so large a batch."""
        self._tried, self._rest, self._rested_at = 0, RESTED * batch, batch
        self._place, self._base, self._computed = None, 0, -1
        self._sent, self._draft, self._kinds, self._tree = 0, NO_DRAFT, [], None

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
        compared = self._draft.compared(came)
        for number, right in compared:
            self._observe(self._kinds[number], right)
        path = [number for number, right in compared if right]
        for node, token, kind in self._tree.others if self._tree is not None else ():
            place = 0 if node < 0 else path.index(node) + 1 if node in path else len(came)
            if place < len(came):
                self._observe(kind, came[place] == token)
        for number, kind in enumerate(self._kinds[: self._sent]):
            self.counts.add(SOURCES[source(kind)], number in path)
        same = len([number for number in path if number < self._sent])
        self._computed = self._base + same if self._base else -1
        if self._base:
            self._yield += (1 + self._answered - self._yield) / 8
            self._extra += (self._spent - self._extra) / 8
        self._answered = self._sent = 0
        self._draft, self._kinds = NO_DRAFT, []
        if self._tree is not None:
            self._tree.others.clear()

    def _observe(self, kind: int, came: bool) -> None:
        for each in (kind, ASKED) if MODEL <= kind < ASKED else (kind,):
            self._rates.observe(each, came)
            self._drafting.observe(each, came)

    # -- what may come -------------------------------------------------------------------------------

    def _guess(self, tokens: list[int], value: Matcher, forced: tuple[int, ...], batch: int) -> None:
        """Begin a draft with `forced` and what is likely after it."""
        cost, lookup, size = self._drafting.cost, self._lookup, len(tokens)
        lookup.follow(tokens, self._stable)
        self._stable = self._stable or max(0, size - UNSTABLE)
        step = cost.estimate(batch)
        # A request costs a step without drafts, and with them its share of a step with all that they take.
        worth = min(step, (step + self._extra) / self._yield)
        prices = cost.prices(batch, 1 if self._computed < 0 else max(1, size - self._computed))
        hint = -1 if self._tree is None else self._tree.hint
        history, rates, run, trees = self._history, self._rates, self._drafting.run, self._drafting.trees
        tree = DraftTree(lookup, history, rates, run, value, prices, worth, hint, self._forced, trees)
        self._tree, self._base, self._spent, self._pending_forced = tree, size, 0.0, len(forced)
        self._read = None
        tree.force(forced)
        if self._model is None or not self._model.usable:
            tree.go_on()
            return
        pending = self._model.pending(tokens)
        self._price = self._model.model.price(batch)
        self._catch_up = max(0.0, self._model.model.price(batch, pending) - self._price)
        tree.go_on(self._defers)
        if not tree.silent and len(tree.tokens) == len(forced):
            self._model.model.save(step)

    def _defers(self, known: float) -> bool:
        """Whether the draft model is to be asked at the tree's place, where the best guess has the chance
        `known`.

        What it gains above the guess must exceed the price of its step. What it has not read yet must be
        worth reading for the rest of the hole: as many tokens as the hole has on average, or once more as
        many as it has had. Now and then it is asked in any case, to learn what it is worth.
        """
        tree, model = self._tree, self._model
        assert tree is not None and model is not None
        if not model.usable or len(tree.tokens) >= LONGEST:
            return False
        value, row, price = tree.place.chance * tree.worth, tree.row, self._price_at(tree.place)
        gain = value * self._rates.rate[ASKED] - row - max(0.0, value * known - row) - price
        steps = max(self._balance.requests - self._requests, self._requests) / self._yield
        if gain > 0.0 and gain * max(1.0, steps) >= self._catch_up:
            return True
        return not tree.tokens and model.model.may_explore(price + self._catch_up)

    def _price_at(self, place: Place) -> float:
        """Seconds of a step of the draft model at a place, with what its path has besides what was read
        last."""
        behind, path = len(place.path), place.path
        if not self._drafting.trees or self._read is None:
            return self._price
        while path[:behind] != self._read[:behind]:
            behind -= 1
        assert self._model is not None
        batch = max(1, round(self._drafting.cost.sequences))
        return self._model.model.price(batch, max(1, len(path) - behind))
