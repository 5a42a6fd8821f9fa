"""The answers to a request while they are written: by a model behind a conversation, or by a function."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import NamedTuple, Protocol

from sglc.runtime.decoding.conversations.conversation import Conversation
from sglc.runtime.decoding.filling.filler import FillRequest
from sglc.runtime.decoding.requests import Budget, HoleRequest, HoleResult
from sglc.runtime.engine.base import Engine
from sglc.runtime.engine.core.errors import EngineError, language_error
from sglc.runtime.engine.sampling.sampler import Sampled
from sglc.runtime.engine.sampling.seeds import mix
from sglc.runtime.errors import SglError
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.serve.functions import Answer, Job, ServedFunction
from sglc.runtime.serve.openai.asked import Asked, Message
from sglc.runtime.serve.openai.errors import CONTEXT, wrong
from sglc.runtime.serve.openai.forms import Forms
from sglc.runtime.serve.options import CallOptions
from sglc.runtime.serve.problems import Problem, of_error
from sglc.runtime.served_models import Served, Urgency, served_alone
from sglc.runtime.vm.state.models import RunModel
from sglc.runtime.vm.state.trace import Event, Listener
from sglc.types.model_use import MAIN
from sglc.types.text.plain_json import parse_json

HOLE = "answer"
"""What a scripted model calls the hole of an answer."""
LIMIT = "max_completion_tokens"


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

    @property
    def finish(self) -> str:
        """`stop`, or `length` for a text that a limit has cut."""
        return "length" if self.ended == "budget" and not self.whole else "stop"


class Answering(Job, Protocol):
    """Job whose answers can be read as they come."""

    choices: list[Choice]
    prompt: int
    """Tokens that were read."""
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
    weighed: bool = False
    heard: bool = True

    def piece(self, text: str, forced: bool) -> None:
        """More of the text. What a limit adds to plain text, to end a character, is left out."""
        if forced and not self.choice.whole:
            return
        self.choice.text += text
        self.hear(Event("forced" if forced else "generated", {"hole": self.hole, "text": text}))
        self.news.set()

    def token(self, drawn: Sampled, data: bytes, allowed: int, draft: tuple[str, int] | None = None) -> None:
        """A token was drawn."""
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
        self.forms = Forms(self.served.constraints)


class Completion:
    """The answers of a model to a request. One object serves one run."""

    def __init__(self, model: ChatModel, asked: Asked) -> None:
        self.name = f"model {model.name}"
        self._model = model
        self._asked = asked
        count = len(asked.conversations) * asked.choices
        self.choices = [Choice(whole=asked.form.whole) for _ in range(count)]
        self.prompt = 0
        self.news = asyncio.Event()

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
        asked = self._asked
        deadline = None if options.timeout is None else monotonic() + options.timeout
        urgency = Urgency(options.priority, deadline, options.tenant)
        run = self._model.served.for_run(MAIN, "openai", urgency, own=True)
        try:
            async with asyncio.timeout(options.timeout):
                request = await self._model.forms.request(HOLE, asked.form)
                await self._write(run, replace(request, budget=self._budget, sampling=asked.sampling), hear)
        except TimeoutError:
            raise SglError("Timeout", f"it took longer than {options.timeout:g} s", fatal=True) from None
        except ConstraintError as fault:
            raise wrong(asked.form.param, f"it cannot be enforced: {fault}") from None
        except EngineError as fault:
            raise language_error(fault) from fault
        return Answer()

    @property
    def _budget(self) -> Budget | None:
        most = self._asked.most
        return None if most is None else Budget(most, LIMIT)

    async def _write(self, run: RunModel, request: HoleRequest, hear: Listener) -> None:
        asked = self._asked
        seed = secrets.randbits(63) if asked.seed is None else asked.seed
        conversations: list[Conversation] = []
        try:
            for each in asked.conversations:
                conversations += [await self._conversation(run, each)]
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

    async def _conversation(self, run: RunModel, messages: tuple[Message, ...]) -> Conversation:
        """A conversation in which the next text is the answer. Raises Refusal where it fills the context."""
        made = run.conversation()
        for at, message in enumerate(messages):
            if message.role:
                made.role(message.role)
            made.text(message.text)
            if not self._asked.open or at + 1 < len(messages):
                made.end_role()
            await asyncio.sleep(0)  # chat templates take their time
        if not self._asked.open:
            made.role("assistant")
        count, room = len(made.tokens()), self._model.served.engine.model.context_length
        if count >= room:
            raise wrong(
                "messages" if messages[0].role else "prompt",
                f"the context of {self._model.name} has {room} tokens; the request has {count}",
                CONTEXT,
            )
        self.prompt += count
        if self._asked.choices > 1:  # what all answers read is computed once
            made.start()
            await made.sync().logits()
        return made

    async def _one(
        self, run: RunModel, conversation: Conversation, at: int, request: HoleRequest, hear: Listener
    ) -> None:
        """Write one answer."""
        asked, choice = self._asked, self.choices[at]
        if asked.echo:
            choice.text = asked.conversations[at // asked.choices][0].text
        if run.script is not None:
            request = request.answered(run.script.answer(HOLE, request.stops))
        hole = f"{HOLE} {at}"
        texts = run.vocabulary.token_bytes
        watch = _Watch(choice, self.news, hear, hole, texts, asked.top is not None, asked.top or 0)
        assert run.filler is not None
        result: HoleResult = await run.filler.begin(conversation, FillRequest(request), watch).run()
        choice.tokens, choice.ended = result.tokens, result.ended
        hear(Event("hole_end", {"hole": hole, "tokens": result.tokens}))
        self.news.set()


def _first(several: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first of the failures of several answers."""
    found = several.exceptions[0]
    return _first(found) if isinstance(found, BaseExceptionGroup) else found


class FunctionAnswer:
    """The answer of a function of one text, as that of a model."""

    def __init__(self, function: ServedFunction) -> None:
        self.name = function.name
        self.choices = [Choice(whole=True)]
        self.prompt = 0
        self.news = asyncio.Event()
        self.check = function.check
        self.problem = function.problem
        self.partial = function.partial
        self._function = function

    async def answer(self, arguments: Mapping[str, object], options: CallOptions, hear: Listener) -> Answer:
        """Run the function; its value is the whole answer."""

        def hearing(event: Event) -> None:
            if event.kind == "hole_end":
                self.prompt += int(event.data.get("prompt") or 0)
            hear(event)

        found = await self._function.answer(arguments, options, hearing)
        [choice] = self.choices
        value = parse_json(found.value)
        choice.text = value if isinstance(value, str) else found.value
        choice.tokens, choice.ended = int(str(found.usage["output_tokens"])), "complete"
        self.news.set()
        return found
