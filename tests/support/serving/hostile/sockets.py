"""WebSockets that are wrong somewhere: handshakes, frames (RFC 6455), the calls in their messages."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from serving.hostile.answers import Told, Wrong, answers_of, check, problem, value
from serving.hostile.calls import OPTIONS, SAME
from serving.hostile.client import PATIENCE, SILENCE
from serving.hostile.json_texts import damaged, mutated
from serving.hostile.requests import HEADERS, ODD_LINES, WORDS

HANDSHAKE = (
    "GET /v1/ws HTTP/1.1",
    "Host: localhost",
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
)
OFFERED = "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
TEXT, BYTES, CLOSE, PING, PONG = 1, 2, 8, 9, 10
LEGAL_CODES = {1000, 1001, 1002, 1003, 1005, 1007, 1008, 1009, 1010, 1011, 1012, 1013}
LAST = '{"id": "last", "call": "double", "arguments": {"x": 4}}'
"""What is called at the end: where the connection stays it has its value."""
CALLS: tuple[dict[str, object], ...] = (
    {"id": 1, "call": "double", "arguments": {"x": 2}, "options": OPTIONS, "events": True},
    {"id": "a", "call": "ask", "arguments": {"theme": "x"}, "options": {"answers": {"ask.answer": ["no"]}}},
    {"id": 2, "call": "same", "arguments": SAME, "events": False},
    {"id": 1, "cancel": True},
)


def frame(
    dice: random.Random,
    kind: int,
    payload: bytes = b"",
    *,
    end: bool = True,
    flags: int = 0,
    masked: bool = True,
    form: int = 0,
) -> bytes:
    """A frame. `flags` are its reserved bits (4, 2, 1), `form` the bytes of its length where that is not the
    shortest one: 2 or 8."""
    first = bytes(((0x80 if end else 0) | flags << 4 | kind,))
    size, mark = len(payload), 0x80 if masked else 0
    if form == 8 or size > 65_535:
        length = bytes((mark | 127,)) + size.to_bytes(8, "big")
    elif form == 2 or size > 125:
        length = bytes((mark | 126,)) + size.to_bytes(2, "big")
    else:
        length = bytes((mark | size,))
    if not masked:
        return first + length + payload
    key = dice.randbytes(4)
    spread = (key * (len(payload) // 4 + 1))[: len(payload)]
    mixed = (int.from_bytes(payload, "big") ^ int.from_bytes(spread, "big")).to_bytes(len(payload), "big")
    return first + length + key + mixed


def text(dice: random.Random, said: str | bytes) -> bytes:
    """A message in one frame."""
    return frame(dice, TEXT, said.encode() if isinstance(said, str) else said)


def fragments(dice: random.Random, said: bytes, pieces: int) -> bytes:
    """A message in several frames, with pings between them."""
    found, at = b"", 0
    for number in range(pieces):
        size = len(said) - at if number == pieces - 1 else dice.randint(0, len(said) // pieces)
        found += frame(dice, 0 if number else TEXT, said[at : at + size], end=number == pieces - 1)
        found += frame(dice, PING, b"p") if dice.random() < 0.3 else b""
        at += size
    return found


@dataclass(frozen=True, slots=True)
class Spoken:
    """What a client does with a WebSocket: the head, then frames. `ends` says how it must end: `stays` (the
    last call has its value), `closes` (the server ends it), or empty where both are right. It has so many
    `messages`."""

    kind: str
    head: bytes
    frames: bytes
    ends: str
    messages: int = 1


def _head(*more: str) -> bytes:
    return "\r\n".join([*HANDSHAKE, *more, "", ""]).encode("latin-1")


def _handshake(dice: random.Random) -> Spoken:
    lines = [line.encode() for line in HANDSHAKE]
    for _ in range(dice.choice((1, 1, 2))):
        match dice.randrange(7):
            case 0:
                lines.insert(dice.randint(1, len(lines)), dice.choice(ODD_LINES))
            case 1:
                del lines[dice.randrange(1, len(lines))]
            case 2:
                lines.append(dice.choice(lines[1:]))
            case 3:
                name, values = dice.choice(HEADERS)
                lines.append(f"{name}: {dice.choice(values)}".encode("latin-1"))
            case 4:
                lines.append(dice.choice(ODD_OFFERS))
            case 5:
                lines[0] = dice.choice(ODD_FIRSTS)
            case _:
                lines += (
                    [b"x: " + b"v" * dice.choice((8_200, 60_000))] if dice.random() < 0.5 else [b"x: y"] * 200
                )
    return Spoken("handshake", b"\r\n".join(lines) + b"\r\n\r\n", text(dice, LAST), "")


ODD_OFFERS = (
    *(
        b"Sec-WebSocket-Protocol: ,",
        b"Sec-WebSocket-Protocol: sglc.v1, sglc.v1, x y",
        b"Sec-WebSocket-Protocol: sglc.key.\xff",
    ),
    *(
        b"Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99",
        b"Sec-WebSocket-Extensions: ;;=,",
    ),
    *(
        b"Sec-WebSocket-Extensions: " + b"permessage-deflate, " * 200,
        b"Sec-WebSocket-Key: AAAA",
        b"Sec-WebSocket-Key: \xff",
    ),
    *(
        b"Sec-WebSocket-Version: 8",
        b"Sec-WebSocket-Version: 13, 8",
        b"Sec-WebSocket-Version: -1",
        b"Content-Length: 5",
        b"Content-Length: x",
    ),
    *(
        b"Transfer-Encoding: chunked",
        b"Upgrade: websocket, h2c",
        b"Upgrade: WebSocket",
        b"Connection: close",
        b"Origin: http://evil.example",
    ),
)
ODD_FIRSTS = (
    *(
        b"POST /v1/ws HTTP/1.1",
        b"GET /v1/ws HTTP/1.0",
        b"GET /v1/ws?x=%ff HTTP/1.1",
        b"GET /healthz HTTP/1.1",
        b"GET /v1/functions HTTP/1.1",
    ),
    *(
        b"GET /v1/w%73 HTTP/1.1",
        b"GET * HTTP/1.1",
        b"GET http://evil.example/v1/ws HTTP/1.1",
        b"GET /nothing HTTP/1.1",
        b"GET /v1/ws\xff HTTP/1.1",
    ),
    *(b"GET /" + b"a" * 9_000 + b" HTTP/1.1", b"OPTIONS /v1/ws HTTP/1.1", b"GET /v1/functions/%00 HTTP/1.1"),
)


def _illegal(dice: random.Random) -> bytes:
    """Frames that no client may send."""
    call = b'{"id": 1, "cancel": true}'
    return dice.choice(
        [
            lambda: frame(dice, TEXT, call, masked=False),
            lambda: frame(dice, TEXT, call, flags=dice.randint(1, 7)),
            lambda: frame(dice, dice.choice([3, 4, 5, 6, 7, 11, 12, 13, 14, 15]), call),
            lambda: frame(dice, dice.choice([CLOSE, PING, PONG]), b"x" * dice.choice((126, 70_000))),
            lambda: frame(dice, dice.choice([PING, PONG]), b"x", end=False),
            lambda: frame(dice, CLOSE, b"\x03\xe8", end=False),
            lambda: frame(dice, 0, call),
            lambda: frame(dice, TEXT, call, end=False) + frame(dice, TEXT, call),
            lambda: frame(
                dice,
                CLOSE,
                dice.choice(
                    [
                        b"\x03",
                        b"\x00\x00",
                        b"\x03\xe7",
                        b"\x03\xed",
                        b"\x03\xee",
                        b"\x03\xf7",
                        b"\x13\x88",
                        b"\xff\xff",
                    ]
                ),
            ),
            lambda: frame(dice, CLOSE, b"\x03\xe8" + dice.choice([b"\xff", b"\xed\xa0\x80"])),
            lambda: frame(
                dice, TEXT, dice.choice([b"\xff", b"\xed\xa0\x80", b'{"id": "\xc3("}', b"\xf0\x9f\x91"])
            ),
            lambda: frame(dice, TEXT, b"\xf0\x9f", end=False) + frame(dice, 0, b"\x91("),
            lambda: frame(dice, BYTES, dice.choice([b"", call, b"\0" * 9_000])),
            lambda: frame(dice, BYTES, b"\0", end=False) + frame(dice, 0, b"\0" * 9),
            lambda: (
                bytes((0x81, 0xFF))
                + dice.choice([5 << 20, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]).to_bytes(8, "big")
                + b"\0\0\0\0"
            ),
            lambda: frame(dice, TEXT, b" " * (4 << 20) + b" "),
            lambda: fragments(dice, b" " * (5 << 20), 9),
            lambda: frame(
                dice,
                CLOSE,
                dice.choice([b"", b"\x03\xe8", b"\x03\xe9bye", b"\x0b\xb8", b"\x13\x87" + b"x" * 120]),
            ),
            lambda: frame(dice, TEXT, _deflated(call), flags=4),
            lambda: b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ]
    )()


def _deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -12)
    return (packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


def _frames(dice: random.Random) -> Spoken:
    before = b"".join(text(dice, json.dumps(dice.choice(CALLS))) for _ in range(dice.randrange(3)))
    head = _head(OFFERED) if dice.random() < 0.4 else _head()
    return Spoken("frames", head, before + _illegal(dice) + text(dice, LAST), "closes")


def _bomb(dice: random.Random) -> Spoken:
    """Compressed messages that become large."""
    blank = _deflated(b" " * dice.choice((1 << 20, (4 << 20) - 100, 64 << 20)))
    frames = b"".join(frame(dice, TEXT, blank, flags=4) for _ in range(dice.choice((1, 40))))
    return Spoken("bomb", _head(OFFERED), frames, "closes")


def _cut(dice: random.Random) -> Spoken:
    """Frames with damaged bytes, or that break off."""
    whole = b"".join(text(dice, json.dumps(dice.choice(CALLS))) for _ in range(3))
    if dice.random() < 0.5:
        return Spoken("cut", _head(), whole[: dice.randrange(len(whole))], "")
    return Spoken("cut", _head(), damaged(dice, whole, WORDS), "")


def _legal(dice: random.Random) -> Spoken:
    """Odd but legal: fragments, pings, long forms of lengths, characters that are cut."""
    call = json.dumps(
        {"id": 1, "call": "double", "arguments": {"x": 3, "note": "é👋" * 50}}, ensure_ascii=False
    ).encode()
    frames = dice.choice(
        [
            lambda: fragments(dice, call, dice.choice((2, 9, 300))),
            lambda: b"".join(
                frame(dice, dice.choice([PING, PONG]), dice.randbytes(dice.randrange(126)))
                for _ in range(200)
            ),
            lambda: frame(dice, TEXT, b" " * ((4 << 20) - 60) + b'{"id": 1, "cancel": true}'),
            lambda: b"".join(frame(dice, TEXT, byte.encode()) for byte in "[]{}0"),
            lambda: frame(dice, TEXT, b""),
        ]
    )()
    return Spoken("legal", _head(OFFERED) if dice.random() < 0.3 else _head(), frames, "stays")


def _messages(dice: random.Random) -> Spoken:
    count = dice.choice((1, 5, 20))
    made = [mutated(dice, dice.choice(CALLS)) for _ in range(count)]
    sound = all(_is_text(each) for each in made)
    return Spoken(
        "messages",
        _head(),
        b"".join(text(dice, each) for each in made),
        "stays" if sound else "closes",
        count,
    )


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _storm(dice: random.Random) -> Spoken:
    """Calls and cancels of few and many ids without waiting, among them ids that there are not."""
    count, found = dice.choice((300, 2_000)), []
    ids = [*range(dice.choice((3, 400))), "a", "é", "", -1, 10**30]
    for _ in range(count):
        id = dice.choice(ids)
        if dice.random() < 0.5:
            found.append({"id": id, "cancel": dice.choice([True, True, False, None, 1])})
        else:
            found.append(
                {
                    "id": id,
                    "call": dice.choice(["double", "ask", "gone"]),
                    "arguments": {"x": 1} if dice.random() < 0.7 else {"theme": "x"},
                    "events": dice.random() < 0.3,
                }
            )
    return Spoken("storm", _head(), b"".join(text(dice, json.dumps(each)) for each in found), "stays", count)


KINDS: dict[Callable[[random.Random], Spoken], float] = {
    _messages: 40,
    _frames: 22,
    _handshake: 16,
    _cut: 10,
    _legal: 8,
    _bomb: 1,
    _storm: 0.6,
}


def hostile_socket(seed: int) -> Spoken:
    """What is said under a number: always the same."""
    dice = random.Random(f"socket {seed}")
    [make] = dice.choices(list(KINDS), list(KINDS.values()))
    return make(dice)


# -- what comes back --------------------------------------------------------------------------------------


class _Heard:
    """What a server has said on a WebSocket, read strictly."""

    def __init__(self) -> None:
        self.data = b""
        self.last = False
        """Whether the last call has its value, or was refused since too many are going on."""
        self.code: int | None = None
        """Why the server has closed."""
        self.counts: Counter[str] = Counter()

    def feed(self, data: bytes) -> None:
        """Raises Wrong for a frame or a message that should not be."""
        self.data += data
        while self._frame():
            pass

    def _frame(self) -> bool:
        data = self.data
        if len(data) < 2:
            return False
        kind, size, at = data[0] & 15, data[1] & 127, 2
        if data[1] & 128 or data[0] & 0x70:
            raise Wrong(f"a masked or reserved frame: {data[:20]!r}")
        if size > 125:
            width = 2 if size == 126 else 8
            size, at = int.from_bytes(data[2 : 2 + width], "big"), 2 + width
        if len(data) < at + size:
            return False
        payload, self.data = data[at : at + size], data[at + size :]
        if self.code is not None:
            raise Wrong(f"a frame after the end: {data[:100]!r}")
        if kind == TEXT and data[0] & 128:
            self._message(payload)
        elif kind == CLOSE:
            self.code = int.from_bytes(payload[:2], "big") if payload else 1005
            payload[2:].decode()
        elif kind not in (PING, PONG):
            raise Wrong(f"a frame of kind {kind}")
        return True

    def _message(self, payload: bytes) -> None:
        told = json.loads(payload.decode())
        if set(told) != {"id", "event", "data"} or not re.fullmatch("[a-z_]+", str(told["event"])):
            raise Wrong(f"no message: {payload[:300]!r}")
        self.counts[told["event"]] += 1
        if told["event"] == "error":
            problem(told["data"], None)
            self.last |= told["id"] == "last" and told["data"]["status"] == 429
        if told["event"] == "value" and told["id"] == "last":
            value(told["data"]["value"], "double")
            self.last = True


async def spoken(port: int, said: Spoken, counts: Counter[str]) -> None:
    """Say it, and judge what comes. Raises Wrong."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    try:
        writer.write(said.head)
        told = Told()
        wait = SILENCE if said.kind == "handshake" else PATIENCE
        while b"\r\n\r\n" not in told.data:
            if not (piece := await _read(reader, writer, told, wait)):
                break
            told.data += piece
        head, _, rest = told.data.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 "):
            while piece := await _read(reader, writer, told):
                told.data += piece
            for each in answers_of(told, said.head.startswith(b"HEAD")):
                check(each, "")
                counts[str(each.status)] += 1
            counts["closed"] += not told.data
            if said.kind != "handshake":
                raise Wrong(f"a handshake was refused: {told.data!r}")
            return
        counts["101"] += 1
        await _talk(reader, writer, said, told, rest, counts)
    finally:
        writer.close()


