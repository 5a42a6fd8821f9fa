"""Tokenizers of models, read when they are first asked for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol.types import MessageType

from sglc.lsp.session import Session

if TYPE_CHECKING:
    from sglc.runtime.tokenizer import Tokenizer

MOST = 4
"""Tokenizers that are kept."""


class Tokenizers:
    """The tokenizer of the model that is set, or that a project names."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[str, Tokenizer | None] = {}

    def model_of(self, path: Path) -> str:
        """The model whose tokens are counted for a file; empty where there is none of this machine."""
        if self._session.settings.model:
            return self._session.settings.model
        from sglc.project.models import is_elsewhere
        from sglc.types.model_use import MAIN

        model = self._session.documents.project(path)[0].models.get(MAIN, "")
        return "" if is_elsewhere(model) else model

    async def of(self, path: Path) -> Tokenizer | None:
        """The tokenizer for a file; None where none is named or it cannot be had, which is told once."""
        model = self.model_of(path)
        if not model:
            return None
        if model not in self._known:
            if len(self._known) >= MOST:
                del self._known[next(iter(self._known))]
            self._known[model], problem = await asyncio.to_thread(_read, model)
            if problem:
                self._session.tell(f"tokens of {model} are not counted: {problem}", MessageType.Warning)
        return self._known[model]


def _read(model: str) -> tuple[Tokenizer | None, str]:
    """The tokenizer of a model, or why it cannot be had."""
    from sglc.runtime.model.load import load_tokenizer
    from sglc.runtime.model.weights.errors import ModelError

    try:
        return load_tokenizer(model), ""
    except ModelError as problem:
        return None, f"{problem.what}: {problem.where}"
