"""Decoding a hole whose text a validator judges while it is written.

The validator gets the text so far. It answers `dead` if no text that begins so is valid, `alive` if the text
may go on, and `final` if it may also end here. It is called before a token is kept. A token whose text is
dead is pruned, with all tokens that begin with its dead part, and another is sampled from the rest of the
mask. Where no token is left, the last token is taken back and pruned at its own choice. Work is bounded:
`MOST_PRUNED` prunings without progress, `MOST_BACK` tokens taken back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.conversation_pair import ConversationPair
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.pruned_tokens import MOST_BACK, Choice, Choices, PrunedTokens
from sglc.runtime.decoding.requests import (
    NOTHING_DRAWN,
    Budget,
    Constraints,
    HoleRequest,
    HoleResult,
    Observer,
    PathScores,
    Timing,
)
from sglc.runtime.decoding.stop_tracker import StopTracker
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.engine.drafting.drafts import Drafting
from sglc.runtime.engine.sampling.sampler import NothingAllowed, Sampled
from sglc.runtime.errors import SglError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

ALIVE, DEAD, FINAL = "alive", "dead", "final"
MOST_PRUNED = 4000
"""Most prunings, steps back included, until the text is longer than it ever was."""
SAMPLES = (0xA5, 0x85, 0x95, 0xB5)
"""Bytes inside of characters that are tried before a token that ends in a broken one is taken."""

Ask = Callable[[str], Awaitable[str]]


async def _known(logits: np.ndarray) -> np.ndarray:
    """Logits that were computed already."""
    return logits


class ValidatorObserver(Observer, Protocol):
    """Hears also of what a validator prunes."""

    def pruned(self, token: int, data: bytes, part: bytes) -> None:
        """A token was not taken, because its text is dead from `part` on."""

    def stepped_back(self, data: bytes) -> None:
        """Text was taken back, as nothing could follow it."""


class Verdicts:
    """Answers of the validators of one hole; each text is validated once."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._known: dict[str, str] = {}

    async def of(self, data: bytes) -> str:
        """The verdict on a text. Of a broken character at its end nothing is known yet."""
        text = data.decode("utf-8", "ignore")
        found = self._known.get(text)
        if found is None:
            found = self._known[text] = await self._ask(text)
        return found


@dataclass(slots=True)
class _State:
    """What has been written. `closing` is the shortest completion where a budget holds."""

    tracker: StopTracker
    masks: Matcher
    hold_forced: bool
    scores: PathScores = NOTHING_DRAWN
    closing: bytes = b""


