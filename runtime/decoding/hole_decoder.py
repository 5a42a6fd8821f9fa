"""Decoding one hole: tokens are sampled under the mask until the value is complete.

Two matchers run side by side. One follows the value's own language. The other makes the masks. It follows the
value, the stop text and then any text, so that one token may write the value's end and what comes behind it.
Certain text costs no forward pass. Bytes that are the only continuation are appended as tokens, as far as no
later text can change their tokenisation (see `seams`). A value that is complete and cannot go on ends at
once.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Callable
from time import thread_time_ns

import numpy as np

from sglc.runtime.decoding.canonical import Tokens
from sglc.runtime.decoding.conversation import Conversation
from sglc.runtime.decoding.requests import (
    Budget,
    Constraints,
    HoleRequest,
    HoleResult,
    Observer,
    PathScores,
    Timing,
)
from sglc.runtime.decoding.seams import Seams
from sglc.runtime.decoding.stop_tracker import StopTracker
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.engine.drafting.drafts import Drafting, Drafts, ForcedDrafts
from sglc.runtime.engine.sampling.legal import NextTokens
from sglc.runtime.engine.sampling.sampler import NothingAllowed, Sampled
from sglc.runtime.engine.sampling.sampling_request import SamplingRequest
from sglc.runtime.errors import SglError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

FEW = 32
"""At most so many legal tokens are checked one by one before one is drawn, where limits shape the draw."""
WATCHED_ROOM = 4096
"""From this many free tokens of context window on, a hole without a budget is not watched."""


class _Pieces:
    """Reports the value's text to the observer, in whole characters, as far as it is certain."""

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


