"""The models of a session: loaded when one is first asked, and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sglc.bytecode.code import Code, Program
from sglc.bytecode.opcodes import OPCODES
from sglc.runtime.backends.filling.loaded import LoadedModels
from sglc.runtime.engine.core.options import EngineOptions
from sglc.types.model_use import MAIN

if TYPE_CHECKING:
    from sglc.project.models import ModelSettings
    from sglc.runtime.backends.filling.remote_model import RemoteModel
    from sglc.runtime.backends.recording.wiring import Wiring
    from sglc.runtime.engine.base import Engine

DEFAULT_MODEL = "smollm2"
_ASKING = frozenset(op.number for op in OPCODES if "hole" in op.operands)
_LEADING = frozenset(op.number for op in OPCODES if "code" in op.operands and op.operands[0] == "code")


@dataclass(slots=True)
class SessionModels:
    """`name` is the session's own model, `named` those that programs name. `tell` is told before a model is
    loaded, which may take seconds."""

    name: str = DEFAULT_MODEL
    named: Mapping[str, str] = field(default_factory=dict)
    options: EngineOptions = field(default_factory=EngineOptions)
    known: tuple[ModelSettings, ...] = ()
    wiring: Wiring | None = None
    tell: Callable[[str], None] = lambda name: None
    loaded: dict[str, tuple[Engine | RemoteModel, ...]] = field(default_factory=dict)
    """By name, the model and those that are asked where it fails."""

    def use(self, name: str) -> None:
        """Another model is the session's own from now on."""
        self.name = name

    @property
    def is_loaded(self) -> bool:
        """Whether the session's own model is at hand."""
        return self.name in self.loaded

    def of(self, program: Program) -> LoadedModels:
        """The session's own model and those that a program names. Raises ArgumentError, and ModelError for
        one that cannot be had."""
        from sglc.runtime.served_models import check_names

        check_names(program, self.named)
        wanted = {name: self.named[name] for name in program.models if name in self.named}
        return LoadedModels({name: self._get(each) for name, each in {MAIN: self.name, **wanted}.items()})

    def _get(self, name: str) -> tuple[Engine | RemoteModel, ...]:
        if name not in self.loaded:
            from sglc.python.background import shared_models

            self.tell(name)
            self.loaded[name] = tuple(shared_models(name, self.options, self.known, self.wiring))
        return self.loaded[name]


def asks(program: Program, code: Code) -> bool:
    """Whether a function may ask a model, by itself or by what it calls."""
    seen = {id(code)}
    waiting = [code]
    while waiting:
        for op, a, _ in waiting.pop().instructions:
            if op in _ASKING:
                return True
            if op in _LEADING and id(program.codes[a]) not in seen:
                seen.add(id(program.codes[a]))
                waiting.append(program.codes[a])
    return False
