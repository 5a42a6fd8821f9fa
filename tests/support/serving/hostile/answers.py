"""What a server says to hostile clients, read strictly: each answer must be what the documentation says."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

ALLOWED = {
    200,
    202,
    204,
    400,
    401,
    403,
    404,
    405,
    408,
    409,
    413,
    414,
    415,
    417,
    421,
    422,
    426,
    429,
    431,
    501,
    503,
    504,
    505,
}
PROBLEM = {"type", "title", "status", "detail", "name"}
MORE = {"code", "hint", "fields", "partial", "retry_after", "id"}
OPENAI = ("/v1/chat", "/v1/completions", "/v1/models")
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ([ -~]*)")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Wrong(AssertionError):
    """An answer that is not what it should be; the message says in what."""


@dataclass(slots=True)
class Answer:
    """One answer."""

    status: int
    headers: dict[str, str]
    body: bytes
    whole: bool
    """Whether its end came."""

    @property
    def media(self) -> str:
        """Its media type."""
        return self.headers.get("content-type", "").partition(";")[0]


@dataclass(slots=True)
class Told:
    """All that came on a connection."""

    data: bytes = b""
    left: bool = False
    """Whether the client has stopped writing before the server was done."""
    hung: bool = False
    """Whether the server neither answered nor closed in time."""
    answers: list[Answer] = field(default_factory=list)


def answers_of(told: Told, may_be_head: bool) -> list[Answer]:
    """The answers in what came. Raises Wrong for bytes that are none."""
    data, found = told.data, []
    while data:
        head, end, rest = data.partition(b"\r\n\r\n")
        if not end:
            raise Wrong(f"a head without its end: {data[:200]!r}")
        first, *lines = head.split(b"\r\n")
        status = _STATUS.fullmatch(first)
        if status is None:
            raise Wrong(f"no status line: {first[:200]!r}")
        headers: dict[str, str] = {}
        for line in lines:
            name, colon, value = line.partition(b":")
            if not colon or not _NAME.fullmatch(name) or any(byte < 32 and byte != 9 for byte in value):
                raise Wrong(f"no header: {line!r}")
            key = name.decode().lower()
            if key in headers and key in ("content-length", "content-type", "location", "retry-after"):
                raise Wrong(f"the header {key} twice")
            headers[key] = value.decode("latin-1").strip()
        if int(status[1]) == 100:
            data = rest
            continue
        body, data, whole = _body(headers, rest, int(status[1]))
        if not whole and may_be_head and (not rest or rest.startswith(b"HTTP/1.1 ")):
            body, data = b"", rest
        elif not whole and not told.left:
            raise Wrong(f"an answer that breaks off: {status[0]!r} {headers} {rest[:300]!r}")
        found.append(Answer(int(status[1]), headers, body, whole))
    return found


def _body(headers: dict[str, str], rest: bytes, status: int) -> tuple[bytes, bytes, bool]:
    """A body, what follows it, and whether its end is there."""
    if status in (204, 304):
        return b"", rest, True
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while True:
            line, end, after = rest.partition(b"\r\n")
            if not end or not re.fullmatch(rb"[0-9a-f]+", line):
                return body, b"", False
            size = int(line, 16)
            if len(after) < size + 2:
                return body + after[:size], b"", False
            if after[size : size + 2] != b"\r\n":
                raise Wrong(f"a chunk without its end: {after[size : size + 20]!r}")
            body, rest = body + after[:size], after[size + 2 :]
            if not size:
                return body, rest, True
    if "content-length" not in headers:
        raise Wrong(f"a body without a length: {headers}")
    size = int(headers["content-length"])
    if len(rest) < size:
        return rest, b"", False
    return rest[:size], rest[size:], True


def check(answer: Answer, path: str) -> None:
    """Raises Wrong for an answer that is not within its schema. `path` is empty where it is not known."""
    if answer.status not in ALLOWED:
        raise Wrong(f"the status {answer.status}: {answer.body[:300]!r}")
    if not answer.whole or (not answer.body and answer.status < 400) or answer.status == 204:
        return
    if answer.status >= 400:
        _failure(answer, path)
    elif answer.media == "text/event-stream":
        _events(answer.body.decode(), path)
    elif answer.media == "application/json":
        _value(_parsed(answer.body), answer.status, path)
    elif answer.media.startswith("text/plain") and path.startswith(
        ("/v1/functions/", "/v1/chat", "/v1/comp")
    ):
        raise Wrong(f"plain text: {answer.body[:200]!r}")


def _parsed(body: bytes) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise Wrong(f"a key twice in {body[:300]!r}")
        return dict(pairs)

    def never(text: str) -> Any:
        raise Wrong(f"{text} is no JSON")

    try:
        return json.loads(body.decode(), object_pairs_hook=once, parse_constant=never)
    except ValueError as wrong:
        raise Wrong(f"no JSON: {wrong}: {body[:300]!r}") from None


def problem(data: Any, status: int | None) -> None:
    """Raises Wrong for what is no problem of RFC 9457 as the documentation has it."""
    if not isinstance(data, dict) or set(data) - MORE != PROBLEM:
        raise Wrong(f"no problem: {data!r}")
    if not all(isinstance(data[name], str) and data[name] for name in ("type", "title", "detail", "name")):
        raise Wrong(f"a problem that says nothing: {data!r}")
    if data["status"] not in ALLOWED or (status is not None and data["status"] != status):
        raise Wrong(f"a problem of another status than {status}: {data!r}")
    if not data["type"].startswith("urn:sgl:error:"):
        raise Wrong(f"a problem of no type: {data!r}")


def _failure(answer: Answer, path: str) -> None:
    if answer.status == 429 and "retry-after" not in answer.headers:
        raise Wrong("429 without Retry-After")
    data = _parsed(answer.body)
    if answer.media == "application/problem+json":
        problem(data, answer.status)
        if path.startswith(OPENAI[:2]) and answer.status in (404, 422, 429):
            raise Wrong(f"a problem where OpenAI's protocol has an error: {data!r}")
        return
    if answer.media != "application/json" or (path and not path.startswith(OPENAI)):
        raise Wrong(f"a failure as {answer.media!r}: {answer.body[:300]!r}")
    _openai_error(data)


def _openai_error(data: Any) -> None:
    error = data.get("error") if isinstance(data, dict) else None
    if not isinstance(error, dict) or set(error) != {"message", "type", "param", "code"}:
        raise Wrong(f"no error of OpenAI's protocol: {data!r}")
    if not error["message"] or not isinstance(error["message"], str) or not isinstance(error["type"], str):
        raise Wrong(f"an error that says nothing: {data!r}")
    if not isinstance(error["param"], str | None) or not isinstance(error["code"], str | None):
        raise Wrong(f"an error of other types: {data!r}")


KINDS_OF_VALUE = {
    "chat.completion": {"id", "object", "created", "model", "choices", "usage"},
    "text_completion": {"id", "object", "created", "model", "choices", "usage"},
    "list": {"object", "data"},
    "model": {"id", "object", "created", "owned_by"},
}


def _value(data: Any, status: int, path: str) -> None:
    if not isinstance(data, dict):
        raise Wrong(f"no object: {data!r}")
    if path.startswith("/v1/functions/"):
        wanted = {"id", "state"} if status == 202 else {"id", "value", "usage", "checks"}
        if set(data) != wanted:
            raise Wrong(f"no answer of a call: {data!r}")
        function = path.rpartition("/")[2]
        if status == 200:
            value(data["value"], function)
    elif path.startswith(OPENAI):
        missing = KINDS_OF_VALUE.get(str(data.get("object")), {"?"}) - set(data)
        if missing:
            raise Wrong(f"an answer without {missing}: {str(data)[:300]}")


def value(found: Any, function: str) -> None:
    """Raises Wrong for a value that a function of the program cannot have."""
    right = {
        "double": lambda: isinstance(found, int) and 0 <= found <= 2000 and found % 2 == 0,
        "ask": lambda: found in ("yes", "no"),
        "same": lambda: isinstance(found, dict) and set(found) == {"name", "mood", "inner", "notes"},
    }.get(function)
    if right is not None and not right():
        raise Wrong(f"no value of {function}: {found!r}")


def _events(text: str, path: str) -> None:
    blocks = text.split("\n\n")
    if blocks.pop():
        raise Wrong(f"an event without its end: {text[-200:]!r}")
    blocks = [each for each in blocks if not each.startswith(":")]
    if blocks and blocks[-1] == "data: [DONE]":
        for each in blocks[:-1]:
            chunk = _parsed(each.removeprefix("data: ").encode())
            if chunk.get("object") not in ("chat.completion.chunk", "text_completion"):
                raise Wrong(f"no chunk: {each[:300]}")
        return
    if path.startswith(OPENAI):
        if not blocks or "error" not in _parsed(blocks[-1].removeprefix("data: ").encode()):
            raise Wrong(f"a stream without its end: {text[-300:]!r}")
        return
    rows = [dict(line.split(": ", 1) for line in each.split("\n")) for each in blocks]
    for each in rows:
        if set(each) - {"id"} != {"event", "data"}:
            raise Wrong(f"no event: {each!r}")
        data = _parsed(each["data"].encode())
        if each["event"] == "error":
            problem(data, None)
    if not rows or rows[-1]["event"] not in ("value", "error"):
        raise Wrong(f"a stream without its end: {text[-300:]!r}")
