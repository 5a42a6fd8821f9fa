"""Fills holes by a model elsewhere: asks, tells what is certain of the answer, checks it, asks again.

What an answer means is read generously (`readings`), and checked strictly: by the hole's own matcher, which
knows the texts that a retry excluded, and by the hole's validators. A wrong value never passes. Where no
answer is right within MOST_ASKED requests, the error is `Rejected`.
"""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Ending,
    Message,
    Piece,
    Query,
    TextScore,
    Usage,
)
from sglc.runtime.backends.filling.asking import Wrong, fault_of, turns_of
from sglc.runtime.backends.filling.faults import backend_error, refused_error
from sglc.runtime.backends.filling.pieces import LegalPieces
from sglc.runtime.backends.filling.projecting import projection_of, readings, without
from sglc.runtime.backends.filling.together import Gaps, is_worth
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.conversation_pair import ConversationPair
from sglc.runtime.decoding.filling.filler import FillObserver, FillRequest
from sglc.runtime.decoding.filling.scores import Scores
from sglc.runtime.decoding.hole_text import only_value
from sglc.runtime.decoding.requests import COMPILED, Budget, Constraints, HoleRequest, HoleResult, RemoteWork
from sglc.runtime.decoding.room import Room
from sglc.runtime.decoding.validated import FINAL
from sglc.runtime.errors import SglError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.targets.projection.core.enforcement import Projection
from sglc.types.type import Type, TypeTable

MOST_ASKED = 8
"""Most requests for one hole. An answer that is told its fault is mostly right the next time; one that is
wrong so often will be wrong again, and each request is paid for."""
MOST_CHARS = 4 << 20
"""Most characters of one answer. No model writes a million tokens; a server that sends more is broken, or
wants the memory of this process."""
SHOWN_PARTIAL = 2000
"""Most characters of a broken answer that an error keeps, where none of it is legal."""
SEED_BITS = 0x7FFF_FFFF
"""Of a seed what every server takes: a positive number of 32 bits with a sign."""


@dataclass(frozen=True, slots=True, eq=False)
class RemoteFiller:
    """A backend in one run. `projections` are shared by all runs of a program, by the keys of requests.

    `deadline` is a time of the backend's clock at which the run is over; None for never.
    """

    backend: Backend
    constraints: Constraints
    projections: MutableMapping[Hashable, Projection]
    deadline: float | None = None

    @property
    def fuses(self) -> bool:
        """A request for several holes costs little more than one for each."""
        return True

    @property
    def scores_texts(self) -> bool:
        """Whether the backend tells scores of given texts."""
        return self.backend.capabilities.scores

    def begin(
        self, conversation: Conversation | ConversationPair, asked: FillRequest, observer: FillObserver
    ) -> RemoteFill:
        """See `Filler.begin`."""
        assert isinstance(conversation, Conversation)
        name = asked.request.name
        if asked.strategy.strategy != "local" or asked.wanted > 1:
            raise SglError(
                "Unsupported",
                f"hole `{name}` says `decode {asked.strategy}`, which {self.backend.name} cannot do",
                hint="fill it by a model of this machine, or run with --decode local",
            )
        self._check_sampling(asked)
        return RemoteFill(self, conversation, asked, observer)

    def _check_sampling(self, asked: FillRequest) -> None:
        sampling, known = asked.request.sampling, self.backend.capabilities.samplers
        wanted = {"top_k": sampling.top_k, "top_p": sampling.top_p, "min_p": sampling.min_p}
        for option, value in wanted.items():
            if value is not None and option not in known:
                raise SglError(
                    "Unsupported",
                    f"hole `{asked.request.name}` has `{option}`, which {self.backend.name} does not take",
                    hint=f"leave `{option}` out, or fill the hole by another model",
                )

    def projection(self, asked: FillRequest) -> Projection:
        """How a hole is asked for here."""
        return self._known(asked.request, asked.type, asked.table, judged=asked.verdicts is not None)

    def _known(
        self, request: HoleRequest, type: Type | None, table: TypeTable, *, judged: bool = False
    ) -> Projection:
        key = (request.key, request.excluded, judged)
        found = self.projections.get(key)
        if found is None:
            found = projection_of(
                type,
                request.language,
                table,
                self.backend.capabilities,
                excluded=request.excluded,
                validators=judged,
                place=request.name,
            )
            if not request.passing and not request.excluded:
                self._remember(key, found)
        return found

    def _remember(self, key: Hashable, found: Projection) -> None:
        if len(self.projections) >= COMPILED:
            del self.projections[next(iter(self.projections))]
        self.projections[key] = found

    def together(self, asked: FillRequest) -> tuple[Gaps, Projection] | None:
        """How a hole is asked for with those that follow; None where each by itself is guaranteed more."""
        if asked.type is None or not asked.following or asked.request.passing:
            return None
        gaps = Gaps(asked)
        found = self.projections.get(gaps.key)
        if found is None:
            found = gaps.projection(self.backend.capabilities)
            self._remember(gaps.key, found)
        alone = [self.projection(asked).level]
        alone += [self._known(each.request, each.type, asked.table).level for each in asked.following]
        return (gaps, found) if is_worth(found.level, alone) else None

    async def score(self, conversation: Conversation, texts: list[str], follow: str = "") -> Scores:
        """See `Filler.score`. What follows the texts is not asked about: they are scored as they stand."""
        query = scoring_query(conversation, self.deadline)
        try:
            found = await self.backend.score(query, texts)
        except BackendFault as fault:
            raise backend_error(fault, "of options", self.backend.name) from fault
        _check_scores(found, texts, self.backend)
        tokens = tuple(score.tokens for score in found)
        work = RemoteWork(self.backend.name, "exact", requests=1, counted=False)
        return Scores(tokens, tuple(score.logprobs for score in found), remote=work)