class HoleDecoder:
    """Decodes one hole. One object serves one fill: `run` is called once."""

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
        self._drafts: Drafts | ForcedDrafts = ForcedDrafts()
        self.result = HoleResult("")
        self.needed = 0
        """With so many tokens as its budget, or more, the hole would have gone as it did so far."""
        self._prefix = b""
        self._base = 0
        """Tokens before those of the value; tokens that are written anew are among them."""
        self._tracker: StopTracker | None = None
        self._sampling_request = SamplingRequest(
            request.sampling,
            request.seed,
            scored=observer.detailed,
            weighed=observer.weighed,
            top=observer.top,
        )
        encoder = conversation.encoder
        self._scores = PathScores()
        self._seams = None if encoder is None else Seams(encoder.canonical, vocabulary)
        self._floor = 0
        """The first token that may be taken back."""
        self._withdrawn = 0
        """Tokens before the hole that are written anew with the value."""
        self._pending: Tokens = ()
        """Tokens that forced text most likely becomes which is left to be drawn."""

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
        self._floor = conversation.floor()
        healed = self._heal(masks)
        if healed is not None:
            value, masks = healed
            if self._withdrawn == self._base:
                conversation.lead()
                branch = conversation.sync()
                self._base += 1
                self._floor += 1
            branch.rollback(self._base - self._withdrawn)
            self._base -= self._withdrawn
        self._tracker = StopTracker(value, request.stops)
        if self._drafting is not None:
            constraint = self._constraints.value(request, self._prefix)
            self._drafts = self._drafting.hole(request.name, constraint, conversation.lookup)
        self.result.prompt = self._base
        try:
            with branch.apart() as self.result.work:
                return await self._loop(self._tracker, masks)
        finally:
            self.result.picking = self._sampling_request.picking
            self.result.first = self._sampling_request.came

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

    def _heal(self, masks: Matcher) -> tuple[Matcher, Matcher] | None:
        """Matchers that begin with the last tokens' text, where these may become others with the value."""
        if self._seams is None:
            return None
        tokens, request, constraints = self.conversation.branch.tokens, self.request, self._constraints

        def behind(prefix: bytes) -> Matcher:
            return constraints.hole(request, prefix).matcher(self.vocabulary)

        count = self._seams.taken_back(tokens, self._floor, masks, behind)
        if not count:
            return None
        self._withdrawn = count
        self._prefix = b"".join(self.vocabulary.token_bytes[token] or b"" for token in tokens[-count:])
        hole = behind(self._prefix)
        if not request.stops:
            return hole, hole
        return constraints.value(request, self._prefix).matcher(self.vocabulary), hole

    def _limit(self) -> Budget | None:
        """The tightest bound on the tokens of this hole, the context window included."""
        budget = self.request.budget
        room = self.context_length - self._base - self._withdrawn
        if budget is not None and budget.tokens <= room:
            return budget
        if budget is not None or room < WATCHED_ROOM:
            return Budget(max(0, room), "the model's context window")
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
        """Whether a text fits behind the tokens that were used. `needed` remembers what that asked for."""
        room = limit.tokens - used
        need = len(closing)
        if need > room >= 0:
            need = self._price(closing)
        return self._has(used + need, limit)

    def _has(self, tokens: int, limit: Budget) -> bool:
        """Whether the limit has so many tokens."""
        enough = tokens <= limit.tokens
        self.needed = max(self.needed, tokens if enough else limit.tokens + 1)
        return enough

    def _truncated(self, limit: Budget) -> SglError:
        return SglError(
            "Truncated",
            f"hole `{self.request.name}` cannot be completed within {limit.tokens} tokens ({limit.source})",
            partial="",
            fatal=limit.fatal,
        )

    # -- the loop ------------------------------------------------------------------------------------

    async def _loop(self, tracker: StopTracker, masks: Matcher) -> HoleResult:
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
        sampling_request = self._sampling_request
        sampling_request.legal = legal
        limit = self._limit()
        closing = b""
        if limit is not None:
            closing = tracker.value.shortest_completion()
            if not self._fits(0, closing[skip:], limit):
                raise self._truncated(limit)
        before: StopTracker | None = None
        position, hold_forced = 0, False
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
                            if not self._fits(
                                len(branch.tokens) - self._base, self._own(tracker, rest), limit
                            ):
                                return self._close_out(before, closing, pieces, used)
                            closing = rest
                        pieces.send(tracker.data, tracker.certain(), True)
                        continue
            hold_forced = False
            used = len(branch.tokens) - self._base
            if limit is not None and before is not None and not self._has(used + 1, limit):
                return self._close_out(before, closing, pieces, used)
            legal.may_end = ends_freely and settled and value.is_accepting()
            self.poll()
            drafts = self._propose(tracker)
            pause, before_picking = thread_time_ns(), sampling_request.picking
            try:
                drawn = await self._drawn(legal, tracker, position, drafts)
                position += 1
                resume = thread_time_ns() - sampling_request.picking + before_picking
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
            result = self.result
            result.sampled += 1
            self._scores = self._scores.after(drawn)
            ending = token in end_ids
            data = b"" if ending else token_bytes[token] or b""
            if self.observer.detailed:
                self.observer.token(drawn, data, legal.count())
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
                more = len(tracker.data) > skip
                if not self._fits(used + more, self._own(tracker, after), limit):
                    return self._close_out(before, closing, pieces, used)
                closing = after
            branch.append([token])
            self._pass_prefix(tracker)
            if not same:
                masks.accept(token)
            pieces.send(tracker.data, tracker.certain(), False)
            clock = self._note(clock, pause, resume)

    async def _drawn(self, legal: NextTokens, tracker: StopTracker, position: int, drafts: Tokens) -> Sampled:
        """The token at a position of the hole's draws.

        What the tokenizer would not write is refused, and the token is drawn among the rest with the same
        noise, which draws it from their distribution. Where nothing is left, what was refused is let in: the
        mask alone decides. Raises NothingAllowed.
        """
        request, sampling_request, branch = self.request, self._sampling_request, self.conversation.branch
        legal.forgive()
        strict = self._seams is not None and self._seams.joins
        if strict and not request.sampling.plain and request.sampling.temperature:
            self._refuse_few(legal, tracker)
        logits = None
        first: Sampled | None = None  # its mask has what the tokenizer would not write
        if request.answer is not None:
            logits = await self._logits(drafts)
            logits = request.answer.adjust(logits, self._prefix, bytes(tracker.data))
        sampling_request.position = position
        while True:
            try:
                if logits is None:
                    drawn = await branch.draw(sampling_request, drafts)
                else:
                    drawn = sampling_request.sample(logits)
            except NothingAllowed:
                if not legal.forgive():
                    raise
                strict = False
                continue
            if not strict or drawn.token in legal.end_ids or self._is_open(drawn.token, legal, tracker):
                return drawn if first is None else drawn._replace(log_mass=first.log_mass, top=first.top)
            first = drawn if first is None else first
            legal.refuse(drawn.token)

    def _is_open(self, token: int, legal: NextTokens, tracker: StopTracker) -> bool:
        """Whether the tokenizer would write a legal text with this token. See `Seams.is_open`."""
        if self._seams is None:
            return True
        start = thread_time_ns()
        found = self._seams.is_open(self._context(), token, legal.matcher, self._ending(tracker))
        self._sampling_request.picking += thread_time_ns() - start
        return found

    def _refuse_few(self, legal: NextTokens, tracker: StopTracker) -> None:
        """Where few tokens are legal, leave out what the tokenizer would not write: limits such as top-k look
        at the tokens that are left. Where many bytes may come next, the mask is not made to count tokens."""
        if legal.matcher.following() <= FEW and legal.matcher.mask_size() <= FEW:
            for token in legal.matcher.allowed().tolist():
                if not self._is_open(token, legal, tracker):
                    legal.refuse(token)

    def _context(self) -> Tokens:
        return Seams.context(self.conversation.branch.tokens, self._floor)

    def _ending(self, tracker: StopTracker) -> Matcher | None:
        """The value's matcher where the model may end the message behind the value."""
        freely = self.request.end_of_message or not self.request.stops
        return tracker.value if freely and not tracker.candidates else None

    def _propose(self, tracker: StopTracker) -> tuple[int, ...]:
        """Tokens to compute with the request for the next logits; none once a stop has begun."""
        pending, self._pending = self._pending, ()
        if tracker.candidates:
            return ()
        return self._drafts.propose(self.conversation.branch.tokens, tracker.value, pending)

    async def _logits(self, drafts: tuple[int, ...]) -> np.ndarray:
        """Logits after what is written so far."""
        try:
            logits = await self.conversation.branch.logits(drafts)
        except EngineError as fault:
            raise language_error(fault, self.partial) from fault
        return logits

    def _note(self, clock: int, pause: int, resume: int) -> int:
        """Record the time of one token outside the forward pass; the clock for the next."""
        now = thread_time_ns()
        self.timing.outside.append(pause - clock + now - resume)
        return now

    def _append_forced(
        self, tracker: StopTracker, masks: Matcher, same: bool, run: bytes
    ) -> tuple[int, bool]:
        """Append certain bytes as canonical tokens.

        The number of bytes written, and whether the rest is held back, as what follows may make other tokens
        of it: then it is left for the model to write.
        """
        behind = tracker.value.clone()
        behind.accept_bytes(run)
        tokens = None
        if self._seams is not None and not behind.is_complete():
            tokens = self._seams.committed(self._context(), run, masks)
        if tokens is None:
            return self._rewrite(tracker, masks, same, run), False
        held = False
        if not tokens and self._seams is not None:
            only = self._seams.only(self._context(), masks, None)
            held = only is None or not run.startswith(self.vocabulary.token_bytes[only] or b"")
            tokens = () if only is None or held else (only,)
        data = b"".join(self.vocabulary.token_bytes[token] or b"" for token in tokens)
        self._write_forced(tracker, masks, same, data, tokens)
        if held and self._seams is not None:
            self._pending = self._seams.pending(self._context(), run, masks)
        return len(data), held

    def _rewrite(self, tracker: StopTracker, masks: Matcher, same: bool, run: bytes) -> int:
        """Append certain bytes, the text before them tokenised anew with them; how many they are."""
        skip, known = len(self._prefix), len(tracker.data)
        whole = bytes(tracker.data) + run
        if len(whole) < skip:
            return 0
        text = whole[skip:].decode("utf-8", "ignore")
        run = whole[known : skip + len(text.encode())]
        if run:
            size = len(self.conversation.branch.tokens)
            self.conversation.sync(text)
            self.result.forced += max(0, len(self.conversation.branch.tokens) - size)
            tracker.value.accept_bytes(run)
            if not same:
                masks.accept_bytes(run)
            tracker.data += run
        return len(run)

    def _write_forced(
        self, tracker: StopTracker, masks: Matcher, same: bool, data: bytes, tokens: Tokens
    ) -> None:
        if data:
            tracker.value.accept_bytes(data)
            if not same:
                masks.accept_bytes(data)
        for token in tokens:
            tracker.data += self.vocabulary.token_bytes[token] or b""
            self.conversation.branch.append([token])
            self.result.forced += not self._pass_prefix(tracker)

    def _pass_prefix(self, tracker: StopTracker) -> bool:
        """Count what is written so far as text before the hole, if it is no more than that."""
        within = len(tracker.data) <= len(self._prefix)
        if within:
            self._base = len(self.conversation.branch.tokens)
        return within

    def _own(self, tracker: StopTracker, rest: bytes) -> bytes:
        """What is part of the value in bytes that follow."""
        return rest[max(0, len(self._prefix) - len(tracker.data)) :]

    def _close_out(self, tracker: StopTracker, closing: bytes, pieces: _Pieces, used: int) -> HoleResult:
        """Complete the value along its shortest completion: the budget is nearly spent."""
        pieces.send(tracker.data, tracker.certain(), False)
        price = self._price(self._own(tracker, closing))
        tracker.data += closing
        pieces.send(tracker.data, len(tracker.data), True)
        self.result.forced += price
        return self._finish(tracker.data[len(self._prefix) :], "budget", used + price)

    def _finish(self, data: bytes | bytearray, ended: str, tokens: int) -> HoleResult:
        result, drafts = self.result, self._drafts
        result.logprob = self._scores.logprob
        result.pressure = self._scores.pressure if self.observer.weighed else None
        if self._tracker is not None:
            drafts.finish(self.conversation.branch.tokens, ended)
            result.saved = min(drafts.saved, result.work.accepted)  # not every engine looks at drafts
        text = bytes(data).decode()
        self.conversation.text(text)
        result.text = text
        result.ended = ended
        result.tokens = max(0, tokens)
        return result


def _missing_hint(vocabulary: Vocabulary) -> str:
    """Text that the tokenizer cannot write at all, for the message about a constraint that needs it."""
    missing = sorted(vocabulary.missing_bytes())
    shown = ", ".join(repr(chr(byte)) if 0x20 < byte < 0x7F else f"{byte:#04x}" for byte in missing[:8])
    more = ", …" if len(missing) > 8 else ""
    return f"its tokenizer has no token with {shown}{more}; use another model" if missing else ""
