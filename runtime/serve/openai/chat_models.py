"""The models of a process in OpenAI's protocol: their answers to requests, of another process too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Literal

from sglc.runtime.engine.base import Engine
from sglc.runtime.serve.functions import Answer
from sglc.runtime.serve.openai.answering import ChatModel, Completion
from sglc.runtime.serve.openai.asked import Asked, read_chat, read_completion
from sglc.runtime.serve.openai.chunks import ToldHere
from sglc.runtime.serve.openai.errors import no_model
from sglc.runtime.serve.openai.pace import StreamPace
from sglc.runtime.serve.openai.shapes import ChatShape, Shape, TextShape
from sglc.runtime.serve.options import CallOptions
from sglc.runtime.vm.state.run import Recorder
from sglc.runtime.vm.state.trace import Event, Listener
from sglc.types.text.plain_json import parse_json
from sglc.types.values import Value

Kind = Literal["chat", "text"]
"""Chat completions, or plain ones."""


def read_request(kind: Kind, data: dict[str, Value]) -> Asked:
    """A request as it is understood. Raises Refusal."""
    return read_chat(data) if kind == "chat" else read_completion(data)


def shape_of(kind: Kind, id: str, asked: Asked) -> Shape:
    """What its answer, which has a number, looks like."""
    make = ChatShape if kind == "chat" else TextShape
    return make(id, asked.model, asked.top is not None)


@dataclass(frozen=True, slots=True)
class Written:
    """What came of a request: the JSON text of the whole answer, empty where it was told in chunks, and how
    many tokens it has."""

    text: str
    tokens: int


class ChatModels:
    """Models of this process by their names. `recorder` keeps account of what they answer."""

    def __init__(self, engines: Iterable[Engine], recorder: Recorder | None = None) -> None:
        self._recorder = recorder
        self._pace = StreamPace()
        self._models: dict[str, ChatModel] = {}
        for engine in engines:
            if engine.model.name not in self._models:
                self._models[engine.model.name] = ChatModel(engine)

    @property
    def names(self) -> list[str]:
        """All models."""
        return list(self._models)

    def completion(self, asked: Asked, admit: Callable[[], None]) -> Completion | None:
        """The answers to a request, None where it asks another model. `admit` is asked before a form is
        compiled, and may refuse."""
        model = self._models.get(asked.model)
        return None if model is None else Completion(model, asked, admit, self._recorder)

    async def answer(
        self,
        kind: Kind,
        body: str,
        id: str,
        options: CallOptions,
        tell: Callable[[str], None],
        hear: Listener,
    ) -> Written:
        """Answer a request of another process, which has read it and knows its number. `tell` is told the
        chunks of a stream, `hear` the end of each answer. Raises Refusal, and SglError where it fails."""

        def hear_ends(event: Event) -> None:
            if event.kind == "hole_end":
                hear(event)

        data = parse_json(body)
        assert isinstance(data, dict)
        asked = read_request(kind, data)
        work = self.completion(asked, lambda: None)
        if work is None:
            raise no_model(asked.model, self.names)
        told = ToldHere(work, shape_of(kind, id, asked), usage=asked.usage, logprobs=asked.top is not None)
        if asked.stream:
            await self._stream(work.answer({}, options, hear_ends), work, told, tell)
        else:
            await work.answer({}, options, hear_ends)
        return Written("" if asked.stream else told.whole(), sum(each.tokens for each in work.choices))

    async def _stream(
        self,
        answer: Coroutine[object, object, Answer],
        work: Completion,
        told: ToldHere,
        tell: Callable[[str], None],
    ) -> None:
        """Tell chunks while an answer is written, beside the model's steps."""
        writing = asyncio.ensure_future(answer)
        writing.add_done_callback(lambda _: work.news.set())
        begun = False
        try:
            with self._pace.stream() as beat:
                while not writing.done():
                    await beat.due(work.news, writing)
                    await work.step_begun()
                    work.news.clear()
                    if not writing.done() and (text := told.chunks(ended=False, problem=None)):
                        tell(text)
                        begun = True
            if begun and writing.exception() is not None and (rest := told.chunks(ended=False, problem=None)):
                tell(rest)
            await writing
            tell(told.chunks(ended=True, problem=None))
        finally:
            writing.cancel()
