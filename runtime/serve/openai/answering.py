"""The answers to a request while they are written: by a model behind a conversation, or by a function."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import monotonic, perf_counter
from typing import NamedTuple, Protocol

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.filling.filler import FillRequest
from sglc.runtime.decoding.filling.local import LocalFill
from sglc.runtime.decoding.hole_decoder import HoleDecoder
from sglc.runtime.decoding.requests import Budget, HoleRequest, HoleResult
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.engine.drafting.kinds import SOURCES
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.seeds import mix
from sglc.runtime.errors import SglError
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.serve.functions import Answer, Job, ServedFunction
from sglc.runtime.serve.openai.asked import Asked, Message
from sglc.runtime.serve.openai.calls import AnswerReader, Called, Notation
from sglc.runtime.serve.openai.dialogue import notation_for, write
from sglc.runtime.serve.openai.errors import CONTEXT, wrong
from sglc.runtime.serve.openai.forms import Forms
from sglc.runtime.serve.options import CallOptions
from sglc.runtime.serve.problems import Problem, Refusal, of_error
from sglc.runtime.served_models import Served, Urgency, served_alone
from sglc.runtime.vm.holes.records import error_name
from sglc.runtime.vm.state.models import RunModel
from sglc.runtime.vm.state.run import Recorder, Statistics
from sglc.runtime.vm.state.trace import Event, Listener
from sglc.types.model_use import MAIN
from sglc.types.text.plain_json import parse_json

HOLE = "answer"
"""What a scripted model calls the hole of an answer."""
LIMIT = "max_completion_tokens"
LOOKED_UP = SOURCES[0]
"""The source of drafts that are found in a text."""


class Likely(NamedTuple):
    """A token's bytes and the natural logarithm of its probability."""

    data: bytes
    logprob: float


class Token(NamedTuple):
    """A token that was drawn, and the most probable ones at its place."""

    drawn: Likely
    top: tuple[Likely, ...]


@dataclass(slots=True)
class Choice:
    """An answer as far as it is there. `ended` is empty until then, else as in `HoleResult`."""

    text: str = ""
    ended: str = ""
    tokens: int = 0
    drawn: list[Token] = field(default_factory=list)
    whole: bool = False
    """Whether it is complete whatever has ended it."""
    reader: AnswerReader | None = None
    """What finds calls of tools in it; None where there are none to find."""

    def add(self, text: str) -> None:
        """More of it."""
        self.text += text
        if self.reader is not None:
            self.reader.feed(text)

    def end(self, how: str, tokens: int) -> None:
        """There is no more."""
        if self.reader is not None:
            self.reader.end()
        self.ended, self.tokens = how, tokens

    @property
    def content(self) -> str:
        """Its text without calls, as far as it is certain."""
        return self.text if self.reader is None else self.reader.content

    @property
    def calls(self) -> list[Called]:
        """The calls of tools in it."""
        return [] if self.reader is None else self.reader.calls

    @property
    def held(self) -> bool:
        """Whether what is forced belongs to it, and is not only the end of a character."""
        return self.whole or (self.reader is not None and self.reader.within)

    @property
    def finish(self) -> str:
        """`tool_calls` for calls, `stop`, or `length` for a text that a limit has cut."""
        if self.calls:
            return "tool_calls"
        return "length" if self.ended == "budget" and not self.whole else "stop"


@dataclass(slots=True)
class Usage:
    """Tokens of a request. `prompt` were read, of which `cached` were there already (None: the engine does
    not tell). Of a prediction `drafted` tokens were tried, and `accepted` of them came; None without one."""

    prompt: int = 0
    cached: int | None = None
    drafted: int | None = None
    accepted: int = 0

    def add_drafts(self, sent: int, came: int) -> None:
        """Count drafted tokens."""
        self.drafted = (self.drafted or 0) + sent
        self.accepted += came


class Answering(Job, Protocol):
    """Job whose answers can be read as they come."""

    choices: list[Choice]
    usage: Usage
    news: asyncio.Event
    """Set when there is more."""


