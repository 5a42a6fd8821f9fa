"""Entering answers into a server."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from pygls.lsp.server import LanguageServer

Params = TypeVar("Params")


def answers(
    server: LanguageServer, method: str, answer: Callable[[Params], object], options: object = None
) -> None:
    """Answer a method of the protocol with a function, or a method of an object, of its parameters.

    What is entered is a function of its own: pygls writes attributes to it, which methods do not take.
    """
    if inspect.iscoroutinefunction(answer):

        async def later(params: Params) -> object:
            return await answer(params)

        server.feature(method, options)(later)
        return

    @wraps(answer)
    def now(params: Params) -> object:
        return answer(params)

    server.feature(method, options)(now)


def plain(value: object) -> object:
    """Data of a client as plain data: the protocol's library makes named tuples of objects."""
    fields = getattr(value, "_asdict", None)
    if fields is not None:
        value = fields()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list | tuple) else value