async def _talk(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    said: Spoken,
    told: Told,
    rest: bytes,
    counts: Counter[str],
) -> None:
    heard = _Heard()
    heard.counts = counts
    heard.feed(rest)
    dice = random.Random(0)
    stays = said.ends == "stays"
    sending = asyncio.ensure_future(_send(writer, said.frames + (text(dice, LAST) if stays else b"")))
    begun = asyncio.get_running_loop().time()
    while not (stays and heard.last):
        wait = PATIENCE if said.ends or told.left else SILENCE
        piece = await _read(reader, writer, told, wait)
        if not piece:
            break
        heard.feed(piece)
        if asyncio.get_running_loop().time() - begun > 2 * PATIENCE:
            raise Wrong("it does not end")
    sending.cancel()
    if stays and not heard.last:
        raise Wrong(f"the last call has no value; closed with {heard.code}")
    if heard.code is not None:
        counts[f"closed {heard.code}"] += 1
        if heard.code not in LEGAL_CODES and heard.code < 3000:
            raise Wrong(f"closed with {heard.code}")
    elif said.ends == "closes" and not told.left:
        raise Wrong("the connection was cut without a reason")


async def _send(writer: asyncio.StreamWriter, data: bytes) -> None:
    with contextlib.suppress(ConnectionError, RuntimeError):  # the server, or the client, has closed it
        for at in range(0, len(data), 1 << 16):
            writer.write(data[at : at + (1 << 16)])
            await writer.drain()


async def _read(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, told: Told, wait: float = SILENCE
) -> bytes:
    """More bytes; none at the end. Stops writing after a silence. Raises Wrong where the server hangs."""
    while True:
        try:
            return await asyncio.wait_for(reader.read(1 << 18), PATIENCE if told.left else wait)
        except ConnectionError:
            told.left = True
            return b""
        except TimeoutError:
            if told.left or wait == PATIENCE:
                raise Wrong("neither an answer nor an end") from None
            told.left = True
            with contextlib.suppress(OSError):
                writer.write_eof()
