"""The models of a session while they are open: each with those that are asked where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sglc.runtime.backends.filling.opening import is_local
from sglc.runtime.backends.filling.remote_model import RemoteModel
from sglc.types.model_use import MAIN

if TYPE_CHECKING:
    from sglc.runtime.engine.base import Engine


@dataclass(slots=True)
class LoadedModels:
    """The models of a program by the names that it has for them, each with its fallbacks behind it. There are
    none where nothing is asked."""

    chains: dict[str, tuple[Engine | RemoteModel, ...]] = field(default_factory=dict)

    @property
    def own(self) -> Engine | RemoteModel | None:
        """The run's own model."""
        return self.chains[MAIN][0] if MAIN in self.chains else None

    @property
    def engine(self) -> Engine | None:
        """The run's own model, where it is one of this process."""
        own = self.own
        return own if is_local(own) else None

    @property
    def named(self) -> dict[str, Engine | RemoteModel]:
        """Those that the program names, without their fallbacks."""
        return {name: chain[0] for name, chain in self.chains.items() if name != MAIN}

    @property
    def fallbacks(self) -> dict[str, Sequence[Engine | RemoteModel]]:
        """What is asked where the model of a name fails."""
        return {name: chain[1:] for name, chain in self.chains.items() if len(chain) > 1}

    @property
    def engines(self) -> dict[str, Engine]:
        """Those of this process besides the run's own model, by the names that statistics have for them."""
        found: dict[str, Engine] = {}
        for name, chain in self.chains.items():
            for place, each in enumerate(chain):
                if is_local(each) and (name, place) != (MAIN, 0):
                    found[behind(each, name) if place else name] = each
        return found

    @property
    def remote(self) -> list[RemoteModel]:
        """Those elsewhere."""
        return [each for each in self._all() if isinstance(each, RemoteModel)]

    def close(self) -> None:
        """Give back the engines. Connections are closed in the loop that opened them."""
        for each in self._all():
            if is_local(each):
                each.close()

    def _all(self) -> list[Engine | RemoteModel]:
        """Each once."""
        return list({id(each): each for chain in self.chains.values() for each in chain}.values())


def behind(fallback: Engine | RemoteModel, name: str) -> str:
    """What traces and statistics call a model that is asked where the model `name` fails. No program can
    write it."""
    known = fallback.name if isinstance(fallback, RemoteModel) else fallback.model.name
    return f"{known} behind {name}"
