"""sglc: compiler, virtual machine and transformer runtime of SGL, a language for structured generation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what checkers of types see; at run time `__getattr__` imports them
    from sglc.api import CompileError as CompileError
    from sglc.api import RunError as RunError
    from sglc.api import Spans as Spans
    from sglc.api import load as load
    from sglc.api import loads as loads
    from sglc.decorators import Execution as Execution
    from sglc.decorators import compile as compile
    from sglc.decorators import execute as execute
    from sglc.decorators import extern as extern
    from sglc.decorators import fn as fn
    from sglc.decorators import sgl_function as sgl_function
    from sglc.python.json_data import to_json as to_json
    from sglc.python.repair import repair as repair
    from sglc.python.repair import repair_async as repair_async
    from sglc.python.typed import SglFunction as SglFunction
    from sglc.python.words import Budget as Budget
    from sglc.python.words import Failure as Failure
    from sglc.python.words import Refused as Refused
    from sglc.python.words import Rejected as Rejected
    from sglc.python.words import SglType as SglType
    from sglc.python.words import State as State
    from sglc.python.words import Truncated as Truncated
    from sglc.python.words import Unsatisfiable as Unsatisfiable
    from sglc.python.words import Untrusted as Untrusted
    from sglc.python.words import assistant as assistant
    from sglc.python.words import choose as choose
    from sglc.python.words import gen as gen
    from sglc.python.words import schema as schema
    from sglc.python.words import select as select
    from sglc.python.words import system as system
    from sglc.python.words import trust as trust
    from sglc.python.words import user as user

__version__ = "0.1.0"

_API = {
    "Budget": "sglc.python.words",
    "CompileError": "sglc.api",
    "Execution": "sglc.decorators",
    "Failure": "sglc.python.words",
    "LocalModel": "sglc.runtime.repair.local_model",
    "Refused": "sglc.python.words",
    "RunError": "sglc.api",
    "Rejected": "sglc.python.words",
    "SglFunction": "sglc.python.typed",
    "SglType": "sglc.python.words",
    "Spans": "sglc.api",
    "State": "sglc.python.words",
    "Truncated": "sglc.python.words",
    "Unsatisfiable": "sglc.python.words",
    "Untrusted": "sglc.python.words",
    "assistant": "sglc.python.words",
    "choose": "sglc.python.words",
    "compile": "sglc.decorators",
    "execute": "sglc.decorators",
    "extern": "sglc.decorators",
    "fn": "sglc.decorators",
    "gen": "sglc.python.words",
    "load": "sglc.api",
    "loads": "sglc.api",
    "repair": "sglc.python.repair",
    "repair_async": "sglc.python.repair",
    "schema": "sglc.python.words",
    "select": "sglc.python.words",
    "sgl_function": "sglc.decorators",
    "system": "sglc.python.words",
    "to_json": "sglc.python.json_data",
    "trust": "sglc.python.words",
    "user": "sglc.python.words",
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