@dataclass(slots=True)
class _Watch:
    """Hears of one answer: see `FillObserver`."""

    choice: Choice
    news: asyncio.Event
    hear: Listener
    hole: str
    texts: tuple[bytes | None, ...]
    """Of the tokens."""
    detailed: bool
    top: int
    rewritten: Callable[[], int]
    """Bytes of the prompt's end that are drawn anew, as a token may reach over it."""
    passed: int = 0
    """Bytes of the tokens that were drawn."""
    weighed: bool = False
    heard: bool = True

    def piece(self, text: str, forced: bool) -> None:
        """More of the text. What a limit adds to plain text, to end a character, is left out."""
        if forced and not self.choice.held:
            return
        self.choice.add(text)
        self.hear(Event("forced" if forced else "generated", {"hole": self.hole, "text": text}))
        self.news.set()

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: tuple[str, int] | None = None) -> None:
        """A token was drawn. One that lies before the answer is none of it."""
        left = self.rewritten() - self.passed
        self.passed += len(data)
        if data and left >= len(data):
            return
        data = data[max(0, left) :]
        top = tuple(Likely(self.texts[each.token] or b"", each.logprob) for each in drawn.top)
        self.choice.drawn.append(Token(Likely(data, drawn.logprob), top))

    def walk(self, number: int, data: bytes, weight: float | None, outcome: str) -> None:
        """There are no walks."""

    def beams(self, step: int, texts: list[bytes], scores: list[float]) -> None:
        """There are no beams."""

    def pruned(self, token: int, data: bytes, part: bytes) -> None:
        """There are no validators."""

    def stepped_back(self, data: bytes) -> None:
        """There are no validators."""

    def again(self, reason: str) -> None:
        """A model of this process writes its answer once."""


class ChatModel:
    """A model of this process as clients ask it: by its name, without a program."""

    def __init__(self, engine: Engine) -> None:
        self.name = engine.model.name
        self.served: Served = served_alone(engine)
        self.forms = Forms(self.served.constraints, engine.model.tokenizer.chat)


