"""Repair of one remote answer: the loop of `sglc.runtime.repair` over the streams of a backend."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

from sglc.runtime.backends.exchange import Backend, BackendFault, Clock, Query
from sglc.runtime.backends.repairing.asking import Asking
from sglc.runtime.backends.repairing.result import BOUNDS, SILENT, Observer, Repaired
from sglc.runtime.backends.repairing.values import Values, begins_with
from sglc.runtime.errors import SglError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.repair.drivers import InLoop, Models
from sglc.runtime.repair.local_model import LocalModel
from sglc.runtime.repair.loop import Options, Repair
from sglc.runtime.repair.result import Bounds, Correction
from sglc.runtime.repair.spelling import Spacing
from sglc.targets.projection.canonical import AnswerError

_HINT = "a backend that enforces more, a prompt that says what is wanted, or more corrections"


async def repaired(
    backend: Backend,
    query: Query,
    matcher: Matcher,
    bounds: Bounds = BOUNDS,
    observer: Observer = SILENT,
    *,
    values: Values | None = None,
    draft: LocalModel | None = None,
    complete: bool = False,
    clock: Clock | None = None,
) -> Repaired:
    """A legal text from a backend that enforces less than `matcher`, or nothing.

    `matcher` stands at the beginning of the language's own texts; excluded texts are left out of it already.
    With `values`, answers are JSON in any spelling, and only what is no value is repaired. Streams are closed
    at the first illegal byte. Behind it, where the backend goes on behind a begun message and nothing is
    enforced, a word is put: what must come next, else the most probable legal token that the backend told of,
    else one of `draft` (a local model, of whose vocabulary the matchers are). Where nobody says one, the
    backend goes on behind the legal beginning with the fault named. Where it does not go on, all is asked for
    again so. The turns that name the fault are in that request alone. What no model has chosen is in no text,
    but for what must come.
    `query.max_tokens` is a budget: it ends the text along a shortest ending, and so do `bounds` with
    `complete`.

    Raises SglError: `Rejected` where a bound is reached, `Timeout` at the deadline, `Truncated` where the
    backend cuts answers off at a bound of its own and does not go on behind them, `Refused` where the model
    refuses or a filter cuts it off, `Unsatisfiable` where no text is legal; `partial` is the legal text so
    far. Raises BackendFault, with the same `partial`, and ValueError for a query that has begun a message at
    a backend that does not continue them.
    """
    if query.begun and not backend.capabilities.continues:
        raise ValueError(f"{backend.name} does not go on behind a begun message")
    now = time.monotonic if clock is None else clock.now
    asking = Asking(backend, query, None if draft is None else draft.draft)
    followed = matcher if values is None else values.matcher
    canonical = None if values is None else lru_cache(maxsize=1)(values.canonical)
    options = Options(
        _until(bounds, query.deadline, now()),
        stops=query.stops,
        drafts=asking.drafts,
        words=False,
        forced=_forced_in(matcher) if values is not None and asking.continues else lambda text: b"",
        complete=complete,
        budget=query.max_tokens,
        again=not asking.continues,
        values=begins_with(followed),
        check=lambda text: "" if canonical is None else _fault(text, matcher, canonical),
        on_piece=observer.on_piece,
        on_again=observer.on_again,
        on_event=lambda kind, data: _observe(observer, kind, data),
        nothing=1,
    )
    prompt = "\n\n".join(message.text for message in query.messages) + "\n\n" + query.begun
    repair = Repair(followed, prompt, options, now)
    try:
        found = await InLoop(Models(asking.write, asking.draft)).run(repair)
    except SglError as error:
        raise _told(error, asking) from error.__cause__
    return Repaired(
        found.text if canonical is None else canonical(found.text),
        found.corrections,
        asking.requests,
        asking.usage,
        asking.uncounted,
        found.ended,
        asking.answered_by,
    )


def _until(bounds: Bounds, deadline: float | None, now: float) -> Bounds:
    """The bounds, of which none is behind a deadline. Raises SglError where that has passed."""
    if deadline is None:
        return bounds
    if deadline <= now:
        raise SglError("Timeout", "the deadline has passed before the model was asked", partial="")
    seconds = deadline - now if bounds.seconds is None else min(bounds.seconds, deadline - now)
    return replace(bounds, seconds=seconds)


def _forced_in(matcher: Matcher) -> Callable[[str], bytes]:
    """What must follow the beginning of a JSON text in the language's own order and spelling; nothing behind
    a text in another order or with other escapes."""

    def forced(text: str) -> bytes:
        legal = matcher.clone()
        return legal.forced() if legal.accept_bytes(Spacing().written(text).encode()) else b""

    return forced


def _fault(text: str, matcher: Matcher, canonical: Callable[[str], str]) -> str:
    """Why a text that was followed to its end is none of the language; empty where it is one."""
    try:
        spelled = canonical(text)
    except AnswerError as fault:
        return str(fault)
    legal = matcher.clone()
    if legal.accept_bytes(spelled.encode()) and legal.is_accepting():
        return ""
    return f"`{spelled[:200]}` is not one of the values that may stand here"


def _observe(observer: Observer, kind: str, data: Mapping[str, object]) -> None:
    if kind == "correction":
        fields = {name: value for name, value in data.items() if name != "hole"}
        observer.on_correction(Correction(**fields))  # type: ignore[arg-type]


def _told(error: SglError, asking: Asking) -> SglError | BackendFault:
    """The error that the caller sees: by the bound that was reached, or that of the backend."""
    cause = error.__cause__
    if isinstance(cause, BackendFault):
        cause.partial = error.partial or ""
        cause.attempts = max(cause.attempts, asking.requests)
        return cause
    error.fatal = isinstance(cause, SglError) and cause.fatal
    bound = error.fields.pop("bound", None)
    if error.name == "Truncated" and bound is not None:
        name = "Timeout" if bound == "seconds" else "Rejected"
        return SglError(name, error.message, fields=error.fields, partial=error.partial, hint=_HINT)
    return error
