"""sglc: compiler, virtual machine and transformer runtime of SGL, a language for structured generation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what checkers of types see; at run time `__getattr__` imports them
    from sglc.api import CompileError as CompileError
    from sglc.api import RunError as RunError
    from sglc.api import Spans as Spans
    from sglc.api import load as load
    from sglc.api import loads as loads
    from sglc.python.json_data import to_json as to_json
    from sglc.python.repair import repair as repair
    from sglc.python.repair import repair_async as repair_async
    from sglc.python.typed import SglFunction as SglFunction

__version__ = "0.1.0"

_API = {
    "CompileError": "sglc.api",
    "LocalModel": "sglc.runtime.repair.local_model",
    "RunError": "sglc.api",
    "SglFunction": "sglc.python.typed",
    "Spans": "sglc.api",
    "load": "sglc.api",
    "loads": "sglc.api",
    "repair": "sglc.python.repair",
    "repair_async": "sglc.python.repair",
    "to_json": "sglc.python.json_data",
}
"""Public names and the modules that they are in."""


def __getattr__(name: str) -> Any:
    """What the Python interface offers, imported at the first use so that `import sglc` stays light."""
    if name in _API:
        from importlib import import_module

        return getattr(import_module(_API[name]), name)
    raise AttributeError(f"module 'sglc' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted((*globals(), *_API))
