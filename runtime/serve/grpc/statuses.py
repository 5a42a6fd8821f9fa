"""Problems as the status of a call: a code, a sentence, and the whole as `google.rpc.Status`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn
from urllib.parse import quote

from google.protobuf import any_pb2, descriptor_pb2, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from grpc import ServicerContext, StatusCode

from sglc.runtime.serve.problems import Problem
from sglc.types.text.plain_json import write_json

CODES: Mapping[int, StatusCode] = {
    400: StatusCode.INVALID_ARGUMENT,
    401: StatusCode.UNAUTHENTICATED,
    403: StatusCode.PERMISSION_DENIED,
    404: StatusCode.NOT_FOUND,
    408: StatusCode.DEADLINE_EXCEEDED,
    409: StatusCode.ALREADY_EXISTS,
    413: StatusCode.OUT_OF_RANGE,
    422: StatusCode.FAILED_PRECONDITION,
    429: StatusCode.RESOURCE_EXHAUSTED,
    500: StatusCode.INTERNAL,
    501: StatusCode.UNIMPLEMENTED,
    502: StatusCode.UNAVAILABLE,
    503: StatusCode.UNAVAILABLE,
    504: StatusCode.DEADLINE_EXCEEDED,
}
"""By the status over HTTP. Clients that call again by themselves do so for UNAVAILABLE."""
DETAILS = "grpc-status-details-bin"
PUSHBACK = "grpc-retry-pushback-ms"
"""When a client that calls again by itself may do so (gRFC A6)."""
MOST_SENTENCE = 1_200
"""Most bytes of the sentence in its header, where a letter beyond ASCII takes three for each of its own."""
MOST_DETAIL = 1_000
MOST_DETAILS = 3_000
"""Most bytes of SglProblem. Clients take 8 KiB of all headers, and read bytes in base 64 where they must."""
TYPE_PREFIX = "type.googleapis.com/"


def _status_class() -> type[Message]:
    """The class of google.rpc.Status, in a pool of its own: another package may have it in the shared one."""
    made = descriptor_pb2.FileDescriptorProto(
        name="google/rpc/status.proto", package="google.rpc", syntax="proto3"
    )
    made.dependency.append(any_pb2.DESCRIPTOR.name)
    status = made.message_type.add(name="Status")
    kind = descriptor_pb2.FieldDescriptorProto
    one, many = kind.LABEL_OPTIONAL, kind.LABEL_REPEATED
    status.field.add(name="code", number=1, type=kind.TYPE_INT32, label=one)
    status.field.add(name="message", number=2, type=kind.TYPE_STRING, label=one)
    (packed,) = any_pb2.DESCRIPTOR.message_types_by_name.values()
    name = f".{packed.full_name}"
    status.field.add(name="details", number=3, type=kind.TYPE_MESSAGE, type_name=name, label=many)
    pool = DescriptorPool()
    pool.AddSerializedFile(any_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(made.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("google.rpc.Status"))


STATUS = _status_class()


def code_of(problem: Problem) -> StatusCode:
    """The code of a problem."""
    return CODES.get(problem.status, StatusCode.UNKNOWN)


def sentence_of(problem: Problem) -> str:
    """Name and detail, as far as they have room."""
    text = f"{problem.name}: {problem.detail}"
    if len(quote(text)) <= MOST_SENTENCE:
        return text
    while len(quote(text)) > MOST_SENTENCE:
        text = text[: len(text) * 3 // 4]
    return text + "…"


def details_of(problem: Problem, run: str, kind: type[Message]) -> bytes:
    """google.rpc.Status with the problem as its one detail, a message SglProblem.

    What has no room in a header is cut, as the partial text, or left out, as the fields.
    """
    made = kind(
        status=problem.status,
        name=problem.name,
        detail=_cut(problem.detail, MOST_DETAIL),
        code=problem.code,
        hint=_cut(problem.hint, MOST_DETAIL),
        run=run,
    )
    told = problem.data()
    if "retry_after" in told:
        made.retry_after = told["retry_after"]
    fields = write_json(told.get("fields", {}))
    if problem.fields and made.ByteSize() + len(fields.encode()) <= MOST_DETAILS:
        made.fields = fields
    made.partial = _cut(problem.partial or "", max(0, MOST_DETAILS - made.ByteSize()))
    detail = {"type_url": TYPE_PREFIX + made.DESCRIPTOR.full_name, "value": made.SerializeToString()}
    status = STATUS(code=code_of(problem).value[0], message=sentence_of(problem), details=[detail])
    return status.SerializeToString()


def _cut(text: str, most: int) -> str:
    """The beginning of a text of so many bytes."""
    return text.encode()[:most].decode(errors="ignore")


def abort(
    context: ServicerContext, problem: Problem, run: str = "", kind: type[Message] | None = None
) -> NoReturn:
    """End a call with a problem; `kind` is the class of SglProblem. Raises what ends the call."""
    trailing: list[tuple[str, str | bytes]] = []
    if kind is not None:
        trailing.append((DETAILS, details_of(problem, run, kind)))
    if problem.retry_after is not None:
        trailing.append((PUSHBACK, str(int(problem.retry_after * 1000))))
    context.set_trailing_metadata(tuple(trailing))
    context.abort(code_of(problem), sentence_of(problem))
    raise AssertionError("the call was ended")
