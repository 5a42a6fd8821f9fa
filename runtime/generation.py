"""Filling one hole: tokens are drawn under the mask until the value is complete.

Two matchers run side by side. One follows the value's own language; the other, which makes the masks,
follows value, stop text, anything, so that a token may straddle the value's end. What is certain is never
asked of the model: bytes that are the only continuation are appended as tokens, and a value that is complete
and cannot go on ends without a forward pass.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Callable
from time import thread_time_ns

import numpy as np

from sglc.runtime.conversation import Conversation
from sglc.runtime.engine.drafts import Drafting, Drafts
from sglc.runtime.engine.draw import Draw
from sglc.runtime.engine.errors import EngineError, language_error
from sglc.runtime.engine.legal import NextTokens
from sglc.runtime.engine.sampler import LegalTokens, NothingAllowed, Sampled
from sglc.runtime.errors import SglError
from sglc.runtime.hole import Budget, Constraints, HoleRequest, HoleResult, Observer, Timing
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary import Vocabulary
from sglc.runtime.tracker import Tracker

HEALED_BYTES = 24
"""Tokens longer than this are never withdrawn for healing."""
WATCHED_ROOM = 4096
"""From this many free tokens of context window on, a hole without a budget is not watched."""


class _Pieces:
    """Hands the value's text on, whole characters at a time, as far as it is certain."""

    def __init__(self, observer: Observer, skip: int) -> None:
        self._observer = observer
        self._sent = skip
        """So many bytes were handed on; they are whole characters."""

    def send(self, data: bytearray, upto: int, forced: bool) -> None:
        if upto > self._sent:
            text, size = utf_8_decode(data[self._sent : upto], "strict", False)
            self._sent += size
            if text:
                self._observer.piece(text, forced)


