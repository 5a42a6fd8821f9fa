"""Calls of functions over gRPC: a request in, its reply or its events out."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import grpc
from google.protobuf.message import DecodeError
from grpc import ServicerContext

from sglc.runtime.serve.functions import ServedFunction
from sglc.runtime.serve.grpc.descriptors import message_class
from sglc.runtime.serve.grpc.guard import KEY, address_of, metadata_of
from sglc.runtime.serve.grpc.handing import Arriving, Handed, waited
from sglc.runtime.serve.grpc.statuses import abort, code_of
from sglc.runtime.serve.grpc.values import Codec, NotSaid
from sglc.runtime.serve.guard import trace_of
from sglc.runtime.serve.keeping.log import Told
from sglc.runtime.serve.options import CallOptions, call_options
from sglc.runtime.serve.problems import Problem, Refusal, internal, refusal
from sglc.runtime.serve.runs import Run, Runs
from sglc.targets.proto.description import ProtoFile, ProtoMethod
from sglc.targets.proto.own import OPTIONS_NUMBER, PROBLEM, SO_FAR
from sglc.targets.proto.partials import Partials
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import from_json, parse_json, write_json
from sglc.types.values import Value

if TYPE_CHECKING:
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import Message

LOG = logging.getLogger("sglc.serve")
ACCESS = logging.getLogger("sglc.serve.access")
LEAST_SECONDS = 0.001


class Service:
    """The service of one program. To be made on the loop of the runs."""

    def __init__(
        self, runs: Runs, file: ProtoFile, pool: DescriptorPool, partials: Partials, arriving: Arriving
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self.runs = runs
        self.codec = Codec(file, partials.table)
        self.partials = partials
        self.arriving = arriving
        self.fields = {each.name: each.fields for each in file.messages}
        self._file = file
        self._pool = pool
        self.problem = self.class_of(PROBLEM)

    def class_of(self, name: str) -> type[Message]:
        """The class of a message by its path."""
        return message_class(self._pool, self._file, name)

    def path(self, method: ProtoMethod) -> str:
        """What a method is called by on a connection."""
        return f"/{self._file.full_service}/{method.name}"

    def reply_of(self, function: str) -> str:
        """The message that has the value of a function."""
        methods = (each for each in self._file.methods if not each.streamed)
        return next(each.reply for each in methods if each.function == function)

    def handlers(self, functions: Mapping[str, ServedFunction]) -> grpc.GenericRpcHandler:
        """What answers its calls."""
        found: dict[str, grpc.RpcMethodHandler] = {}
        for each in self._file.methods:
            method = Method(self, functions[each.function], each)
            # Bytes come in and go out: what cannot be read is answered, not logged as a fault.
            # All take a stream: a call is known before its message has come.
            answer = method.stream if each.streamed else method.unary
            found[each.name] = grpc.stream_stream_rpc_method_handler(answer)
        return grpc.method_handlers_generic_handler(self._file.full_service, found)


class Method:
    """One way to call a function."""

    def __init__(self, service: Service, function: ServedFunction, method: ProtoMethod) -> None:
        self._service = service
        self._loop, self._runs, self._codec = service.loop, service.runs, service.codec
        self._problem = service.problem
        self._function = function
        self._path = service.path(method)
        self._request, self._request_name = service.class_of(method.request), method.request
        self._reply = service.class_of(method.reply)
        requested = service.fields[method.request]
        self._options = next(each.name for each in requested if each.number == OPTIONS_NUMBER)
        replied = {each.key: each for each in service.fields[service.reply_of(function.name)]}
        self._value = replied.get("value")
        told = {each.key: each for each in service.fields[method.reply]}
        self._so_far, self._partial = told.get(SO_FAR), service.partials.types.get(function.name)

    def unary(self, requests: Iterator[bytes], context: ServicerContext) -> Iterator[bytes]:
        """Answer a call with its value. A client that leaves, or whose deadline comes, leaves the run."""
        data, call = self._service.arriving.first(requests, context), _Call(self._path, context)
        found = waited(context, self._loop, self._answered(call, lambda: self._value_for(data, call)))
        value = self._ended(context, found)
        if value is not None:
            yield value

    def stream(self, requests: Iterator[bytes], context: ServicerContext) -> Iterator[bytes]:
        """Answer a call with its events, the last of which is the value."""
        data = self._service.arriving.first(requests, context)
        call, handed = _Call(self._path, context), Handed(self._runs.limits.idle)
        work = self._answered(call, lambda: self._tell(data, call, handed))
        self._ended(context, (yield from handed.told(context, self._loop, work)))

    def _ended(self, context: ServicerContext, found: bytes | Failed | None) -> bytes | None:
        """What a call is answered with. Raises what ends one that has failed."""
        if isinstance(found, Failed):
            abort(context, found.problem, found.run, self._problem)
        return found

    async def _answered(
        self, call: _Call, work: Callable[[], Coroutine[object, object, bytes]]
    ) -> bytes | Failed:
        """What the work gives, or why it gives nothing."""
        code = "CANCELLED"
        try:
            found: bytes | Failed = await work()
            code = "OK"
        except _NoValue as ended:
            found, code = Failed(ended.problem, ended.run), code_of(ended.problem).name
        except Refusal as refused:
            found, code = Failed(refused.problem), code_of(refused.problem).name
        except Exception:
            number = secrets.token_urlsafe(6)
            LOG.exception("call %s failed within", number)
            found, code = Failed(internal(number)), "INTERNAL"
        finally:
            call.log(code)
        return found

    async def _value_for(self, data: bytes, call: _Call) -> bytes:
        run = self._start(data, call, told=False)
        assert run.task is not None, "a run that was started goes on"
        self._runs.enter(run)
        try:
            await asyncio.wait((run.task,))
            reply = self._reply()
            self._fill(reply, run)
            found: bytes = reply.SerializeToString()
            self._runs.had(run)
        finally:
            self._runs.leave(run)
        return found

    async def _tell(self, data: bytes, call: _Call, handed: Handed) -> bytes:
        run = self._start(data, call, told=True)
        self._runs.enter(run)
        try:
            number, ended = 0, False
            while not ended:
                news = await run.log.after(number)
                if news[0].number > number + 1:
                    lost = self._reply(lost={"after": number, "before": news[0].number})
                    await self._write(run, handed, lost)
                for each in news:
                    number, ended = each.number, each.last
                    await self._write(run, handed, self._event(run, each))
            self._runs.had(run)
        finally:
            self._runs.leave(run)
        return b""

    def _start(self, data: bytes, call: _Call, *, told: bool) -> Run:
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
        options = self._call_options(message, call)
        return self._runs.start(self._function, arguments, options, call.key, told=told)

    def _call_options(self, message: Message, call: _Call) -> CallOptions:
        """The options in a request; the deadline of the call bounds its time too."""
        given = getattr(message, self._options)
        options = call_options({field.name: value for field, value in given.ListFields()}, self._runs.limits)
        if call.seconds is None:
            return options
        left = max(call.seconds, LEAST_SECONDS)
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
            self._tell_so_far(message, str(data["hole"]), data["value"])
        else:
            message.told.name, message.told.data = told.name, told.data
        return message

    def _tell_so_far(self, message: Message, hole: str, value: Value) -> None:
        """What is there of the result, where the hole has its type and the value one of the partial type."""
        code, program = self._function.code, self._function.program
        if self._so_far is None or self._partial is None or code.result is None:
            return
        if self._function.hole_type(hole) != program.types[code.result]:
            return
        try:
            found = from_json(value, self._partial, self._service.partials.table)
            self._codec.set(message, self._so_far, found, self._partial)
        except (MemberError, NotSaid):
            message.ClearField(self._so_far.name)

    async def _write(self, run: Run, handed: Handed, message: Message) -> None:
        """One event. A client that takes none for too long is left."""
        try:
            await handed.put(message.SerializeToString())
        except TimeoutError:
            slow = Problem(503, "Cancelled", "the client has read nothing for too long")
            run.cancel(slow)
            raise _NoValue(slow, run.id) from None

    def _fill(self, reply: Message, run: Run) -> None:
        """The reply of a run that has ended. Raises Refusal for one without a value."""
        answer = run.answer
        assert answer is not None, "a run that has ended has an answer"
        if answer.problem is not None:
            raise _NoValue(answer.problem, run.id)
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
                raise _NoValue(_unsaid(str(wrong)), run.id) from None


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a call has no value, and the run that ended so."""

    problem: Problem
    run: str = ""


class _NoValue(Refusal):
    """A run that has ended without a value, or with one that no message has."""

    def __init__(self, problem: Problem, run: str) -> None:
        super().__init__(problem)
        self.run = run


class _Call:
    """What is known of a call when it comes, and what the log has of it when it ends."""

    def __init__(self, path: str, context: ServicerContext) -> None:
        self.key = KEY.get()
        self.seconds: float | None = context.time_remaining()
        """Until its deadline."""
        self._path = path
        self._began = time.monotonic()
        self._client = address_of(context.peer())
        self._trace = trace_of(metadata_of(context.invocation_metadata()).get("traceparent", ""))

    def log(self, code: str) -> None:
        """One line, without texts."""
        ACCESS.info(
            "GRPC %s %s %.0f ms%s%s%s",
            self._path,
            code,
            (time.monotonic() - self._began) * 1000,
            f" from={self._client}" if self._client else "",
            f" key={self.key.name}" if self.key.name else "",
            f" trace={self._trace}" if self._trace else "",
        )


def _unsaid(why: str) -> Problem:
    return Problem(422, "Unsupported", f"the value cannot be said in a message: {why}")
