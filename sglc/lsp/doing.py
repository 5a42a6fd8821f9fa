"""What the server does with open programs when it is told to: prompts, plans, tests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol

from pygls.exceptions import JsonRpcException

from sglc.lsp.registering import plain
from sglc.lsp.session import Session
from sglc.lsp.tokenizers import Tokenizers
from sglc.source import Source

if TYPE_CHECKING:
    from sglc.library import Library
    from sglc.runtime.tokenizer import Tokenizer

_INVALID = -32602


class Actions(Protocol):
    """What is done with programs; the answers are plain data."""

    def preview(
        self, source: Source, library: Library, tokenizer: Tokenizer | None, wanted: Mapping[str, object]
    ) -> dict[str, object]:
        """The conversations of a call."""

    def functions(self, source: Source, library: Library) -> dict[str, object]:
        """The functions that can be run, and their parameters."""

    def plan(
        self,
        source: Source,
        library: Library,
        tokenizer: Tokenizer | None,
        model: str,
        wanted: Mapping[str, object],
    ) -> dict[str, object]:
        """What functions cost."""

    def test(self, source: Source, library: Library, wanted: Mapping[str, object]) -> dict[str, object]:
        """Run tests."""


class Doing:
    """Commands of the server: `sgl.server.preview`, `sgl.server.plan`, `sgl.server.test`,
    `sgl.server.functions`. Each takes one object, whose `uri` names the program."""

    def __init__(self, session: Session, tokenizers: Tokenizers, actions: Actions) -> None:
        self.session = session
        self.tokenizers = tokenizers
        self.actions = actions

    def register(self) -> None:
        """Enter what is answered."""
        server = self.session.server
        answered = {
            "preview": self.preview,
            "plan": self.plan,
            "test": self.test,
            "functions": self.functions,
        }
        for name, answer in answered.items():
            server.command(f"sgl.server.{name}")(_entered(answer))

    async def preview(self, wanted: Mapping[str, object]) -> dict[str, object]:
        """The conversations of a call."""
        source, library = self._program(wanted)
        tokenizer = await self._tokenizer(wanted)
        return await asyncio.to_thread(self.actions.preview, source, library, tokenizer, wanted)

    async def functions(self, wanted: Mapping[str, object]) -> dict[str, object]:
        """The functions that can be run."""
        source, library = self._program(wanted)
        return await asyncio.to_thread(self.actions.functions, source, library)

    async def plan(self, wanted: Mapping[str, object]) -> dict[str, object]:
        """What functions cost."""
        source, library = self._program(wanted)
        tokenizer = await self._tokenizer(wanted)
        model = self.tokenizers.model_of(self.session.places.path(str(wanted["uri"])))
        return await asyncio.to_thread(self.actions.plan, source, library, tokenizer, model, wanted)

    async def test(self, wanted: Mapping[str, object]) -> dict[str, object]:
        """Run tests."""
        source, library = self._program(wanted)
        return await asyncio.to_thread(self.actions.test, source, library, wanted)

    def _program(self, wanted: Mapping[str, object]) -> tuple[Source, Library]:
        uri = wanted.get("uri")
        if not isinstance(uri, str):
            raise JsonRpcException("the command takes an object with a `uri`", _INVALID)
        found = self.session.documents.source(self.session.places.path(uri))
        if found is None:
            raise JsonRpcException(f"{uri} cannot be read", _INVALID)
        return found, self.session.documents.fresh_library(found)

    async def _tokenizer(self, wanted: Mapping[str, object]) -> Tokenizer | None:
        """The tokenizer of the program's model, where `tokens` are asked for."""
        if wanted.get("tokens") is not True:
            return None
        return await self.tokenizers.of(self.session.places.path(str(wanted["uri"])))


def _entered(
    answer: Callable[[Mapping[str, object]], object],
) -> Callable[..., object]:
    """A command whose one argument is an object. A parameter that is annotated as `object` would get the
    server itself."""

    async def command(*arguments: dict[str, object]) -> object:
        wanted = plain(arguments[0]) if arguments else None
        if not isinstance(wanted, Mapping):
            raise JsonRpcException("the command takes one object", _INVALID)
        found = answer(wanted)
        return await found if asyncio.iscoroutine(found) else found

    return command
