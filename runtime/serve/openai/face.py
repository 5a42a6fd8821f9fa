"""What is answered at which path: models, chat completions, completions."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from math import inf

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sglc.runtime.engine.base import Engine
from sglc.runtime.serve.functions import FunctionTable, OfTable, ServedFunction
from sglc.runtime.serve.openai.answering import Completion, FunctionAnswer
from sglc.runtime.serve.openai.asked import Asked
from sglc.runtime.serve.openai.away import CompletionAway, KnownForms, ModelsAway
from sglc.runtime.serve.openai.chat_models import ChatModels, Kind, read_request, shape_of
from sglc.runtime.serve.openai.chunks import Told, ToldHere
from sglc.runtime.serve.openai.errors import no_model, unsupported, wrong
from sglc.runtime.serve.openai.pace import StreamPace
from sglc.runtime.serve.openai.responses import Chunks, error_response
from sglc.runtime.serve.options import CallOptions
from sglc.runtime.serve.problems import Refusal
from sglc.runtime.serve.requests import json_body, json_response
from sglc.runtime.serve.rest import key_of
from sglc.runtime.serve.runs import Run, Runs
from sglc.runtime.vm.state.run import Recorder
from sglc.types.text.plain_json import write_json
from sglc.types.type import AliasType, Named, Str, Type, TypeTable
from sglc.types.values import Value

FUNCTIONS = "sgl/"
"""Before the name of a function that is asked as a model."""
_SEEDS = 2**63
_CHAT, _TEXT = "/v1/chat/completions", "/v1/completions"
CALLS = {_CHAT: error_response, _TEXT: error_response}
"""Paths at which runs begin, and how a refusal is told there."""
Handler = Callable[[Request], Awaitable[Response | Chunks]]


class OpenAiFace:
    """OpenAI's protocol on the models of a server and on its functions of one text."""

    def __init__(
        self,
        table: FunctionTable,
        runs: Runs,
        engines: Iterable[Engine],
        recorder: Recorder | None = None,
        away: ModelsAway | None = None,
    ) -> None:
        """`recorder` keeps account of what models answer; functions have that of their sessions. `away` are
        models that workers have."""
        self._runs = runs
        self._models = ChatModels(engines, recorder)
        self._away = away
        self._forms = KnownForms()
        self._pace, self._passing = StreamPace(), StreamPace(inf)
        """What workers tell has their pace already."""
        self._functions = OfTable(table, _functions)
        self._since = int(time.time())

    @property
    def names(self) -> list[str]:
        """All models."""
        away = [] if self._away is None else self._away.names
        return [*self._models.names, *away, *self._functions.now]

    @property
    def routes(self) -> list[Route]:
        """What it answers."""
        return [
            Route("/v1/models", _told(self.models), methods=["GET"]),
            Route("/v1/models/{name:path}", _told(self.model), methods=["GET"]),
            Route(_CHAT, _told(self.chat), methods=["POST"]),
            Route(_TEXT, _told(self.complete), methods=["POST"]),
        ]

    async def models(self, request: Request) -> Response:
        """All models."""
        return json_response(
            write_json({"object": "list", "data": [self._shown(each) for each in self.names]})
        )

    async def model(self, request: Request) -> Response:
        """One model."""
        name = request.path_params["name"]
        if name not in self.names:
            raise no_model(name, self.names)
        return json_response(write_json(self._shown(name)))

    def _shown(self, name: str) -> dict[str, object]:
        return {"id": name, "object": "model", "created": self._since, "owned_by": "sglc"}

    async def chat(self, request: Request) -> Response | Chunks:
        """A chat completion."""
        return await self._answered(request, "chat")

    async def complete(self, request: Request) -> Response | Chunks:
        """A plain completion."""
        return await self._answered(request, "text")

    async def _answered(self, request: Request, kind: Kind) -> Response | Chunks:
        self._runs.check()
        data = await json_body(request, self._runs.limits.body)
        asked = read_request(kind, data)
        arguments: dict[str, object] = {}
        work: Completion | CompletionAway | FunctionAnswer
        if (found := self._functions.now.get(asked.model)) is not None:
            if kind == "text":
                raise wrong("model", f"{asked.model} is a function: ask it at {_CHAT}")
            function, parameter = found
            work, arguments = FunctionAnswer(function), {parameter: _question(asked)}
        else:
            work = self._completion(request, kind, data, asked)
        run = self._run(request, work, arguments, asked)
        if isinstance(work, CompletionAway):
            work.id = run.id
            return await self._answer(request, run, work, asked, self._passing)
        shape = shape_of(kind, run.id, asked)
        told = ToldHere(work, shape, usage=asked.usage, logprobs=asked.top is not None)
        return await self._answer(request, run, told, asked, self._pace)

    def _completion(
        self, request: Request, kind: Kind, data: dict[str, Value], asked: Asked
    ) -> Completion | CompletionAway:
        runs, key = self._runs, key_of(request)

        def admit() -> None:
            runs.access.admit_schema(key, runs.limits.schemas)

        if self._away is not None and asked.model in self._away.names:
            return CompletionAway(self._away, kind, write_json(data), asked, self._forms, admit)
        found = self._models.completion(asked, admit)
        if found is None:
            raise no_model(asked.model, self.names)
        return found

    def _run(
        self,
        request: Request,
        work: Completion | CompletionAway | FunctionAnswer,
        arguments: dict[str, object],
        asked: Asked,
    ) -> Run:
        seed = (asked.seed or 0) % _SEEDS
        options = CallOptions(seed, asked.most, self._runs.limits.seconds)
        return self._runs.start(work, arguments, options, key_of(request), told=False)

    async def _answer(
        self, request: Request, run: Run, told: Told, asked: Asked, pace: StreamPace
    ) -> Response | Chunks:
        if asked.stream:
            return Chunks(self._runs, run, told, pace)
        await self._runs.attend(run, request.receive)
        if run.answer is None:
            return Response(status_code=204)  # nobody reads it
        if run.answer.problem is not None:
            return error_response(run.answer.problem)
        return json_response(told.whole())


def _told(handler: Handler) -> Handler:
    """A handler whose refusals are errors of this protocol."""

    async def handling(request: Request) -> Response | Chunks:
        try:
            return await handler(request)
        except Refusal as refused:
            return error_response(refused.problem)

    return handling


def _functions(table: FunctionTable) -> dict[str, tuple[ServedFunction, str]]:
    """Functions of one text by the names of their models, each with its parameter."""
    return {
        FUNCTIONS + name: (function, parameter)
        for name, function in table.by_name.items()
        if (parameter := text_parameter(function)) is not None
    }


def text_parameter(function: ServedFunction) -> str | None:
    """The name of the only parameter of a function, if it is a text."""
    parameters = function.code.parameters
    program = function.program
    if len(parameters) != 1 or not _is_text(program.types[parameters[0].type], program.table):
        return None
    return parameters[0].name


def _is_text(type: Type, table: TypeTable) -> bool:
    while isinstance(type, Named):
        declared = table.get(type.name)
        if not isinstance(declared, AliasType):
            return False
        type = declared.type
    return isinstance(type, Str)


def _question(asked: Asked) -> str:
    """The last message of the user. Raises Refusal for parameters that are the program's own."""
    for name in asked.chosen:
        raise unsupported(name, f"the program of {asked.model} says it")
    for message in reversed(asked.conversations[0]):
        if message.role == "user":
            return message.text
    raise wrong("messages", f"{asked.model} answers the last message of the user, and there is none")
