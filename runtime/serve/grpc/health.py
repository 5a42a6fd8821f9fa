"""`grpc.health.v1.Health`: whether the server and its services take calls. It is told without a key."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator

import grpc
from google.protobuf.message import DecodeError
from grpc_health.v1 import health, health_pb2

from sglc.runtime.serve.grpc.handing import Arriving
from sglc.runtime.serve.grpc.statuses import abort
from sglc.runtime.serve.problems import Problem

MOST_HEALTH = 128
"""Most calls of health at a time: those without a key can take no more of the places of others."""
SERVICE = health.SERVICE_NAME


class Health:
    """Answers for the server, by the empty name, and for each of its services."""

    def __init__(self, services: Collection[str], arriving: Arriving) -> None:
        self._names = frozenset(("", *services))
        self._arriving = arriving
        self._servicer = health.HealthServicer()
        self._lock = threading.Lock()
        self._going = 0
        for name in self._names:
            self._servicer.set(name, health_pb2.HealthCheckResponse.SERVING)

    @property
    def handlers(self) -> grpc.GenericRpcHandler:
        """What answers its calls. They take a stream, so that a call is known before its message has come."""
        found = {
            "Check": grpc.stream_stream_rpc_method_handler(self._check),
            "Watch": grpc.stream_stream_rpc_method_handler(self._watch),
        }
        return grpc.method_handlers_generic_handler(SERVICE, found)

    def end(self) -> None:
        """From now on nothing takes calls."""
        self._servicer.enter_graceful_shutdown()

    def _check(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        request = self._asked(requests, context)
        if request.service not in self._names:
            abort(context, Problem(404, "NotFound", "there is no such service"))
        yield self._servicer.Check(request, context).SerializeToString()

    def _watch(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[bytes]:
        for each in self._servicer.Watch(self._asked(requests, context), context):
            yield each.SerializeToString()

    def _asked(
        self, requests: Iterator[bytes], context: grpc.ServicerContext
    ) -> health_pb2.HealthCheckRequest:
        """The one message of a call. The package keeps names that are watched for ever, so all that are not
        known are one. Raises what ends a call."""
        with self._lock:
            full = self._going >= MOST_HEALTH
            self._going += not full
        if full:
            abort(context, Problem(429, "Busy", f"{MOST_HEALTH} calls ask for health", retry_after=1))
        if not context.add_callback(self._gone):
            self._gone()
        request = health_pb2.HealthCheckRequest()
        try:
            request.ParseFromString(self._arriving.first(requests, context))
        except DecodeError:
            abort(context, Problem(400, "Arguments", "the request is no message HealthCheckRequest"))
        return request if request.service in self._names else health_pb2.HealthCheckRequest(service="?")

    def _gone(self) -> None:
        with self._lock:
            self._going -= 1
