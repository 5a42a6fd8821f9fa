"""Files of traffic: a line of JSON for the format, then one for each exchange.

    {"sglc-traffic": 1}
    {"number": 0, "digest": "…", "method": "POST", "url": "https://…", "body": "…", "status": 200,
     "headers": {…}, "pieces": [[0.41, "data: …"], …], "whole": true}

Bytes that are UTF-8 stand as text, others as `{"base64": …}`. Times are seconds since the request was sent.
`whole` is false where the reader closed the reply before its end. A reply that failed has `fault`.
"""

from __future__ import annotations

import base64
import binascii
import errno
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO, TypeVar

from sglc.cache_files import PRIVATE_FILE, open_private

T = TypeVar("T")
VERSION = 1
FORMAT = "sglc-traffic"
MOST_BYTES = 1 << 30
"""Bytes of a file. A thousand long conversations have some tens of millions; a file that is larger was not
made by a test, and would be held in memory when it is replayed."""
MOST_LINE = 1 << 26
"""Bytes of one exchange: more than the longest context of any model has."""


class TrafficError(ValueError):
    """A file of traffic that cannot be written or read; the message says where and why."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A `BackendFault` as plain data."""

    cause: str
    message: str
    status: int | None = None
    again: bool = False
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its reply, without secrets. `pieces`: seconds and bytes of each piece of the body."""

    number: int
    method: str
    url: str
    body: bytes
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: tuple[tuple[float, bytes], ...] = ()
    whole: bool = True
    fault: Fault | None = None

    @property
    def digest(self) -> str:
        """What it is found by: of method, address and body."""
        return digest(self.method, self.url, self.body)


def digest(method: str, url: str, body: bytes) -> str:
    """SHA-256 of a request, in hexadecimal."""
    return hashlib.sha256(b"\n".join((method.encode(), url.encode(), body))).hexdigest()


class TrafficFile:
    """Writes exchanges, each as a whole line. The file is its user's alone."""

    def __init__(self, path: str | Path) -> None:
        """Begin a file. Raises OSError, for a file in which something stands FileExistsError; a recording
        without an exchange, of a run that asked nothing, is replaced."""
        self._path = path
        first = json.dumps({FORMAT: VERSION}) + "\n"
        with suppress(FileNotFoundError), open(path, "rb") as there:
            if there.read(len(first) + 1) not in (b"", first.encode()):
                raise FileExistsError(errno.EEXIST, "something stands in it", str(path))
        self._file: TextIO = open_private(path)
        if os.name == "posix":
            os.fchmod(self._file.fileno(), PRIVATE_FILE)
        self._bytes = 0
        self._line({FORMAT: VERSION})

    def write(self, exchange: Exchange) -> None:
        """Add an exchange. Raises TrafficError where the file would become too large, and OSError."""
        data: dict[str, object] = {
            "number": exchange.number,
            "digest": exchange.digest,
            "method": exchange.method,
            "url": exchange.url,
            "body": _shown(exchange.body),
        }
        if exchange.fault is not None:
            fault = exchange.fault
            data["fault"] = {name: getattr(fault, name) for name in Fault.__dataclass_fields__}
        if exchange.status:
            data["status"] = exchange.status
            data["headers"] = dict(exchange.headers)
            data["pieces"] = [[round(at, 4), _shown(piece)] for at, piece in exchange.pieces]
            data["whole"] = exchange.whole
        self._line(data)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _line(self, data: Mapping[str, object]) -> None:
        line = json.dumps(data, ensure_ascii=True) + "\n"
        self._bytes += len(line)
        if len(line) > MOST_LINE or self._bytes > MOST_BYTES:
            raise TrafficError(
                f"{self._path}: more than {MOST_BYTES:,} bytes, or {MOST_LINE:,} of one exchange"
            )
        self._file.write(line)
        self._file.flush()


def read_traffic(path: str | Path) -> list[Exchange]:
    """The exchanges of a file, in the order in which they were sent. Raises OSError and TrafficError."""
    if os.path.getsize(path) > MOST_BYTES:
        raise TrafficError(f"{path}: more than {MOST_BYTES:,} bytes")
    exchanges = list(_exchanges(path))
    return sorted(exchanges, key=lambda each: each.number)


def _exchanges(path: str | Path) -> Iterator[Exchange]:
    with open(path, "rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(MOST_LINE + 1), b""), 1):
            place = f"{path}:{number}"
            if len(line) > MOST_LINE:
                raise TrafficError(f"{place}: more than {MOST_LINE:,} bytes in a line")
            try:
                data = json.loads(line)
            except (ValueError, RecursionError):
                raise TrafficError(f"{place}: no JSON") from None
            if number == 1:
                _check_format(data, place)
            else:
                yield _exchange(data, place)
        if file.tell() == 0:
            raise TrafficError(f"{path}: empty, not recorded by `--record`")


def _check_format(data: object, place: str) -> None:
    version = data.get(FORMAT) if isinstance(data, dict) else None
    if version is None:
        raise TrafficError(f"{place}: not recorded by `--record`")
    if version != VERSION:
        raise TrafficError(f"{place}: version {version!r}, and this sglc reads {VERSION}; record it again")


def _exchange(data: Any, place: str) -> Exchange:
    try:
        fault = data.get("fault")
        return Exchange(
            _kind(data["number"], int),
            _kind(data["method"], str),
            _kind(data["url"], str),
            _bytes(data["body"]),
            _kind(data.get("status", 0), int),
            {_kind(name, str): _kind(value, str) for name, value in data.get("headers", {}).items()},
            tuple((float(at), _bytes(piece)) for at, piece in data.get("pieces", ())),
            _kind(data.get("whole", True), bool),
            None if fault is None else _fault(fault),
        )
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise TrafficError(f"{place}: no exchange ({type(error).__name__}: {error})") from None


def _fault(data: Any) -> Fault:
    status, retry_after = data.get("status"), data.get("retry_after")
    return Fault(
        _kind(data["cause"], str),
        _kind(data["message"], str),
        None if status is None else _kind(status, int),
        _kind(data.get("again", False), bool),
        None if retry_after is None else float(retry_after),
    )


def _kind(value: object, kind: type[T]) -> T:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"{value!r:.60} is no {kind.__name__}")
    return value


def _shown(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _bytes(data: Any) -> bytes:
    if isinstance(data, str):
        return data.encode()
    try:
        return base64.b64decode(_kind(data["base64"], str), validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
