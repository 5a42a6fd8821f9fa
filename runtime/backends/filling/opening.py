"""Models elsewhere by their names."""

from __future__ import annotations

import os
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from sglc.runtime.backends.exchange import Backend
from sglc.runtime.backends.filling.remote_model import RemoteModel

if TYPE_CHECKING:
    from sglc.runtime.engine.base import Engine

_SCHEME = re.compile(r"[a-z][a-z0-9_+-]+:")
"""What a name begins with that is none of a model of this machine; one letter is a drive."""
LOCAL_SCHEMES = ("scripted:",)
"""Beginnings of names of models of this process."""


def is_elsewhere(model: str) -> bool:
    """Whether a name as `--model` has it is that of a model elsewhere: `openai:gpt-x`, `vllm:http://…`. A
    file or folder of that name comes first."""
    found = _SCHEME.match(model)
    return found is not None and found.group() not in LOCAL_SCHEMES and not Path(model).exists()


def open_backend(model: str) -> Backend:
    """The backend of a name, with keys from the environment. No request is sent yet. Raises ArgumentError."""
    registry = import_module("sglc.runtime.backends.registry")
    made: Backend = registry.open_backend(model, registry.BackendSettings(), os.environ)
    return made


def opened(model: str) -> RemoteModel:
    """The model of a name, for a session. Raises ArgumentError."""
    return RemoteModel(open_backend(model))


def is_local(model: Engine | RemoteModel | None) -> TypeGuard[Engine]:
    """Whether there is an engine of this process."""
    return model is not None and not isinstance(model, RemoteModel)