class Completion:
    """The answers of a model to a request. One object serves one run. `admit` is asked before a form is
    compiled, and may refuse; `recorder` keeps account."""

    def __init__(
        self, model: ChatModel, asked: Asked, admit: Callable[[], None], recorder: Recorder | None = None
    ) -> None:
        self.name = f"model {model.name}"
        self._model = model
        self._asked = asked
        self._admit = admit
        self._recorder = recorder
        self._figures = "openai.chat" if asked.conversations[0][0].role else "openai.text"
        count = len(asked.conversations) * asked.choices
        self.choices = [Choice(whole=asked.form.whole) for _ in range(count)]
        told = model.served.engine.get_cache_stats() is not None
        self.usage = Usage(cached=0 if told else None, drafted=0 if asked.prediction else None)
        self.news = asyncio.Event()

    async def step_begun(self) -> None:
        """Wait until the model computes: what is done then takes no time from it."""
        await self._model.served.engine.step_begun()

    def check(self, arguments: Mapping[str, object]) -> None:
        """There are no arguments."""

    def problem(self, error: SglError) -> Problem:
        """A failure without fields."""
        return of_error(error, {})

    def partial(self, hole: str, text: str) -> object:
        """Nobody reads values."""
        return None

    async def answer(self, arguments: Mapping[str, object], options: CallOptions, hear: Listener) -> Answer:
        """Write all answers, at the same time. The first that fails ends the others."""
        began, error = perf_counter(), ""
        if self._recorder is not None:
            self._recorder.begin(self._figures, self._asked.seed or 0)
            self._recorder.call(self._figures)
        try:
            return await self._answered(options, hear)
        except BaseException as raised:
            error = raised.problem.name if isinstance(raised, Refusal) else error_name(raised)
            raise
        finally:
            if self._recorder is not None:
                self._recorder.end(self._figures, Statistics(seconds=perf_counter() - began), error)

    async def _answered(self, options: CallOptions, hear: Listener) -> Answer:
        asked, forms = self._asked, self._model.forms
        deadline = None if options.timeout is None else monotonic() + options.timeout
        urgency = Urgency(options.priority, deadline, options.tenant)
        run = self._model.served.for_run(MAIN, "openai", urgency, own=True)
        try:
            async with asyncio.timeout(options.timeout):
                notation = await notation_for(asked, forms)
                request = await forms.request(HOLE, asked.form, notation, self._admit)
                if asked.form.tools is not None and notation is not None:
                    json = asked.form.kind == "json"
                    for choice in self.choices:
                        choice.reader = AnswerReader(asked.form.tools, notation, json=json)
                await self._write(run, self._completed(run, request), notation, hear)
        except TimeoutError:
            raise SglError("Timeout", f"it took longer than {options.timeout:g} s", fatal=True) from None
        except ConstraintError as fault:
            raise wrong(asked.form.param, f"it cannot be enforced: {fault}") from None
        except EngineError as fault:
            raise language_error(fault) from fault
        return Answer()

    def _completed(self, run: RunModel, request: HoleRequest) -> HoleRequest:
        """The request for a hole with all that this one asks of it. Raises Refusal."""
        asked, size = self._asked, run.vocabulary.size
        for token, _ in asked.shaping.bias if asked.shaping is not None else ():
            if token >= size:
                raise wrong("logit_bias", f"{self._model.name} has no token {token}; it has {size}")
        expected: tuple[int, ...] = ()
        if asked.prediction and run.encoder is not None:
            expected = run.encoder.encode(asked.prediction)
        return replace(
            request,
            budget=self._budget,
            sampling=asked.sampling,
            shaping=asked.shaping,
            expected=expected,
        )

    @property
    def _budget(self) -> Budget | None:
        most = self._asked.most
        return None if most is None else Budget(most, LIMIT)

    async def _write(
        self, run: RunModel, request: HoleRequest, notation: Notation | None, hear: Listener
    ) -> None:
        asked = self._asked
        seed = secrets.randbits(63) if asked.seed is None else asked.seed
        conversations: list[Conversation] = []
        try:
            for each in asked.conversations:
                conversations += [await self._conversation(run, each, notation)]
            if asked.choices > 1:
                conversations += [each.fork() for each in conversations for _ in range(asked.choices)]
            async with asyncio.TaskGroup() as group:
                for at, own in enumerate(conversations[-len(self.choices) :]):
                    seeded = replace(request, seed=mix("choice", seed, at))
                    group.create_task(self._one(run, own, at, seeded, hear))
        except BaseExceptionGroup as several:
            raise _first(several) from None
        finally:
            for made in conversations:
                made.close()

    async def _conversation(
        self, run: RunModel, messages: tuple[Message, ...], notation: Notation | None
    ) -> Conversation:
        """A conversation in which the next text is the answer. Raises Refusal where it fills the context."""
        made = run.conversation()
        try:
            await self._begun(made, messages, notation)
        except BaseException:
            made.close()
            raise
        return made

    async def _begun(
        self, made: Conversation, messages: tuple[Message, ...], notation: Notation | None
    ) -> None:
        await write(made, messages, self._asked, notation)
        count, room = len(made.tokens()), self._model.served.engine.model.context_length
        if count >= room:
            raise wrong(
                "messages" if messages[0].role else "prompt",
                f"the context of {self._model.name} has {room} tokens; the request has {count}",
                CONTEXT,
            )
        self.usage.prompt += count
        if self._asked.choices > 1:  # what all answers read is computed once
            made.start()
            with made.sync().apart() as work:
                await made.branch.logits()
            self._reused(work.tokens_reused, count)

    def _reused(self, found: int, most: int) -> None:
        """Count tokens of a conversation that were there already."""
        if self.usage.cached is not None:
            self.usage.cached += min(found, most)

    async def _one(
        self, run: RunModel, conversation: Conversation, at: int, request: HoleRequest, hear: Listener
    ) -> None:
        """Write one answer."""
        asked, choice = self._asked, self.choices[at]
        if asked.echo:
            choice.add(conversation.state.stretch)
        if run.script is not None:
            request = request.answered(run.script.answer(HOLE, request.stops))
        hole = f"{HOLE} {at}"
        texts = run.vocabulary.token_bytes
        assert run.filler is not None
        detailed = asked.top is not None
        watch = _Watch(
            choice, self.news, hear, hole, texts, detailed, asked.top or 0, lambda: _rewritten(work)
        )
        work = run.filler.begin(conversation, FillRequest(request), watch)
        began, error = perf_counter(), ""
        try:
            result: HoleResult = await work.run()
        except BaseException as raised:
            error = raised.problem.name if isinstance(raised, Refusal) else error_name(raised)
            raise
        finally:
            if self._recorder is not None:
                self._recorder.hole(
                    f"{self._figures}.{HOLE}", "gen", work.result, perf_counter() - began, error
                )
        if asked.choices == 1:
            self._reused(result.work.tokens_reused, result.prompt)
        if asked.prediction:
            self.usage.add_drafts(result.drafts.sent.get(LOOKED_UP, 0), result.drafts.came.get(LOOKED_UP, 0))
        choice.end(result.ended, result.tokens)
        hear(Event("hole_end", {"hole": hole, "tokens": result.tokens}))
        self.news.set()


def _rewritten(work: object) -> int:
    """Bytes before the value of a hole that its decoder writes anew."""
    account = work.account if isinstance(work, LocalFill) else None
    return len(account.text.prefix) if isinstance(account, HoleDecoder) else 0


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first of the failures of several answers."""
    found = several.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found


class FunctionAnswer:
    """The answer of a function of one text, as that of a model."""

    def __init__(self, function: ServedFunction) -> None:
        self.name = function.name
        self.choices = [Choice(whole=True)]
        self.usage = Usage()
        self.news = asyncio.Event()
        self.check = function.check
        self.problem = function.problem
        self.partial = function.partial
        self._function = function

    async def answer(self, arguments: Mapping[str, object], options: CallOptions, hear: Listener) -> Answer:
        """Run the function; its value is the whole answer."""

        def hearing(event: Event) -> None:
            if event.kind == "hole_end":
                self.usage.prompt += int(event.data.get("prompt") or 0)
            hear(event)

        found = await self._function.answer(arguments, options, hearing)
        [choice] = self.choices
        value = parse_json(found.value)
        choice.add(value if isinstance(value, str) else found.value)
        choice.end("complete", int(str(found.usage["output_tokens"])))
        self.news.set()
        return found
