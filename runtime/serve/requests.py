"""Reading requests and writing answers, within the limits of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive

from sglc.runtime.serve.functions import parsed_body
from sglc.runtime.serve.problems import MEDIA_TYPE, Problem, Refusal, refusal
from sglc.types.language.membership import MemberError
from sglc.types.values import Value

JSON = "application/json"


BODY_SECONDS = 60.0
"""Seconds in which a body is there: 4 MiB on a line of half a megabit."""


DRAINED = 4
"""So many times the most bytes of a body are read and dropped, so that its client hears why; a connection
with more is closed."""


async def json_body(request: Request, most: int) -> dict[str, Value]:
    """The JSON object of a request. Raises Refusal: 415 for another media type, 413 for more than `most`
    bytes, 408 for one that does not come, 400 for what is no JSON object in UTF-8."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != JSON and not (media.startswith("application/") and media.endswith("+json")):
        raise refusal(415, "Arguments", "the body is JSON", hint=f"send `Content-Type: {JSON}`")
    try:
        return parsed_body((await _body(request, most)).decode())
    except UnicodeDecodeError as wrong:
        raise refusal(400, "Arguments", f"the body is no UTF-8 text: byte {wrong.start}") from None
    except MemberError as wrong:
        raise refusal(400, "Arguments", f"the body is not what is wanted: {wrong}") from None


async def _body(request: Request, most: int) -> bytes:
    detail = f"the body is larger than {most} bytes"
    far_too_large = Refusal(Problem(413, "Arguments", detail, closes=True))
    length = request.headers.get("content-length", "0")
    if not length.isdecimal() or len(length) > 18 or int(length) > DRAINED * most:
        raise far_too_large
    found, seen = bytearray(), 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                seen += len(piece)
                if seen > DRAINED * most:
                    raise far_too_large
                if seen <= most:
                    found += piece
    except TimeoutError:
        late = f"the body was not there after {BODY_SECONDS:g} s"
        raise Refusal(Problem(408, "Timeout", late, closes=True)) from None
    except ClientDisconnect:
        raise refusal(400, "Arguments", "the client left before the body was there") from None
    if seen > most:
        raise refusal(413, "Arguments", detail)
    return bytes(found)


def members(data: Mapping[str, Value], *known: str) -> None:
    """Raises Refusal for a member of a request that there is not."""
    for name in data:
        if name not in known:
            raise refusal(
                400, "Arguments", f"there is no member `{name}`", hint="members: " + ", ".join(known)
            )


def json_response(text: str, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON text as an answer."""
    return Response(text, status, dict(headers or {}), JSON)


def problem_response(problem: Problem, text: str | None = None) -> Response:
    """A problem as an answer; `text` is its JSON, where it says more."""
    return Response(text or problem.text(), problem.status, problem.headers, MEDIA_TYPE)


async def disconnected(receive: Receive) -> None:
    """Waits until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def until_gone(receive: Receive, *work: asyncio.Task[None]) -> bool:
    """Wait until one of several tasks has ended or the client has gone. Whether the client is still there."""
    gone = asyncio.ensure_future(disconnected(receive))
    try:
        await asyncio.wait({gone, *work}, return_when=asyncio.FIRST_COMPLETED)
        return not gone.done()
    finally:
        gone.cancel()
