"""Messages of the debug adapter protocol: JSON with a header that says how long it is.

The protocol is described at https://microsoft.github.io/debug-adapter-protocol/specification.
"""

from __future__ import annotations

import json
from asyncio import IncompleteReadError, LimitOverrunError, StreamReader
from collections.abc import Callable, Mapping
from dataclasses import dataclass

LARGEST = 8 * 1024 * 1024
"""Most bytes of a message."""
LONGEST_HEADER = 4096
"""Most bytes of its header."""
Json = Mapping[str, object]


class BrokenFraming(Exception):
    """What came is no message, and where the next one begins cannot be known."""


class BadRequest(Exception):
    """A request that cannot be met, with the reason."""


class Output:
    """Writes messages; each gets the next number."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self._next = 1

    def send(self, message: Json) -> None:
        """Write one message."""
        body = json.dumps({"seq": self._next, **message}, ensure_ascii=False, default=str).encode(
            "utf-8", "replace"
        )
        self._next += 1
        self._write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def event(self, name: str, body: Json | None = None) -> None:
        """Tell the client of something."""
        self.send({"type": "event", "event": name, "body": body or {}})

    def response(self, request: int, command: str, body: Json | None = None) -> None:
        """Answer a request."""
        told = {"type": "response", "request_seq": request, "command": command, "success": True}
        self.send({**told, "body": body or {}})

    def refusal(self, request: int, command: str, reason: str) -> None:
        """Answer a request that cannot be met."""
        told = {"type": "response", "request_seq": request, "command": command, "success": False}
        error = {"id": 1, "format": "{reason}", "variables": {"reason": reason}, "showUser": True}
        self.send({**told, "message": reason, "body": {"error": error}})


async def next_message(reader: StreamReader, largest: int = LARGEST) -> bytes | None:
    """The bytes of the next message, None behind the last one. Raises BrokenFraming, also for a message of
    more than `largest` bytes."""
    try:
        header = await reader.readuntil(b"\r\n\r\n")
    except IncompleteReadError as end:
        if end.partial.strip():
            raise BrokenFraming("the input ends within a header") from None
        return None
    except LimitOverrunError:
        raise BrokenFraming(f"a header has more than {LONGEST_HEADER} bytes") from None
    size = _size(header, largest)
    try:
        return await reader.readexactly(size)
    except IncompleteReadError:
        raise BrokenFraming("the input ends within a message") from None


def _size(header: bytes, largest: int) -> int:
    """The size that a header tells. It has no other field: what a browser sends to a port is no message."""
    size: int | None = None
    for line in header.removesuffix(b"\r\n\r\n").split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-type":
            continue
        if name.strip().lower() != b"content-length":
            raise BrokenFraming("a header has Content-Length, and no other field")
        text = value.strip()
        if not text.isdigit() or len(text) >= 12 or int(text) > largest:
            raise BrokenFraming(f"a message has at most {largest} bytes")
        size = int(text)
    if size is None:
        raise BrokenFraming("a header has no Content-Length")
    return size


@dataclass(frozen=True, slots=True)
class Request:
    """A request of a client. Its arguments are read by name, each as the kind that it has to be."""

    number: int
    command: str
    arguments: Json

    def text(self, name: str, default: str | None = None) -> str:
        """A text. Raises BadRequest."""
        found = self.arguments.get(name, default)
        if not isinstance(found, str):
            raise BadRequest(f"`{name}` of {self.command} is to be a text")
        return found

    def number_of(self, name: str, default: int | None = None) -> int:
        """A whole number. Raises BadRequest."""
        found = self.arguments.get(name, default)
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < 1 << 53:
            raise BadRequest(f"`{name}` of {self.command} is to be a whole number from 0 on")
        return found

    def flag(self, name: str, default: bool) -> bool:
        """True or false. Raises BadRequest."""
        found = self.arguments.get(name, default)
        if not isinstance(found, bool):
            raise BadRequest(f"`{name}` of {self.command} is to be true or false")
        return found

    def part(self, name: str) -> Request:
        """An object, read as arguments are; empty where it is missing. Raises BadRequest."""
        found = self.arguments.get(name, {})
        if not isinstance(found, dict):
            raise BadRequest(f"`{name}` of {self.command} is to be an object")
        return Request(self.number, f"{self.command}.{name}", found)

    def parts(self, name: str) -> list[Request]:
        """A list of objects, each read as arguments are. Raises BadRequest."""
        found = self.arguments.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise BadRequest(f"`{name}` of {self.command} is to be a list of objects")
        return [Request(self.number, f"{self.command}.{name}", each) for each in found]

    def texts(self, name: str) -> list[str]:
        """A list of texts. Raises BadRequest."""
        found = self.arguments.get(name, [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise BadRequest(f"`{name}` of {self.command} is to be a list of texts")
        return [str(each) for each in found]


def read_request(data: bytes) -> Request | None:
    """A message as a request; None for an event or a response, of which none is expected.

    Raises BadRequest for what is no message.
    """
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise BadRequest("the message is not JSON") from None
    if not isinstance(message, dict):
        raise BadRequest("the message is not a JSON object")
    if message.get("type") in ("event", "response"):
        return None
    number, command, arguments = message.get("seq"), message.get("command"), message.get("arguments")
    if isinstance(number, bool) or not isinstance(number, int):
        raise BadRequest("the message has no number `seq`")
    if message.get("type") != "request" or not isinstance(command, str):
        raise BadRequest("the message is no request with a command")
    if arguments is not None and not isinstance(arguments, dict):
        raise BadRequest("`arguments` of a request is an object")
    return Request(number, command, arguments or {})
