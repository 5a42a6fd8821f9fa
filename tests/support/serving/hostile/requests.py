"""Requests of HTTP that are wrong somewhere: in their bytes, heads, lengths, bodies, or their order."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from serving.hostile.calls import BODIES, PLAIN
from serving.hostile.json_texts import damaged, mutated

WORDS = (
    *(
        b"\0",
        b"\r\n",
        b"\r\n\r\n",
        b"\n",
        b"\r",
        b'"',
        b"[" * 200,
        b"{",
        b"1e999",
        b"-1",
        b"\xff\xfe",
        b"NaN",
    ),
    *(
        b"\xed\xa0\x80",
        b": ",
        b",",
        b" ",
        b"\t",
        b"\r\nx: y",
        b"\r\nContent-Length: 4",
        b"0\r\n\r\n",
        b"%00",
        b"%ff",
    ),
    *(b"\r\nTransfer-Encoding: chunked", b"HTTP/1.1", b"\x16\x03\x01", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
)


@dataclass(frozen=True, slots=True)
class Sent:
    """What a client sends on one connection. Where it is `whole` the server must answer and close without
    anything more; `path` is that of its requests where all of them surely have it. `pieces` are written
    one after the other."""

    kind: str
    pieces: tuple[bytes, ...]
    whole: bool
    path: str = ""
    head: bool = False
    """Whether a request may be one of HEAD, whose answers have no body."""

    @property
    def data(self) -> bytes:
        """All of it."""
        return b"".join(self.pieces)


def head_of(
    method: str, path: str, headers: Mapping[str, str] | tuple[tuple[str, str], ...], close: bool = True
) -> bytes:
    """The head of a request."""
    rows = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *(f"{name}: {value}" for name, value in rows)]
    return "\r\n".join([*lines, *(["Connection: close"] if close else []), "", ""]).encode("latin-1")


def request(dice: random.Random, body: bytes, path: str, close: bool = True, **more: str) -> bytes:
    """A request that is well, with a body of some bytes, by its length or in chunks."""
    headers = {"Content-Type": "application/json"} | {
        name.replace("_", "-"): value for name, value in more.items()
    }
    if path.startswith("/v1/functions") and dice.random() < 0.4:
        headers["Accept"] = "text/event-stream"
    if dice.random() < 0.8:
        return head_of("POST", path, headers | {"Content-Length": str(len(body))}, close) + body
    chunks, at = b"", 0
    while at < len(body):
        size = max(dice.randint(1, 400), len(body) // 20)
        chunks += (
            f"{len(body[at : at + size]):x}".encode()
            + dice.choice([b"", b"", b";a=b"])
            + b"\r\n"
            + body[at : at + size]
            + b"\r\n"
        )
        at += size
    return head_of("POST", path, headers | {"Transfer-Encoding": "chunked"}, close) + chunks + b"0\r\n\r\n"


def sound(dice: random.Random, close: bool = True) -> tuple[str, bytes]:
    """A request that is well, and its path."""
    if dice.random() < 0.3:
        path = dice.choice(PLAIN)
        return path, head_of(dice.choice(["GET", "GET", "DELETE"]), path, {"Accept": "*/*"}, close)
    path, body = dice.choice(BODIES)
    return path, request(dice, json.dumps(body).encode(), path, close)


# -- one kind of damage each --------------------------------------------------------------------------


def _bytes(dice: random.Random) -> Sent:
    return Sent("bytes", (damaged(dice, sound(dice)[1], WORDS),), False, head=True)


def _body(dice: random.Random) -> Sent:
    path, body = dice.choice(BODIES)
    return Sent("body", (request(dice, mutated(dice, body), path),), True, path)


HEADERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "Content-Type",
        (
            "text/plain",
            "application/json; charset=utf-16",
            "application/" + "x" * 5000,
            "",
            "a/b+json",
            "\xff",
        ),
    ),
    (
        "Accept",
        (
            "text/event-stream",
            "text/event-stream;q=0, */*",
            "," * 500,
            "\x80",
            "a" * 9000,
            "text/event-stream, application/json",
        ),
    ),
    (
        "Host",
        (
            "localhost",
            "localhost:99999",
            "[::1",
            "[::1]:80",
            "evil.example",
            "localhost@evil",
            "",
            "\xe9",
            "localhost, localhost",
        ),
    ),
    (
        "Authorization",
        ("Bearer", "Bearer  ", "Bearer \xff", "Basic eDp5", "Bearer " + "k" * 9000, "bearer a b c"),
    ),
    ("Prefer", ("respond-async", "respond-async, wait=0", "\x80", "wait=" + "9" * 99)),
    ("Last-Event-ID", ("4", "-1", "9" * 400, "\xb2", "1e3", "٣".encode().decode("latin-1"), "")),
    (
        "traceparent",
        (
            "00-" + "a" * 32 + "-" + "b" * 16 + "-01",
            "00-" + "0" * 32 + "-" + "0" * 16 + "-00",
            "\xff" * 55,
            "0" * 999,
        ),
    ),
    ("Expect", ("100-continue", "200-ok", "")),
    ("Origin", ("http://localhost", "null", "http://[::1", "\x80")),
    ("Upgrade", ("h2c", "websocket", "WebSocket, h2c", "\xff")),
    ("Cookie", ("a=b; " * 400, "\xe9=\xff")),
    ("Accept-Encoding", ("gzip, deflate, br", "*;q=0")),
    ("Range", ("bytes=0-1", "bytes=-" + "9" * 30, "lines=1")),
    ("If-None-Match", ("*", '"' + "x" * 4000 + '"')),
    ("X-Forwarded-For", ("1.2.3.4", "\x01", "a, " * 300)),
    ("X-" + "n" * 300, ("v", "")),
    ("Te", ("trailers", "chunked")),
)
ODD_LINES = (
    *(
        b"x : y",
        b" folded: line",
        b"\tfolded",
        b"no colon",
        b": no name",
        b"x:\x00y",
        b"x: a\x0bb",
        b"x: \x7f",
        b"(x): y",
    ),
    *(
        b"x: y\r\n\tand more",
        b"x: y\r\n  and more",
        b"x: y\rz: w",
        b"x: y\nz: w",
        b"\xc3\xa9: y",
        b"x: \xf0\x9f\x91\x8b",
    ),
)
METHODS = (
    "GET",
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "OPTIONS",
    "HEAD",
    "TRACE",
    "CONNECT",
    "PROPFIND",
    "get",
    "P\xd6ST",
    "M-SEARCH",
)
PATHS = (
    *(
        "*",
        "http://localhost/healthz",
        "http://evil.example/healthz",
        "//healthz",
        "/../../etc/passwd",
        "/ui/../../x",
        "/%2e%2e/x",
    ),
    *(
        "/v1/functions/%ff",
        "/v1/functions/%00",
        "/v1/functions/" + "a" * 8000,
        "/v1/functions/\xe9",
        "/v1/functions/%0d%0aset-cookie:a",
    ),
    *(
        "/v1/functions/double?x=1&y=%zz",
        "/v1/functions//double",
        "/v1/functions/double/",
        "/v1/runs/%f0%9f%91%8b",
        "/v1/models/%e9",
        "localhost:80",
    ),
    *(
        "/healthz#x",
        "/healthz;a=b",
        "/ui/%2e%2e%2f%2e%2e%2fetc/passwd",
        "/ui/%00",
        "/ui/" + "a/" * 900,
        "/%",
        "/v1/models/sgl/",
        "",
        "?",
    ),
)


def _head(dice: random.Random) -> Sent:
    """A request with headers that are odd, doubled, many or long; framing stays as it is."""
    path, data = sound(dice)
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    plain = True
    for _ in range(dice.choice((1, 1, 2, 3))):
        match dice.randrange(8):
            case 0:
                lines.insert(dice.randint(1, len(lines)), dice.choice(ODD_LINES))
                plain = False
            case 1:
                lines += [
                    f"x-{n}: {'v' * dice.choice((1, 200))}".encode()
                    for n in range(dice.choice((20, 130, 300)))
                ]
            case 2:
                lines.append(b"x-long: " + b"v" * dice.choice((8_000, 60_000, 66_000, 200_000)))
                plain = False
            case 3:
                kept = [
                    line
                    for line in lines[1:]
                    if not line.lower().startswith((b"content-length", b"transfer", b"connection"))
                ]
                lines.append(dice.choice(kept))
            case 4:
                words = lines[0].split(b" ")
                words[dice.randrange(3)] = dice.choice(
                    [*(each.encode("latin-1") for each in METHODS), b"HTTP/1.0", b"HTTP/9.9", b"", b"\0"]
                )
                lines[0] = b" ".join(words)
                plain = False
            case 5:
                lines[0] = lines[0].replace(path.encode(), dice.choice(PATHS).encode("latin-1"), 1)
                plain = False
            case _:
                name, values = dice.choice(HEADERS)
                if dice.random() < 0.5:
                    lines = [
                        lines[0],
                        *(
                            line
                            for line in lines[1:]
                            if not line.lower().startswith(name.lower().encode() + b":")
                        ),
                    ]
                lines.append(f"{name}: {dice.choice(values)}".encode("latin-1"))
                plain = plain and name not in ("Host", "Upgrade", "Expect")
    return Sent("head", (b"\r\n".join(lines) + b"\r\n\r\n" + body,), plain, path if plain else "", head=True)


LENGTHS = (
    *(
        ("Content-Length: 0",),
        ("Content-Length: -1",),
        ("Content-Length: +9",),
        ("Content-Length: 9, 9",),
        ("Content-Length: 1e1",),
    ),
    *(
        ("Content-Length: 99999999999999999999999",),
        ("Content-Length: 0x10",),
        ("Content-Length:",),
        ("Content-Length: 4", "Content-Length: 5"),
    ),
    *(("Content-Length: 33554432",), ("Content-Length: \xb2",), ("Content-Length: 4 4",), ()),
    *(
        ("Transfer-Encoding: chunked", "Content-Length: 5"),
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
    ),
    *(
        ("Transfer-Encoding: gzip",),
        ("Transfer-Encoding: gzip, chunked",),
        ("Transfer-Encoding: chunked, identity",),
    ),
    *(
        ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding : chunked",),
        ("Transfer-Encoding: xchunked",),
    ),
    *(
        ("Transfer-Encoding: \x0bchunked",),
        ("Transfer-Encoding: identity",),
        ("Transfer-Encoding:\tchunked",),
        ("Transfer-Encoding: CHUNKED",),
    ),
)
CHUNKS = (
    *(
        b"5\r\nab",
        b"-1\r\n",
        b"0x5\r\nabcde\r\n",
        b"ffffffffffffffff\r\n",
        b"fffffffffffffffff\r\n",
        b"5\nabcde\n0\n\n",
        b"5;" + b"e" * 70_000,
    ),
    *(
        b"zz\r\n",
        b"5\r\nabcdefgh\r\n",
        b" 5\r\nabcde\r\n",
        b"5 \r\nabcde\r\n",
        b"0\r\nx: y\r\n\r\n",
        b"0\r\n" + b"t: v\r\n" * 9_000 + b"\r\n",
        b"0\r\n: \r\n\r\n",
    ),
    *(
        b'5;a="\r\n',
        b"\r\n0\r\n\r\n",
        b"00000000000000005\r\n{   }\r\n0\r\n\r\n",
        b"2\r\n{}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
    ),
)


def _length(dice: random.Random) -> Sent:
    """A request whose body has another length than it says, or is framed wrongly."""
    path, body = dice.choice(BODIES)
    text = json.dumps(body).encode()
    rows = [tuple(part) for part in (line.split(":", 1) for line in dice.choice(LENGTHS))]
    headers = (("Content-Type", "application/json"), *((name, value.strip(" ")) for name, value in rows))
    follows = dice.choice([text, *(dice.choice(CHUNKS) for _ in range(3)), b"", text * dice.choice((2, 50))])
    return Sent("length", (head_of("POST", path, headers, dice.random() < 0.5) + follows,), False)


def _pipeline(dice: random.Random) -> Sent:
    """Many requests without waiting for answers, some of them damaged."""
    found = b""
    for _ in range(dice.choice((2, 5, 20, 60))):
        data = sound(dice, close=False)[1]
        found += damaged(dice, data, WORDS) if dice.random() < 0.05 else data
    return Sent("pipeline", (found + sound(dice)[1],), False, head=True)


def _half(dice: random.Random) -> Sent:
    """A beginning, then silence."""
    data = sound(dice, close=dice.random() < 0.5)[1]
    return Sent("half", (data[: dice.randint(0, len(data) - 1)],), False)


def _split(dice: random.Random) -> Sent:
    """A request in many small pieces."""
    path, data = sound(dice)
    cuts = sorted({0, len(data), *(dice.randint(0, len(data)) for _ in range(dice.choice((2, 9, 30))))})
    return Sent("split", tuple(data[a:b] for a, b in pairwise(cuts)), True, path)


KINDS = {_body: 40, _head: 20, _bytes: 14, _length: 12, _pipeline: 4, _half: 5, _split: 5}


def hostile_request(seed: int) -> Sent:
    """What is sent under a number: always the same."""
    dice = random.Random(seed)
    [make] = dice.choices(list(KINDS), list(KINDS.values()))
    return make(dice)