class Filling:
    """One hole being filled. Made anew for each; `run` is called once."""

    def __init__(
        self,
        conversation: Conversation,
        vocabulary: Vocabulary,
        constraints: Constraints,
        request: HoleRequest,
        observer: Observer,
        timing: Timing,
        context_length: int,
        poll: Callable[[], None],
        drafting: Drafting | None = None,
    ) -> None:
        self.conversation = conversation
        self.vocabulary = vocabulary
        self.request = request
        self.observer = observer
        self.timing = timing
        self.context_length = context_length
        self.poll = poll
        self._constraints = constraints
        self._drafting = drafting
        self._drafts: Drafts | None = None
        self.result = HoleResult("")
        self._prefix = b""
        self._base = 0
        self._tracker: Tracker | None = None
        self._question = Draw(request.sampling, request.seed)

    async def run(self) -> HoleResult:
        """Generate the value and append its text to the conversation."""
        request = self.request
        conversation = self.conversation
        value = self._constraints.value(request).matcher(self.vocabulary)
        if value.is_dead():
            raise SglError("Unsatisfiable", f"no value of hole `{request.name}` is left to choose")
        data = self._certain(value)
        if data is not None:
            return self._write_certain(data)
        conversation.start()
        branch = conversation.sync()
        self._base = len(branch.tokens)
        if self._base >= self.context_length:
            raise SglError(
                "Budget",
                f"the conversation before hole `{request.name}` has {self._base} tokens, "
                f"the model's context window {self.context_length}",
                hint="shorten what is inserted, or use a model with a larger context window",
            )
        masks = self._constraints.hole(request).matcher(self.vocabulary) if request.stops else value
        healed = self._heal()
        if healed is not None:
            value, masks = healed
            branch.rollback(self._base - 1)
            self._base -= 1
        self._tracker = Tracker(value, request.stops)
        if self._drafting is not None:
            constraint = self._constraints.value(request, self._prefix)
            self._drafts = self._drafting.hole(request.name, constraint, conversation.lookup)
        self.result.prompt = self._base
        try:
            with branch.apart() as self.result.work:
                return await self._loop(self._tracker, masks, healed is not None)
        finally:
            self.result.picking = self._question.picking
            self.result.first = self._question.came

    @property
    def partial(self) -> str:
        """The value's text as far as it has been written."""
        if self._tracker is None:
            return ""
        return bytes(self._tracker.data[len(self._prefix) :]).decode("utf-8", "ignore")

    # -- beginning -----------------------------------------------------------------------------------

    def _certain(self, value: Matcher) -> bytes | None:
        """The value's bytes where there is only one value."""
        probe = value.clone()
        data = b""
        while not probe.is_complete():
            run = probe.forced()
            if not run:
                return None
            data += run
            probe.accept_bytes(run)
        return data

    def _write_certain(self, data: bytes) -> HoleResult:
        budget = self.request.budget
        if budget is not None and not self._fits(0, data, budget):
            raise self._truncated(budget)
        tokens = self.result.forced = self._price(data)
        self.observer.piece(data.decode(), True)
        return self._finish(data, "complete", tokens)

    def _heal(self) -> tuple[Matcher, Matcher] | None:
        """Matchers that begin with the last token's bytes, if longer legal tokens begin with them too."""
        prefix = self.conversation.healable()
        if not prefix or len(prefix) > HEALED_BYTES or not self.vocabulary.trie.extends(prefix):
            return None
        hole = self._constraints.hole(self.request, prefix).matcher(self.vocabulary)
        if hole.longest() <= len(prefix):
            return None
        self._prefix = prefix
        if not self.request.stops:
            return hole, hole
        return self._constraints.value(self.request, prefix).matcher(self.vocabulary), hole

    def _limit(self) -> Budget | None:
        """The tightest bound on the tokens of this hole, the context window included."""
        budget = self.request.budget
        room = self.context_length - self._base
        if budget is not None and budget.tokens <= room:
            return budget
        if budget is not None or room < WATCHED_ROOM:
            return Budget(room, "the model's context window")
        return None

    def _price(self, data: bytes) -> int:
        """Tokens of a piece of text on its own; of a broken character at its start one a byte."""
        encoder = self.conversation.encoder
        for start in range(min(4, len(data))):
            try:
                text = data[start:].decode()
            except UnicodeDecodeError:
                continue
            return start + len(encoder.encode(text)) if encoder is not None else len(data)
        return len(data)

    def _fits(self, used: int, closing: bytes, limit: Budget) -> bool:
        room = limit.tokens - used
        return len(closing) <= room or (room >= 0 and self._price(closing) <= room)

    def _truncated(self, limit: Budget) -> SglError:
        return SglError(
            "Truncated",
            f"hole `{self.request.name}` cannot be completed within {limit.tokens} tokens ({limit.source})",
            partial="",
            fatal=limit.fatal,
        )

    # -- the loop ------------------------------------------------------------------------------------

    async def _loop(self, tracker: Tracker, masks: Matcher, healing: bool) -> HoleResult:
        """Draw tokens until the value ends.

        `masks` makes the masks; it is the tracker's own matcher where the hole has no stops. Where a budget
        holds, this is kept true before every token: what was used and the shortest completion fit into it. A
        token that would break it is not taken; the completion is written instead.
        """
        request, conversation, vocabulary = self.request, self.conversation, self.vocabulary
        branch, skip, token_bytes = conversation.branch, len(self._prefix), vocabulary.token_bytes
        same = masks is tracker.value
        ends_freely = request.end_of_message or not request.stops
        end_ids = frozenset(i for i in vocabulary.end_ids if i < vocabulary.size)
        pieces = _Pieces(self.observer, skip)
        legal = NextTokens(masks, end_ids)
        question = self._question
        question.legal = legal
        limit = self._limit()
        closing = b""
        if limit is not None:
            closing = tracker.value.shortest_completion()
            if not self._fits(0, closing[skip:], limit):
                raise self._truncated(limit)
        before: Tracker | None = None
        position, hold_forced = 0, healing
        clock = thread_time_ns()
        while True:
            value = tracker.value
            settled = not tracker.candidates
            if settled and value.is_complete():
                return self._finish(tracker.data[skip:], "complete", len(branch.tokens) - self._base)
            if limit is not None:
                before = tracker.copy()
            used = len(branch.tokens) - self._base
            if settled and not hold_forced:
                run = value.forced()
                if run:
                    appended, hold_forced = self._append_forced(tracker, masks, same, run)
                    if appended:
                        if limit is not None and before is not None:
                            rest = closing[appended:]
                            if not self._fits(len(branch.tokens) - self._base, rest, limit):
                                return self._close_out(before, closing, pieces, used)
                            closing = rest
                        pieces.send(tracker.data, tracker.certain(), True)
                        continue
            hold_forced = False
            used = len(branch.tokens) - self._base
            if limit is not None and before is not None and used >= limit.tokens:
                return self._close_out(before, closing, pieces, used)
            legal.may_end = ends_freely and settled and value.is_accepting()
            self.poll()
            drafts = self._propose(tracker)
            pause = thread_time_ns()
            try:
                if request.answer is None:
                    question.position, question.scored = position, self.observer.detailed
                    before_picking = question.picking
                    drawn = await branch.draw(question, drafts)
                    resume = thread_time_ns() - question.picking + before_picking
                else:
                    logits = await self._logits(drafts)
                    resume = thread_time_ns()
                    logits = request.answer.adjust(logits, self._prefix, bytes(tracker.data))
                    drawn = self._draw(logits, legal, position)
            except EngineError as fault:
                raise language_error(fault, self.partial) from fault
            except NothingAllowed:
                partial = self.partial
                if not legal.count():
                    message = f"no token of this model can go on in hole `{request.name}`"
                    hint = _missing_hint(self.vocabulary)
                    raise SglError("Unsupported", message, partial=partial, hint=hint) from None
                message = f"the model gives no legal token of hole `{request.name}` any probability"
                raise SglError("Backend", message, partial=partial) from None
            token = drawn.token
            position += 1
            result = self.result
            result.sampled += 1
            result.logprob += drawn.logprob
            ending = token in end_ids
            data = b"" if ending else token_bytes[token] or b""
            if self.observer.detailed:
                self.observer.token(token, data, drawn.logprob, legal.count())
            if ending:
                self._note(clock, pause, resume)
                return self._finish(tracker.data[skip:], "end", used)
            written = len(tracker.data)
            end_at = tracker.feed(data, token)
            if end_at is not None:
                self._note(clock, pause, resume)
                pieces.send(tracker.data, end_at, False)
                return self._finish(tracker.data[skip:end_at], "stop", used + (end_at > written))
            if limit is not None and before is not None:
                after = tracker.value.shortest_completion()
                if not self._fits(used + 1, after, limit):
                    return self._close_out(before, closing, pieces, used)
                closing = after
            branch.append([token])
            if not same:
                masks.accept(token)
            pieces.send(tracker.data, tracker.certain(), False)
            clock = self._note(clock, pause, resume)

    def _propose(self, tracker: Tracker) -> tuple[int, ...]:
        """Tokens to compute with the request for the next logits; none once a stop has begun."""
        if self._drafts is None or tracker.candidates:
            return ()
        return self._drafts.propose(self.conversation.branch.tokens, tracker.value)

    async def _logits(self, drafts: tuple[int, ...]) -> np.ndarray:
        """Logits after what is written so far."""
        try:
            logits = await self.conversation.branch.logits(drafts)
        except EngineError as fault:
            raise language_error(fault, self.partial) from fault
        return logits

    def _draw(self, logits: np.ndarray, legal: LegalTokens, position: int) -> Sampled:
        """The token at a position of the hole's draws, from logits. Raises NothingAllowed."""
        question = self._question
        question.legal, question.position, question.scored = legal, position, self.observer.detailed
        return question.of(logits, self.conversation.branch.best if self.request.answer is None else -1)

    def _note(self, clock: int, pause: int, resume: int) -> int:
        """Record the time of one token outside the forward pass; the clock for the next."""
        now = thread_time_ns()
        self.timing.outside.append(pause - clock + now - resume)
        return now

    def _append_forced(self, tracker: Tracker, masks: Matcher, same: bool, run: bytes) -> tuple[int, bool]:
        """Append certain bytes as canonical tokens.

        The number of bytes written, and whether the rest is held back: a blank at the end that may be the
        beginning of a longer token is left for the model to write.
        """
        skip = len(self._prefix)
        known = len(tracker.data)
        whole = bytes(tracker.data) + run
        if len(whole) < skip:
            return 0, False
        text = whole[skip:].decode("utf-8", "ignore")
        cut = skip + len(text.encode())
        if cut <= known:
            return 0, False
        run = whole[known:cut]
        branch = self.conversation.branch
        size = len(branch.tokens)
        self.conversation.sync(text)
        held = False
        last = self.vocabulary.token_bytes[branch.tokens[-1]] or b""
        if last.isspace() and len(last) <= len(run) and self.vocabulary.trie.extends(last):
            probe = masks.clone()
            probe.accept_bytes(run[: len(run) - len(last)])
            held = probe.longest() > len(last)
            if held:
                run = run[: len(run) - len(last)]
                branch.rollback(len(branch.tokens) - 1)
        self.result.forced += max(0, len(branch.tokens) - size)
        if run:
            tracker.value.accept_bytes(run)
            if not same:
                masks.accept_bytes(run)
            tracker.data += run
        return len(run), held

    def _close_out(self, tracker: Tracker, closing: bytes, pieces: _Pieces, used: int) -> HoleResult:
        """Complete the value along its shortest completion: the budget is nearly spent."""
        pieces.send(tracker.data, tracker.certain(), False)
        tracker.data += closing
        pieces.send(tracker.data, len(tracker.data), True)
        price = self._price(closing)
        self.result.forced += price
        return self._finish(tracker.data[len(self._prefix) :], "budget", used + price)

    def _finish(self, data: bytes | bytearray, ended: str, tokens: int) -> HoleResult:
        result, drafts = self.result, self._drafts
        if drafts is not None:
            drafts.finish(self.conversation.branch.tokens, ended)
            result.saved = drafts.saved
        text = bytes(data).decode()
        self.conversation.text(text)
        result.text = text
        result.ended = ended
        result.tokens = max(0, tokens)
        return result


def _missing_hint(vocabulary: Vocabulary) -> str:
    """What the tokenizer cannot write at all, for the message about a constraint that needs it."""
    missing = sorted(vocabulary.missing_bytes())
    shown = ", ".join(repr(chr(byte)) if 0x20 < byte < 0x7F else f"{byte:#04x}" for byte in missing[:8])
    more = ", …" if len(missing) > 8 else ""
    return f"its tokenizer has no token with {shown}{more}; use another model" if missing else ""
