"""Fills holes by a model elsewhere: asks, tells what is certain of the answer, repairs it, asks again.

What an answer means is read generously, and checked strictly: by the hole's own matcher, which knows the
texts that a retry excluded, and by the hole's validators. A wrong value never passes. `repaired` reads every
answer: where a backend keeps what it promises, there is nothing to repair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sglc.runtime.backends.exchange import (
    Backend,
    BackendFault,
    Ending,
    Message,
    Piece,
    Query,
    TextScore,
)
from sglc.runtime.backends.filling.asking import turns_of
from sglc.runtime.backends.filling.kept import Kept, remember
from sglc.runtime.backends.filling.metered import Metered
from sglc.runtime.backends.filling.pieces import LegalPieces
from sglc.runtime.backends.filling.together import Gaps, is_worth
from sglc.runtime.backends.policy.errors import language_error, refused_error
from sglc.runtime.backends.repairing.asking import turns
from sglc.runtime.backends.repairing.repair import repaired
from sglc.runtime.backends.repairing.result import BOUNDS, Observer, Repaired
from sglc.runtime.backends.repairing.values import Values, json_values
from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.conversations.conversation_pair import ConversationPair
from sglc.runtime.decoding.filling.filler import FillObserver, FillRequest
from sglc.runtime.decoding.filling.scores import Scores
from sglc.runtime.decoding.hole_text import only_value
from sglc.runtime.decoding.requests import Budget, Constraints, HoleRequest, HoleResult, RemoteWork
from sglc.runtime.decoding.room import Room
from sglc.runtime.decoding.validated import FINAL
from sglc.runtime.errors import SglError
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.runtime.repair.loop import Fault
from sglc.runtime.repair.result import Correction
from sglc.targets.projection.core.enforcement import Projection
from sglc.targets.projection.project import project
from sglc.types.type import Type, TypeTable

SHOWN = 80
"""Characters of a wrong answer that listeners are told of."""
MOST_ANEW = 2
"""Answers of a hole that broke off and were others when they were begun anew, before a third such one is an
error: where one request in ten breaks off, one hole in a thousand."""
SEED_BITS = 0x7FFF_FFFF
"""Of a seed what every server takes: a positive number of 32 bits with a sign."""


@dataclass(frozen=True, slots=True, eq=False)
class RemoteFiller:
    """A backend in one run. All runs of a program share what is `kept`.

    `deadline` is a time of the backend's clock at which the run is over; None for never. `complete` is as
    `RemoteModel` has it.
    """

    backend: Backend
    constraints: Constraints
    kept: Kept
    deadline: float | None = None
    complete: bool = False

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
        found = self.kept.projections.get(key)
        if found is None:
            found = project(
                type,
                request.language,
                table,
                self.backend.capabilities,
                excluded=request.excluded,
                validators=judged,
                place=request.name,
            )
            if not request.passing and not request.excluded:
                remember(self.kept.projections, key, found)
        return found

    def values(self, asked: FillRequest, projection: Projection) -> Values | None:
        """How answers are read as JSON; None where they are texts."""
        request = asked.request
        if request.key in self.kept.readings and not request.excluded:
            return self.kept.readings[request.key]
        found = json_values(asked.type, asked.table, projection.enforced)
        if not request.passing and not request.excluded:
            remember(self.kept.readings, request.key, found)
        return found

    def together(self, asked: FillRequest) -> tuple[Gaps, Projection] | None:
        """How a hole is asked for with those that follow; None where each by itself is guaranteed more."""
        if asked.type is None or not asked.following or asked.request.passing:
            return None
        gaps = Gaps(asked)
        found = self.kept.projections.get(gaps.key)
        if found is None:
            found = gaps.projection(self.backend.capabilities)
            remember(self.kept.projections, gaps.key, found)
        alone = [self.projection(asked).level]
        alone += [self._known(each.request, each.type, asked.table).level for each in asked.following]
        return (gaps, found) if is_worth(found.level, alone) else None

    async def score(self, conversation: Conversation, texts: list[str], follow: str = "") -> Scores:
        """See `Filler.score`. What follows the texts is not asked about: they are scored as they stand."""
        query = scoring_query(conversation, self.deadline)
        try:
            found = await self.backend.score(query, texts)
        except BackendFault as fault:
            raise language_error(fault, f"options were asked of {self.backend.name}") from fault
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
        raise language_error(fault, f"options were asked of {backend.name}")


class RemoteFill:
    """One hole while it is filled."""

    def __init__(
        self, filler: RemoteFiller, conversation: Conversation, asked: FillRequest, observer: FillObserver
    ) -> None:
        self._filler = filler
        self._asked = asked
        self._conversation = conversation
        self._observer = observer
        request = asked.request
        self._projection = filler.projection(asked)
        self._matcher = filler.constraints.value(request).matcher(BYTES)
        self._pieces = LegalPieces(self._matcher)
        self._room = Room(request.name, request.budget, len)
        self._work = RemoteWork(filler.backend.name, self._projection.level)
        self.result = HoleResult("", remote=self._work)
        self._backend = Metered(filler.backend, self.result, self._work, asked.poll)
        self._corrections = self._anew = 0
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
            return self._finish(asked.known)
        text = await self._together()
        return self._finish(await self._alone() if text is None else text)

    # -- asking --------------------------------------------------------------------------------------

    async def _together(self) -> str | None:
        """The text of the hole where it is asked for with those that follow, whose texts are kept for them.
        None where it is asked for by itself, and where the answer has no legal text for it."""
        together = self._filler.together(self._asked)
        if together is None:
            return None
        gaps, projection = together
        level, self._work.level = self._work.level, projection.level
        try:
            answer = await self._answer(self._query((), gaps, projection))
        except SglError as error:
            self._keep(gaps.begun(error.partial or "", projection))
            error.partial = self.partial or None
            raise
        texts = gaps.texts(answer, projection)
        if texts and await self._is_right(texts[0]):
            self.result.ahead = tuple(texts[1:])
            return texts[0]
        self._work.level = level
        return None

    async def _answer(self, query: Query) -> str:
        """One whole answer. The errors of one that breaks off have what came of it as `partial`."""
        parts: list[str] = []
        try:
            async for event in self._backend.stream(query):
                if isinstance(event, Piece):
                    parts.append(event.text)
        except BackendFault as fault:
            if fault.differs:
                return ""
            error = self._failed(fault)
            error.partial = max(fault.partial, "".join(parts), key=len)
            raise error from fault
        ending = self._backend.ending
        if ending is not None and ending.reason in ("refused", "filtered"):
            error = self._refused(ending)
            error.partial = "".join(parts)
            raise error
        return "".join(parts)

    async def _alone(self) -> str:
        """The text of the hole by itself: repaired where it is not legal, asked for again where a validator
        refuses it."""
        refused: tuple[Message, ...] = ()
        while True:
            query = self._query(refused)
            found = await self._repaired(query)
            self._corrections += len(found.corrections)
            if await self._is_right(found.text):
                self.result.ended = "budget" if found.ended == "completed" else "end"
                return found.text
            reason = "a validator of the program refuses it"
            self._corrections += 1
            self._void(reason)
            refused += turns(Fault(found.text, reason), query.begun)

    async def _repaired(self, query: Query) -> Repaired:
        """A legal text. All that is asked for a hole is within the same bounds."""
        calls = BOUNDS.calls - self._backend.queries
        corrections = BOUNDS.corrections - self._corrections
        if calls < 1 or corrections < 1:
            raise self._rejected(
                f"a validator of the program refuses what {self._backend.queries} requests gave"
            )
        bounds = replace(BOUNDS, calls=calls, corrections=corrections)
        observer = Observer(self._hear, on_correction=self._corrected)
        try:
            return await repaired(
                self._backend,
                query,
                self._matcher,
                bounds,
                observer,
                values=self._filler.values(self._asked, self._projection),
                complete=self._filler.complete,
            )
        except BackendFault as fault:
            self._keep(fault.partial)
            if not fault.differs or self._anew == MOST_ANEW:
                raise self._failed(fault) from fault
        except SglError as error:
            self._keep(error.partial or "")
            raise self._told(error) from error
        self._anew += 1
        self._void("the answer broke off, and was another one when it was begun anew")
        return await self._repaired(query)

    def _hear(self, text: str) -> None:
        """Legal text, as the model spells it."""
        new = self._pieces.feed(text)
        if new:
            self._observer.piece(new, False)
        self.partial = max(self.partial, self._pieces.legal, key=len)

    def _corrected(self, correction: Correction) -> None:
        if correction.by == "again":
            self._void(f"`{correction.wrong[:SHOWN]}` is not what may stand there")

    def _void(self, reason: str) -> None:
        """What was told does not stand."""
        self._pieces = LegalPieces(self._matcher)
        self._observer.again(reason)

    def _keep(self, text: str) -> None:
        """Remember the legal beginning of a text that came to nothing."""
        pieces = LegalPieces(self._matcher)
        pieces.feed(text)
        self.partial = max(self.partial, pieces.legal, key=len)

    def _query(
        self,
        refused: tuple[Message, ...],
        gaps: Gaps | None = None,
        projection: Projection | None = None,
    ) -> Query:
        """The request for the hole behind turns that are in this request alone, or for all gaps."""
        request, capabilities = self._asked.request, self._backend.capabilities
        said = self._conversation.messages()
        projection = projection or self._projection
        asked = turns_of(said, projection, continues=capabilities.continues, gaps=gaps)
        enforced = projection.enforced
        return Query(
            asked.messages + refused,
            asked.begun,
            enforced,
            request.sampling,
            request.seed & SEED_BITS if capabilities.seed else None,
            self._most(),
            request.stops if enforced is None and capabilities.continues and gaps is None else (),
            deadline=self._filler.deadline,
            purpose=request.name,
            # Where nothing is enforced, an answer is read as it comes, and closed where it is not legal.
            live=gaps is None and (self._observer.heard or enforced is None),
        )

    def _most(self) -> int | None:
        """Tokens that are left of the budget. Raises Truncated where none is."""
        budget = self._asked.request.budget
        if budget is None:
            return None
        if not self._room.has(self._work.output + 1, budget):
            raise self._truncated(budget)
        return budget.tokens - self._work.output

    async def _is_right(self, text: str) -> bool:
        """Whether a text is a value that the validators accept."""
        matcher = self._matcher.clone()
        if not matcher.accept_bytes(text.encode("utf-8", "replace")) or not matcher.is_accepting():
            return False
        verdicts = self._asked.verdicts
        return verdicts is None or await verdicts.of(text.encode()) == FINAL

    # -- errors --------------------------------------------------------------------------------------

    def _told(self, error: SglError) -> SglError:
        """An error of the repair, as one of this hole."""
        if error.name == "Refused" and self._backend.ending is not None:
            return self._refused(self._backend.ending)
        message = f"hole `{self._asked.request.name}`, asked of {self._backend.name}: {error.message}"
        fatal = error.fatal or error.name == "Timeout"
        return SglError(error.name, message, partial=self.partial, hint=error.hint, fatal=fatal)

    def _rejected(self, reason: str) -> SglError:
        name = self._asked.request.name
        message = f"hole `{name}`, asked of {self._backend.name}: no answer stands: {reason}"
        return SglError("Rejected", message, partial=self.partial)

    def _refused(self, ending: Ending) -> SglError:
        return refused_error(ending, self._asked.request.name, self._backend.name, self.partial)

    def _failed(self, fault: BackendFault) -> SglError:
        asked = f"hole `{self._asked.request.name}` was asked of {self._backend.name}"
        return language_error(fault, asked, self.partial)

    def _truncated(self, budget: Budget) -> SglError:
        error = self._room.truncated(budget)
        error.partial = self.partial
        return error

    # -- its end -------------------------------------------------------------------------------------

    def _certain(self, text: str) -> HoleResult:
        """A value that can be no other: nobody is asked."""
        self._observer.piece(text, True)
        self.result.text = text
        self.result.remote = None
        self._conversation.text(text)
        return self.result

    def _finish(self, text: str) -> HoleResult:
        budget = self._asked.request.budget
        if budget is not None and not self._room.has(self._work.output, budget):
            raise self._truncated(budget)
        told = self._pieces.told
        if not text.startswith(told):
            self._observer.again("the value is written in its one spelling")
            told = ""
        if len(text) > len(told):
            self._observer.piece(text[len(told) :], False)
        self.result.text = text
        self._conversation.text(text)
        return self.result
