"""Many calls on one connection: `/v1/ws`.

    → {"id": 1, "call": "crew", "arguments": {"theme": "salvage"}, "events": true}
    ← {"id": 1, "event": "partial", "data": {…}}
    → {"id": 1, "cancel": true}
    ← {"id": 1, "event": "error", "data": {…}}

Each call ends with a `value` or an `error`. A message that cannot be read is answered with an `error`, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.websockets import WebSocket, WebSocketDisconnect

from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.functions import FunctionTable, parsed_body
from sglc.runtime.serve.options import call_options
from sglc.runtime.serve.problems import Problem, Refusal, of_arguments, refusal
from sglc.runtime.serve.requests import members
from sglc.runtime.serve.runs import Run, Runs
from sglc.types.language.membership import MemberError
from sglc.types.text.plain_json import write_json
from sglc.types.values import Value

PROTOCOL = "sglc.v1"
MOST_CALLS = 256
"""Most calls of one connection that go on at the same time."""
LONGEST_ID = 200
TOO_SLOW = 1013
NO_TEXT = 1003
"""Closes a connection whose client sends bytes (RFC 6455, 7.4.1)."""


class Connection:
    """One WebSocket, and the calls on it by their numbers."""

    def __init__(self, socket: WebSocket, table: FunctionTable, runs: Runs) -> None:
        self._socket = socket
        self._table = table
        self._runs = runs
        self._calls: dict[str | int, Run] = {}
        self._tellers: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    async def serve(self) -> None:
        """Read messages until the client has gone; then its calls are left."""
        offered = self._socket.scope.get("subprotocols", ())
        await self._socket.accept(PROTOCOL if PROTOCOL in offered else None)
        try:
            while True:
                await self._take(await self._socket.receive_text())
                await asyncio.sleep(0)  # thousands may lie ready, and nothing else happens in between
        except (WebSocketDisconnect, RuntimeError):
            pass  # it has gone
        except KeyError:
            await self._socket.close(NO_TEXT, "messages are texts")
        finally:
            for teller in self._tellers:
                teller.cancel()
            await asyncio.gather(*self._tellers, return_exceptions=True)

    async def _take(self, text: str) -> None:
        """Answer one message. What is wrong with it is told, and the connection stays."""
        id: str | int | None = None
        try:
            try:
                message = parsed_body(text)
            except MemberError as wrong:
                raise refusal(400, "Arguments", f"the message is not what is wanted: {wrong}") from None
            id = _id(message)
            if "cancel" in message:
                members(message, "id", "cancel")
                if id in self._calls:
                    self._calls[id].cancel()
                return
            self._begin(id, message)
        except Refusal as refused:
            await self._send(id, "error", refused.problem.text())
        except ArgumentError as error:
            await self._send(id, "error", of_arguments(error).text())

    def _begin(self, id: str | int, message: Mapping[str, Value]) -> None:
        members(message, "id", "call", "arguments", "options", "events")
        name, arguments = message.get("call"), message.get("arguments", {})
        told = message.get("events", False)
        if not isinstance(name, str) or not isinstance(arguments, dict) or not isinstance(told, bool):
            raise refusal(400, "Arguments", "a call has `call`, a name, `arguments`, an object, and `events`")
        if id in self._calls:
            raise refusal(409, "Arguments", f"the call {id} goes on already")
        if len(self._calls) >= MOST_CALLS:
            raise refusal(429, "Busy", f"{MOST_CALLS} calls go on on this connection", retry_after=1)
        options = call_options(message.get("options"), self._runs.limits)
        key = self._socket.scope["state"]["key"]
        run = self._runs.start(self._table.get(name), arguments, options, key, told=told)
        self._calls[id] = run
        teller = asyncio.ensure_future(self._tell(id, run))
        self._tellers.add(teller)
        teller.add_done_callback(self._tellers.discard)

    async def _tell(self, id: str | int, run: Run) -> None:
        self._runs.enter(run)
        number, ended = 0, False
        try:
            while not ended:
                for each in await run.log.after(number):
                    await self._send(id, each.name, each.data)
                    number, ended = each.number, each.last
            self._runs.had(run)
        finally:
            self._calls.pop(id, None)
            self._runs.leave(run)

    async def _send(self, id: str | int | None, name: str, data: str) -> None:
        """One message. A client that takes none for too long is left."""
        head = write_json({"id": id, "event": name})[:-1]
        try:
            async with self._turn, asyncio.timeout(self._runs.limits.idle):
                await self._socket.send_text(f'{head}, "data": {data}}}')
        except TimeoutError:
            slow = Problem(503, "Cancelled", "the client has read nothing for too long")
            for run in self._calls.values():
                run.cancel(slow)
            await self._socket.close(TOO_SLOW)
        except (WebSocketDisconnect, RuntimeError):
            pass  # it has gone; the reader of messages sees that too


def _id(message: Mapping[str, Value]) -> str | int:
    id = message.get("id")
    if isinstance(id, bool) or not isinstance(id, str | int) or len(str(id)) > LONGEST_ID:
        raise refusal(400, "Arguments", "`id` of a message is a text or a whole number")
    return id
