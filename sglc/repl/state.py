"""What a session knows: declarations, variables, and what was said. Inputs make new states of older ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sglc.repl.pieces import Declared
from sglc.runtime.decoding.conversations.said import Said
from sglc.source import Span
from sglc.types.type import Type
from sglc.types.values import Value


@dataclass(frozen=True, slots=True)
class Variable:
    """A value that has a name. `span` is where it was bound, `mutable` whether it may be assigned to."""

    name: str
    type: Type
    value: Value
    span: Span = field(compare=False)
    mutable: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A declaration of the session. One that is `aside` does not check with those that came after it; it is
    left out until it does, and `reason` says why."""

    declared: Declared
    aside: bool = False
    reason: str = ""

    def key(self) -> tuple[object, ...]:
        """What it is, wherever it was typed."""
        return self.declared.span.text.strip(), self.declared.names, self.aside


@dataclass(frozen=True, slots=True)
class State:
    """All that an input can see."""

    entries: tuple[Entry, ...] = ()
    variables: Mapping[str, Variable] = field(default_factory=dict)
    said: Said = field(default_factory=Said)

    @property
    def declared(self) -> Iterator[Declared]:
        """The declarations that count."""
        return (each.declared for each in self.entries if not each.aside)

    def names(self) -> list[str]:
        """Everything that has a meaning: variables, and what declarations name."""
        declared = (name for each in self.declared if each.kind != "test" for name in each.names)
        return list(dict.fromkeys([*self.variables, *declared]))

    def same(self, other: State) -> bool:
        """Whether both know the same, wherever it was typed."""
        return (
            [each.key() for each in self.entries] == [each.key() for each in other.entries]
            and dict(self.variables) == dict(other.variables)
            and self.said == other.said
        )
