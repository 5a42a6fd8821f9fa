"""What every call passes: its key. Health is told without one; all else, reflection too, needs it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from urllib.parse import unquote

import grpc

from sglc.runtime.serve.access import ANYONE, Access, Key
from sglc.runtime.serve.grpc.statuses import abort, code_of
from sglc.runtime.serve.problems import Problem, Refusal

OPEN = "/grpc.health.v1.Health/"
"""What is told without a key."""
ACCESS = logging.getLogger("sglc.serve.access")
KEY: ContextVar[Key] = ContextVar("key", default=ANYONE)
"""The key that the call was let in by."""

Next = Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler | None]


class Guard(grpc.ServerInterceptor):
    """Stands before all services."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def intercept_service(
        self, continuation: Next, handler_call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler | None:
        """The handler of a call, or one that refuses it."""
        handler = continuation(handler_call_details)
        if handler is None or handler_call_details.method.startswith(OPEN):
            return handler
        given = metadata_of(handler_call_details.invocation_metadata).get("authorization", "")
        try:
            KEY.set(self._access.admit(given))
        except Refusal as refused:
            return _refusing(handler_call_details.method, refused.problem)
        return handler


def metadata_of(given: object) -> Mapping[str, str]:
    """The metadata of a call that are texts."""
    pairs = given if isinstance(given, tuple | list) else ()
    return {name: value for name, value in pairs if isinstance(value, str)}


def address_of(peer: str) -> str:
    """The address in the name of a connection, as gRPC has it (`ipv4:192.0.2.1:4711`); empty for another."""
    kind, _, place = unquote(peer).partition(":")
    return place.rpartition(":")[0].strip("[]") if kind in ("ipv4", "ipv6") else ""


def _refusing(path: str, problem: Problem) -> grpc.RpcMethodHandler:
    """A handler that ends each call with the problem at once, whether its message has come or not."""

    def refuse(requests: object, context: grpc.ServicerContext) -> None:
        client = address_of(context.peer())
        ACCESS.info("GRPC %s %s%s", path, code_of(problem).name, f" from={client}" if client else "")
        abort(context, problem)

    return grpc.stream_stream_rpc_method_handler(refuse)
