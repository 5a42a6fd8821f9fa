"""Calls of functions over gRPC: a request in, its reply or its events out."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import grpc
from google.protobuf.message import DecodeError
from grpc.aio import ServicerContext

from sglc.runtime.serve.functions import ServedFunction
from sglc.runtime.serve.grpc.descriptors import message_class
from sglc.runtime.serve.grpc.guard import KEY, metadata_of
from sglc.runtime.serve.grpc.statuses import abort, code_of
from sglc.runtime.serve.grpc.values import Codec, NotSaid
from sglc.runtime.serve.guard import trace_of
from sglc.runtime.serve.options import CallOptions, call_options
from sglc.runtime.serve.problems import Problem, Refusal, internal, refusal
from sglc.runtime.serve.runs import Run, Runs, Told
from sglc.targets.proto.description import ProtoFile, ProtoMethod
from sglc.targets.proto.own import OPTIONS_NUMBER, PROBLEM
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import parse_json, write_json

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import Message

LOG = logging.getLogger("sglc.serve")
ACCESS = logging.getLogger("sglc.serve.access")
Answered = TypeVar("Answered")
LEAST_SECONDS = 0.001


def handlers(
    runs: Runs, functions: Mapping[str, ServedFunction], file: ProtoFile, pool: DescriptorPool
) -> grpc.GenericRpcHandler:
    """What answers the calls of one service."""
    found: dict[str, grpc.RpcMethodHandler] = {}
    codecs: dict[int, Codec] = {}
    for each in file.methods:
        function = functions[each.function]
        codec = codecs.setdefault(id(function.program), Codec(file, function.program.table))
        method = Method(runs, function, each, file, pool, codec)
        # Bytes come in and go out: what cannot be read is answered, not logged as a fault.
        found[each.name] = (
            grpc.unary_stream_rpc_method_handler(method.stream)
            if each.streamed
            else grpc.unary_unary_rpc_method_handler(method.unary)
        )
    return grpc.method_handlers_generic_handler(file.full_service, found)


class Method:
    """One way to call a function."""

    def __init__(
        self,
        runs: Runs,
        function: ServedFunction,
        method: ProtoMethod,
        file: ProtoFile,
        pool: DescriptorPool,
        codec: Codec,
    ) -> None:
        self._runs = runs
        self._function = function
        self._codec = codec
        self._request_name = method.request
        self._request = message_class(pool, file, method.request)
        self._reply = message_class(pool, file, method.reply)
        self._problem = message_class(pool, file, PROBLEM)
        fields = {each.name: each.fields for each in file.messages}
        self._options = next(each.name for each in fields[method.request] if each.number == OPTIONS_NUMBER)
        value_of = next(each for each in file.methods if each.function == function.name and not each.streamed)
        self._value = next((each for each in fields[value_of.reply] if each.key == "value"), None)
        self._path = f"/{file.full_service}/{method.name}"

    async def unary(self, data: bytes, context: ServicerContext) -> bytes:
        """Answer a call with its value. A client that leaves, or whose deadline comes, leaves the run."""
        return await self._answered(context, self._value_for(data, context))

    async def stream(self, data: bytes, context: ServicerContext) -> None:
        """Answer a call with its events, the last of which is the value."""
        await self._answered(context, self._tell(data, context))

    async def _answered(
        self, context: ServicerContext, work: Coroutine[object, object, Answered]
    ) -> Answered:
        """What the work gives. What it has no answer to ends the call with a problem."""
        call = _Call(self._path, context)
        try:
            return await work
        except asyncio.CancelledError:
            call.left = True
            raise
        except Refusal as refused:
            call.refuse(refused)
        except Exception:
            call.fail()
        finally:
            call.log()
        await call.abort(self._problem)
        raise AssertionError("the call was ended")

    async def _value_for(self, data: bytes, context: ServicerContext) -> bytes:
        run = self._start(data, context, told=False)
        assert run.task is not None, "a run that was started goes on"
        self._runs.enter(run)
        try:
            await asyncio.wait((run.task,))
        finally:
            self._runs.leave(run)
        reply = self._reply()
        self._fill(reply, run)
        found: bytes = reply.SerializeToString()
        return found

    async def _tell(self, data: bytes, context: ServicerContext) -> None:
        run = self._start(data, context, told=True)
        self._runs.enter(run)
        try:
            number, ended = 0, False
            while not ended:
                news = await run.log.after(number)
                if news[0].number > number + 1:
                    lost = self._reply(lost={"after": number, "before": news[0].number})
                    await self._write(run, context, lost)
                for each in news:
                    number, ended = each.number, each.last
                    await self._write(run, context, self._event(run, each))
        finally:
            self._runs.leave(run)

    def _start(self, data: bytes, context: ServicerContext, *, told: bool) -> Run:
        """Begin a run. Raises Refusal."""
        message = self._request()
        try:
            message.ParseFromString(data)
        except DecodeError:
            name = message.DESCRIPTOR.full_name
            raise refusal(
                400, "Arguments", f"the request is no message {name}, or is nested too deep"
            ) from None
        try:
            arguments = self._codec.arguments(message, self._request_name)
        except MemberError as wrong:
            raise refusal(400, "Arguments", f"the request is not what is wanted: {wrong}") from None
        options = self._call_options(message, context)
        return self._runs.start(self._function, arguments, options, KEY.get(), told=told)

    def _call_options(self, message: Message, context: ServicerContext) -> CallOptions:
        """The options in a request; the deadline of the call bounds its time too."""
        given = getattr(message, self._options)
        options = call_options({field.name: value for field, value in given.ListFields()}, self._runs.limits)
        left = context.time_remaining()
        if left is None:
            return options
        left = max(left, LEAST_SECONDS)
        return replace(options, timeout=left if options.timeout is None else min(options.timeout, left))

    def _event(self, run: Run, told: Told) -> Message:
        """An event as a message. Raises Refusal for the end of a run without a value."""
        message = self._reply(number=told.number)
        if told.last:
            message.value.SetInParent()
            self._fill(message.value, run)
        elif told.name == "partial":
            data = parse_json(told.data)
            assert isinstance(data, dict), "an event is an object"
            message.partial.hole = data["hole"]
            message.partial.branch = data.get("branch", "")
            message.partial.value = write_json(data["value"])
        else:
            message.told.name, message.told.data = told.name, told.data
        return message

    async def _write(self, run: Run, context: ServicerContext, message: Message) -> None:
        """One event. A client that takes none for too long is left."""
        try:
            async with asyncio.timeout(self._runs.limits.idle):
                await context.write(message.SerializeToString())
        except TimeoutError:
            slow = Problem(503, "Cancelled", "the client has read nothing for too long")
            run.cancel(slow)
            raise _Ended(slow, run.id) from None

    def _fill(self, reply: Message, run: Run) -> None:
        """The reply of a run that has ended. Raises Refusal for one without a value."""
        answer = run.answer
        assert answer is not None, "a run that has ended has an answer"
        if answer.problem is not None:
            raise _Ended(answer.problem, run.id)
        reply.id = run.id
        for name, value in answer.usage.items():
            setattr(reply.usage, name, value)
        for check in answer.checks:
            reply.checks.add(passed=check["passed"], reason=check["reason"] or "")
        code = self._function.code
        if self._value is not None and code.result is not None:
            type = self._function.program.types[code.result]
            try:
                self._codec.set(reply, self._value, answer.found, type)
            except NotSaid as wrong:
                raise _Ended(_unsaid(str(wrong)), run.id) from None


class _Ended(Refusal):
    """A run that has ended without a value, or with one that no message has."""

    def __init__(self, problem: Problem, run: str) -> None:
        super().__init__(problem)
        self.run = run


class _Call:
    """A call while it is answered: how it ends, and what the log has of it."""

    def __init__(self, path: str, context: ServicerContext) -> None:
        self.problem: Problem | None = None
        self.run = ""
        self.left = False
        """Whether its client has gone, or its deadline has come."""
        self._path = path
        self._context = context
        self._began = time.monotonic()
        metadata = metadata_of(context.invocation_metadata())
        self._trace = trace_of(metadata.get("traceparent", ""))
        self._key = KEY.get()

    def refuse(self, refused: Refusal) -> None:
        """It has no answer."""
        self.problem = refused.problem
        if isinstance(refused, _Ended):
            self.run = refused.run

    def fail(self) -> None:
        """A fault of our own: the log has it under a number, which the client gets."""
        number = secrets.token_urlsafe(6)
        LOG.exception("call %s failed within", number)
        self.problem = internal(number)

    def log(self) -> None:
        """One line, without texts."""
        code = "OK" if self.problem is None else code_of(self.problem).name
        ACCESS.info(
            "GRPC %s %s %.0f ms%s%s",
            self._path,
            "CANCELLED" if self.left else code,
            (time.monotonic() - self._began) * 1000,
            f" key={self._key.name}" if self._key.name else "",
            f" trace={self._trace}" if self._trace else "",
        )

    async def abort(self, kind: type[Message]) -> None:
        """End the call with its problem."""
        assert self.problem is not None, "a call that has no value has a problem"
        await abort(self._context, self.problem, self.run, kind)


def _unsaid(why: str) -> Problem:
    return Problem(422, "Unsupported", f"the value cannot be said in a message: {why}")
