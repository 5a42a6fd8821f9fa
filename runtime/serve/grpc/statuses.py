"""Problems as the status of a call: a code, a sentence, and the whole as `google.rpc.Status`."""

from __future__ import annotations

from collections.abc import Mapping

from google.protobuf import any_pb2, descriptor_pb2, message_factory
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from grpc import StatusCode
from grpc.aio import ServicerContext

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
LONGEST = 1_000
"""Most characters of the sentence: it travels in a header."""
LONGEST_DETAILS = 6_000
"""Most bytes of the details, which travel in a header too: clients take 8 KiB of all headers."""
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
    """Name and detail in one line."""
    text = f"{problem.name}: {problem.detail}"
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def details_of(problem: Problem, run: str, kind: type[Message]) -> bytes:
    """google.rpc.Status with the problem as its one detail, a message SglProblem.

    What is too long for a header is left out of it: first the partial text, then the fields.
    """
    fields: dict[str, object] = {
        "status": problem.status,
        "name": problem.name,
        "detail": problem.detail[:LONGEST],
        "code": problem.code,
        "hint": problem.hint[:LONGEST],
        "fields": write_json(problem.fields) if problem.fields else "",
        "partial": problem.partial or "",
        "run": run,
    }
    told = problem.data().get("retry_after")
    if told is not None:
        fields["retry_after"] = told
    for left_out in ("", "partial", "fields"):
        fields.pop(left_out, None)
        made = kind(**fields)
        if made.ByteSize() <= LONGEST_DETAILS:
            break
    detail = {"type_url": TYPE_PREFIX + made.DESCRIPTOR.full_name, "value": made.SerializeToString()}
    status = STATUS(code=code_of(problem).value[0], message=sentence_of(problem), details=[detail])
    return status.SerializeToString()


async def abort(
    context: ServicerContext, problem: Problem, run: str = "", kind: type[Message] | None = None
) -> None:
    """End a call with a problem; `kind` is the class of SglProblem. Raises what ends the call."""
    trailing: list[tuple[str, str | bytes]] = []
    if kind is not None:
        trailing.append((DETAILS, details_of(problem, run, kind)))
    if problem.retry_after is not None:
        trailing.append((PUSHBACK, str(int(problem.retry_after * 1000))))
    await context.abort(code_of(problem), sentence_of(problem), tuple(trailing))