class ValidatedHoleDecoder(HoleDecoder):
    """Decodes a hole and validates every text before it is kept.

    Pieces are observed at the end, because all of the text may be taken back until then.
    """

    def __init__(
        self,
        verdicts: Verdicts,
        conversation: Conversation | ConversationPair,
        vocabulary: Vocabulary,
        constraints: Constraints,
        request: HoleRequest,
        observer: ValidatorObserver,
        timing: Timing,
        context_length: int,
        poll: Callable[[], None],
        drafting: Drafting | None = None,
    ) -> None:
        super().__init__(
            conversation, vocabulary, constraints, request, observer, timing, context_length, poll, drafting
        )
        self.verdicts = verdicts
        self._validator_observer = observer
        self._position = 0
        self._limited: Budget | None = None
        self._last_good: tuple[bytes, int] | None = None
        """The newest text that was good, and the tokens it took."""

    def _certain(self, value: Matcher) -> bytes | None:
        """None: no text is certain before it is validated."""
        return None

    def _written(self, tracker: StopTracker, end: int | None = None) -> bytes:
        return bytes(tracker.data[len(self.text.prefix) : end])

    async def _is_final(self, tracker: StopTracker, end: int | None = None) -> bool:
        return await self.verdicts.of(self._written(tracker, end)) == FINAL

    async def _is_dead(self, tracker: StopTracker) -> bool:
        """Whether no text that begins like this one is good, wherever its value ends."""
        for end in tracker.candidates:
            if await self._is_final(tracker, end):
                return False
        return not tracker.alive or await self.verdicts.of(self._written(tracker)) == DEAD

    async def _try(self, tracker: StopTracker, data: bytes) -> tuple[bytes | None, int | None]:
        """Feed a token character by character: the part of it that is dead, and where the value ended."""
        start = 0
        for stop in (*_characters(data), len(data)):
            if stop == start:
                continue
            end = tracker.feed(data[start:stop])
            if end is not None:
                return (None, end) if await self._is_final(tracker, end) else (data[:stop], None)
            if await self._is_dead(tracker):
                return data[:stop], None
            start = stop
        return None, None

    async def _hopeful(self, tracker: StopTracker) -> bool:
        """Whether some way to complete a broken character at the end of the text is not dead.

        A few are asked: most validators know no difference between most characters. What seems hopeless is
        put off until nothing else is left.
        """
        missing = _missing(tracker.data)
        if not missing or tracker.candidates:
            return True
        ways = [(tracker.value, b"")]
        for _ in range(missing):
            ways = [way for value, data in ways for way in _steps(value, data)]
        base = self._written(tracker)
        for _, data in ways[:4]:
            if await self.verdicts.of(base + data) != DEAD:
                return True
        return False

    # -- the loop ------------------------------------------------------------------------------------

    async def _loop(self) -> HoleResult:
        text = self.text
        state = _State(text.tracker, text.masks, False)
        choices = Choices()
        self._limited = self.room.limit
        if self._limited is not None:
            state.closing = text.tracker.value.shortest_completion()
            if not self.room.fits(0, state.closing[len(text.prefix) :], self._limited):
                raise self.room.truncated(self._limited)
        if await self.verdicts.of(b"") == DEAD:
            raise self._nothing()
        while True:
            text.tracker, text.masks = state.tracker, state.masks
            ended = await self._run_on(state)
            if isinstance(ended, HoleResult):
                return ended
            if ended:
                choice = self._new_choice(state, choices)
            else:
                choice = self._step_back(choices)
            found = await self._choose(choice, choices)
            while found is None:
                choice = self._step_back(choices)
                found = await self._choose(choice, choices)
            if isinstance(found, HoleResult):
                return found
            state = found

    async def _run_on(self, state: _State) -> HoleResult | bool:
        """Write what is forced. The result if the value ended, else whether the text is good so far."""
        tracker = state.tracker
        while not tracker.candidates:
            value = tracker.value
            if value.is_accepting() and await self._is_final(tracker):
                data = self._written(tracker)
                if value.is_complete():
                    return self._end(data, "complete", self._used(), state.scores)
                self._last_good = data, self._used()
            elif value.is_complete():
                return False
            run = b"" if state.hold_forced else value.forced()
            if not run:
                break
            used, known = self._used(), len(tracker.data)
            appended, state.hold_forced = self.text.append_forced(run)
            if not appended:
                break
            if await self._is_dead(tracker):
                return False
            rest = state.closing[appended:]
            own = self.text.own(tracker, rest)
            if self._limited is not None and not self.room.fits(self._used(), own, self._limited):
                return await self._out_of_budget(
                    bytes(tracker.data[:known]), state.closing, used, state.scores
                )
            state.closing = rest
        state.hold_forced = False
        if self._limited is not None and not self.room.has(self._used() + 1, self._limited):
            return await self._out_of_budget(bytes(tracker.data), state.closing, self._used(), state.scores)
        return True

    def _new_choice(self, state: _State, choices: Choices) -> Choice:
        ends = frozenset(i for i in self.vocabulary.end_ids if i < self.vocabulary.size)
        legal = PrunedTokens(state.masks, ends, self.vocabulary)
        choice = Choice(
            state.tracker,
            state.masks,
            legal,
            list(self.conversation.branch.tokens),
            self.text.forced,
            state.scores,
            state.closing,
        )
        choices.add(choice)
        return choice

    def _step_back(self, choices: Choices) -> Choice:
        """Go back to a choice where another token may be chosen."""
        self._count(choices)
        choice = choices.back()
        if choice is None:
            if choices.lost:
                raise self._spent(f"took back {MOST_BACK} tokens")
            raise self._nothing()
        text = self.text
        text.pending = ()
        self._validator_observer.stepped_back(bytes(text.tracker.data[len(choice.tracker.data) :]))
        branch = self.conversation.branch
        shared = 0
        for held, due in zip(branch.tokens, choice.tokens, strict=False):
            if held != due:
                break
            shared += 1
        branch.rollback(shared)
        branch.append(choice.tokens[shared:])
        text.forced = choice.forced
        text.tracker, text.masks = choice.tracker, choice.masks
        text.pass_prefix()
        return choice

    async def _choose(self, choice: Choice, choices: Choices) -> _State | HoleResult | None:
        """Draw tokens until one is good; None where none is left."""
        request, result = self.request, self.result
        branch, token_bytes = self.conversation.branch, self.vocabulary.token_bytes
        legal, tracker = choice.legal, choice.tracker
        settled = not tracker.candidates
        good = settled and tracker.value.is_accepting() and await self._is_final(tracker)
        legal.may_end = self.text.ends_freely and good
        legal.forgive()
        if not legal.count() and not legal.recall():
            return None
        self.poll()
        logits = await self._logits()
        if request.answer is not None:
            logits = request.answer.adjust(logits, self.text.prefix, bytes(tracker.data))
        result.sampled += 1
        strict = True
        while True:
            self.poll()
            try:
                drawn = self._draw(logits, legal)
            except NothingAllowed:
                if legal.recall():
                    continue
                if legal.forgive():
                    strict = False
                    continue
                return None
            token = drawn.token
            if token in legal.end_ids:
                return self._end(self._written(tracker), "end", self._used(), choice.scores.after(drawn))
            if strict and not self.text.is_open(token, legal.matcher):
                legal.refuse(token)
                continue
            data = token_bytes[token] or b""
            trial = tracker.copy()
            dead, end = await self._try(trial, data)
            if dead is not None:
                legal.prune(dead)
                self._count(choices)
                self._validator_observer.pruned(token, data, dead)
                continue
            if not legal.recalled and not await self._hopeful(trial):
                legal.defer(token)
                self._count(choices)
                self._validator_observer.pruned(token, data, data)
                continue
            scores = choice.scores.after(drawn)
            if self.observer.detailed:
                self.observer.token(drawn, data, legal.count(), self._drafts.at(branch.tokens))
                if request.watcher is not None:
                    await request.watcher.token(drawn, data, legal, partial(_known, logits))
            if end is not None:
                used = self._used() + (end > len(tracker.data))
                return self._end(self._written(trial, end), "stop", used, scores)
            closing = b""
            if self._limited is not None:
                closing = trial.value.shortest_completion()
                more = len(trial.data) > len(self.text.prefix)
                own = self.text.own(trial, closing)
                if not self.room.fits(self._used() + more, own, self._limited):
                    return await self._out_of_budget(
                        bytes(tracker.data), choice.closing, self._used(), choice.scores
                    )
            choice.chosen = token
            branch.append([token])
            self.text.tracker = trial
            self.text.pass_prefix()
            masks = trial.value
            if not self.text.same:
                masks = choice.masks.clone()
                masks.accept(token)
            return _State(trial, masks, False, scores, closing)

    async def _logits(self) -> np.ndarray:
        """Logits after what is written so far."""
        try:
            draft = await self._extended(self._propose(), self._position)
            return await self.conversation.branch.logits(draft)
        except EngineError as fault:
            raise language_error(fault, self.partial) from fault

    def _draw(self, logits: np.ndarray, legal: PrunedTokens) -> Sampled:
        """A token with fresh noise: what was refused may have been drawn. Raises NothingAllowed."""
        sampling_request = self._sampling_request
        sampling_request.legal, sampling_request.position = legal, self._position
        self._position += 1
        return sampling_request.sample(
            logits, self.conversation.branch.best if self.request.answer is None else -1
        )

    # -- ends ----------------------------------------------------------------------------------------

    def _used(self) -> int:
        return self.text.used()

    def _end(self, data: bytes, ended: str, tokens: int, scores: PathScores) -> HoleResult:
        self._scores = scores
        if data:
            self.observer.piece(data.decode(), False)
        return self._finish(data, ended, tokens)

    async def _out_of_budget(self, known: bytes, closing: bytes, used: int, scores: PathScores) -> HoleResult:
        """End along the shortest completion if it is good, else where the text was good last.

        `known` is what stands, the bytes of a healed token included, and `used` the tokens of it.
        """
        skip = len(self.text.prefix)
        data = (known + closing)[skip:]
        if await self.verdicts.of(data) == FINAL:
            price = self.text.price(closing[max(0, skip - len(known)) :])
            self.text.forced += price
            return self._end(data, "budget", used + price, scores)
        if self._last_good is not None:
            data, used = self._last_good
            return self._end(data, "budget", used, scores)
        assert self._limited is not None
        raise SglError(
            "Truncated",
            f"the validator of hole `{self.request.name}` accepted no text within {self._limited.tokens} "
            f"tokens ({self._limited.source})",
            partial=self.partial,
            fatal=self._limited.fatal,
        )

    def _count(self, choices: Choices) -> None:
        choices.spent += 1
        if choices.spent > MOST_PRUNED:
            raise self._spent(f"pruned {MOST_PRUNED} beginnings of tokens")

    def _spent(self, what: str) -> SglError:
        return SglError(
            "Budget",
            f"the validator of hole `{self.request.name}` {what} and found no value",
            partial=self.partial,
            hint="let the type say more of what is legal, so that the validator has less to reject",
        )

    def _nothing(self) -> SglError:
        return SglError("Unsatisfiable", f"the validator of hole `{self.request.name}` accepts no value")


def _missing(data: bytes | bytearray) -> int:
    """How many bytes the character at the end of a text lacks."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            length = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return max(0, length - back)
    return 0


def _steps(value: Matcher, data: bytes) -> list[tuple[Matcher, bytes]]:
    """A few ways to go on with a byte inside a character."""
    found: list[tuple[Matcher, bytes]] = []
    for byte in SAMPLES:
        after = value.clone()
        if len(found) < 2 and after.accept_bytes(bytes((byte,))):
            found.append((after, data + bytes((byte,))))
    return found


def _characters(data: bytes) -> list[int]:
    """Offsets at which a character of the text has ended."""
    return [at for at in range(1, len(data)) if data[at] & 0xC0 != 0x80]