def scoring_query(conversation: Conversation, deadline: float | None) -> Query:
    """The conversation so far, its open message begun."""
    *whole, (role, begun) = conversation.messages() or (("", ""),)
    messages = [Message("user" if each == "tool" else each, text) for each, text in whole]
    if role != "assistant" and begun:
        messages.append(Message(role, begun))
        begun = ""
    return Query(tuple(messages), begun, deadline=deadline)


def _check_scores(found: Sequence[TextScore], texts: Sequence[str], backend: Backend) -> None:
    """Raise Backend where scores do not belong to the texts."""
    if len(found) != len(texts) or any(
        not score.logprobs or len(score.logprobs) != len(score.tokens) for score in found
    ):
        fault = BackendFault("protocol", "its scores do not belong to the texts", endpoint=backend.endpoint)
        raise backend_error(fault, "of options", backend.name)


class RemoteFill:
    """One hole while it is filled."""

    def __init__(
        self, filler: RemoteFiller, conversation: Conversation, asked: FillRequest, observer: FillObserver
    ) -> None:
        self._backend = filler.backend
        self._filler = filler
        self._asked = asked
        self._conversation = conversation
        self._observer = observer
        self._deadline = filler.deadline
        request = asked.request
        self._projection = without(filler.projection(asked), request.excluded)
        self._matcher = filler.constraints.value(request).matcher(BYTES)
        self._room = Room(request.name, request.budget, len)
        self._work = RemoteWork(filler.backend.name, self._projection.level)
        self.result = HoleResult("", remote=self._work)
        self.partial = ""

    @property
    def needed(self) -> int:
        """See `Fill.needed`."""
        return self._room.needed

    async def run(self) -> HoleResult:
        """See `Fill.run`."""
        asked = self._asked
        request = asked.request
        if self._matcher.is_dead():
            raise SglError("Unsatisfiable", f"no value of hole `{request.name}` is left to choose")
        data = only_value(self._matcher)
        if data is not None:
            return self._certain(data.decode())
        if asked.known is not None and await self._is_right(asked.known):
            return self._finish(asked.known, LegalPieces(self._matcher))
        text = await self._together()
        if text is not None:
            return self._finish(text, LegalPieces(self._matcher))
        wrong: list[Wrong] = []
        while True:
            pieces = LegalPieces(self._matcher)
            answer, ending = await self._answer(self._query(wrong), pieces)
            text = await self._accepted(answer, ending)
            if text is not None:
                return self._finish(text, pieces)
            self._check_ending(ending)
            reason = await self._reason(answer, pieces)
            wrong.append(Wrong(answer, reason))
            if len(wrong) >= MOST_ASKED:
                message = f"hole `{request.name}`: {self._backend.name} gave no legal answer; {reason}"
                raise SglError("Rejected", message, partial=self.partial)
            self._observer.again(reason)

    # -- asking --------------------------------------------------------------------------------------

    async def _together(self) -> str | None:
        """The text of the hole where it is asked for with those that follow, whose texts are kept for them.
        None where it is asked for by itself, and where the answer has no legal text for it."""
        together = self._filler.together(self._asked)
        if together is None:
            return None
        gaps, projection = together
        level, self._work.level = self._work.level, projection.level
        answer, ending = await self._answer(self._query((), gaps, projection), None)
        if ending.reason in ("refused", "filtered"):
            raise refused_error(ending, self._asked.request.name, self._backend.name, self.partial)
        texts = gaps.texts(answer, projection)
        if texts and await self._is_right(texts[0]):
            self.result.ahead = tuple(texts[1:])
            return texts[0]
        self._work.level = level
        return None

    async def _answer(self, query: Query, pieces: LegalPieces | None) -> tuple[str, Ending]:
        """One answer and how it ended. What is certain of it is told to `pieces` while it comes."""
        self._asked.poll()
        self.partial = ""
        parts: list[str] = []
        left = MOST_CHARS
        ending: Ending | None = None
        self._work.requests += 1
        try:
            async with aclosing(self._backend.stream(query)) as events:  # type: ignore[type-var]
                async for event in events:
                    if isinstance(event, Piece):
                        left -= len(event.text)
                        if left < 0:
                            raise self._broken("the answer does not end", "".join(parts))
                        parts.append(event.text)
                        self._hear(event.text, pieces)
                    else:
                        ending = event
        except BackendFault as fault:
            self._work.requests += max(0, fault.attempts - 1)
            raise self._failed(fault) from fault
        answer = "".join(parts)
        if ending is None:
            raise self._failed(self._broken("the answer has no end", answer))
        self._count(answer, ending)
        return answer, ending

    def _hear(self, text: str, pieces: LegalPieces | None) -> None:
        if pieces is None:
            return
        new = pieces.feed(text)
        self.partial = pieces.legal
        if new:
            self._observer.piece(new, False)

    def _broken(self, message: str, partial: str) -> BackendFault:
        endpoint = self._backend.endpoint
        return BackendFault("protocol", message, endpoint=endpoint, partial=partial[:SHOWN_PARTIAL])

    def _failed(self, fault: BackendFault) -> SglError:
        return backend_error(fault, self._asked.request.name, self._backend.name, self.partial)

    def _query(
        self, wrong: Sequence[Wrong], gaps: Gaps | None = None, projection: Projection | None = None
    ) -> Query:
        """The request for the hole, or for all gaps."""
        request, capabilities = self._asked.request, self._backend.capabilities
        said = self._conversation.messages()
        projection = projection or self._projection
        turns = turns_of(said, projection, continues=capabilities.continues, wrong=wrong, gaps=gaps)
        enforced = projection.enforced
        return Query(
            turns.messages,
            turns.begun,
            enforced,
            request.sampling,
            request.seed & SEED_BITS if capabilities.seed else None,
            self._most(),
            request.stops if enforced is None and capabilities.continues and gaps is None else (),
            deadline=self._deadline,
            purpose=request.name,
        )

    def _most(self) -> int | None:
        """Tokens that are left of the budget. Raises Truncated where none is."""
        budget = self._asked.request.budget
        if budget is None:
            return None
        if not self._room.has(self._work.output + 1, budget):
            raise self._truncated(budget)
        return budget.tokens - self._work.output

    def _count(self, answer: str, ending: Ending) -> None:
        """Enter what a request was charged with; of unknown usage the bytes of the answer."""
        work, usage = self._work, ending.usage
        work.requests += max(0, ending.attempts - 1)
        work.answered_by = ending.answered_by or work.answered_by
        if usage is None:
            work.counted = False
            usage = Usage(output=len(answer.encode("utf-8", "replace")))
        work.prompt += usage.prompt
        work.cached += usage.cached
        work.output += usage.output
        self.result.tokens = usage.output
        self.result.sampled = self.result.saved = work.output
        self.result.lost = work.output - usage.output
        self.result.prompt = usage.prompt

    # -- checking ------------------------------------------------------------------------------------

    async def _accepted(self, answer: str, ending: Ending) -> str | None:
        """The text that an answer stands for and that is legal; None for none."""
        if ending.reason in ("refused", "filtered"):
            raise refused_error(ending, self._asked.request.name, self._backend.name, self.partial)
        cut = ending.reason == "length"
        for text in self._readings(answer):
            if await self._is_right(text, whole=cut):
                return text
        for text in self._until_stop(answer):
            if await self._is_right(text):
                return text
        return None

    def _readings(self, answer: str) -> tuple[str, ...]:
        asked = self._asked
        return tuple(dict.fromkeys(readings(answer, self._projection.enforced, asked.type, asked.table)))

    def _until_stop(self, answer: str) -> tuple[str, ...]:
        """The beginning of an answer up to where the text behind the hole begins, where nothing is enforced:
        a model that writes on does not know where its value ends."""
        if self._projection.enforced is not None:
            return ()
        ends = [at for stop in self._asked.request.stops if (at := answer.find(stop)) >= 0]
        return (answer[: min(ends)],) if ends else ()

    def _is_legal(self, text: str, *, whole: bool = False) -> bool:
        """Whether a text is a value; `whole` asks that nothing could follow, as of one that was cut off."""
        matcher = self._matcher.clone()
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return False
        if not matcher.accept_bytes(data):
            return False
        return matcher.is_complete() if whole else matcher.is_accepting()

    async def _is_right(self, text: str, *, whole: bool = False) -> bool:
        """Whether a text is a value that the validators accept."""
        if not self._is_legal(text, whole=whole):
            return False
        verdicts = self._asked.verdicts
        return verdicts is None or await verdicts.of(text.encode()) == FINAL

    def _check_ending(self, ending: Ending) -> None:
        """Raise Truncated where an answer that is not legal ended at a bound."""
        if ending.reason == "length":
            budget = self._asked.request.budget
            raise self._truncated(budget or Budget(self.result.tokens, f"the bound of {self._backend.name}"))

    def _truncated(self, budget: Budget) -> SglError:
        error = self._room.truncated(budget)
        error.partial = self.partial
        return error

    async def _reason(self, answer: str, pieces: LegalPieces) -> str:
        """What is wrong with an answer."""
        if any(self._is_legal(text) for text in self._readings(answer)):
            return "a validator of the program refuses it."
        excluded = self._asked.request.excluded
        if any(text.encode("utf-8", "replace") in excluded for text in self._readings(answer)):
            return "it was rejected before, so write another one."
        matcher = self._matcher.clone()
        matcher.accept_bytes(pieces.legal.encode())
        return fault_of(pieces.legal, _words(matcher), matcher.is_accepting())

    # -- its end -------------------------------------------------------------------------------------

    def _certain(self, text: str) -> HoleResult:
        """A value that can be no other: nobody is asked."""
        self._observer.piece(text, True)
        self.result.text = text
        self.result.remote = None
        self._conversation.text(text)
        return self.result

    def _finish(self, text: str, pieces: LegalPieces) -> HoleResult:
        budget = self._asked.request.budget
        if budget is not None and not self._room.has(self._work.output, budget):
            raise self._truncated(budget)
        told = pieces.told
        if not text.startswith(told):
            self._observer.again("the value is written in its one spelling")
            told = ""
        if len(text) > len(told):
            self._observer.piece(text[len(told) :], False)
        self.result.text = text
        self.result.ended = "end"
        self._conversation.text(text)
        return self.result


def _words(matcher: Matcher) -> list[bytes]:
    """Words that may come next; the text that must, where there is no choice."""
    forced = matcher.forced()
    return [forced] if forced else matcher.words()
