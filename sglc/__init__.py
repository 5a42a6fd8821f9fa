"""sglc: compiler, virtual machine and transformer runtime of SGL, a language for structured generation."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"

_API = ("CompileError", "RunError", "Spans", "load")


def __getattr__(name: str) -> Any:
    """What the Python interface offers, imported at the first use so that `import sglc` stays light."""
    if name in _API:
        from sglc import api

        return getattr(api, name)
    raise AttributeError(f"module 'sglc' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted((*globals(), *_API))
