"""The pools of a program: constants, names, types, files, each entry once, in order of first use."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from sglc.bytecode.code import Place
from sglc.ir.literal import print_literal
from sglc.source import Source, Span
from sglc.types.type import Type
from sglc.types.values import Value

NOWHERE = Place(0, 0, 0, 1, 1)


class Pools:
    """Interns what instructions refer to by index."""

    def __init__(self, sources: Sequence[Source] = ()) -> None:
        self.constants: list[Value] = []
        self.names: list[str] = []
        self.types: list[Type] = []
        self.sources = list(sources)
        self._constants: dict[object, int] = {}
        self._names: dict[str, int] = {}
        self._types: dict[str, int] = {}
        self._files = {id(source): index for index, source in enumerate(self.sources)}
        self._places: dict[tuple[int, int, int], Place] = {}

    def constant(self, value: Value) -> int:
        """The number of a constant; equal ones of one kind share it."""
        # 1, true, 1.0 and 1.50 are equal or look alike to Python but are different constants.
        key = (type(value), value) if isinstance(value, str | int) else print_literal(value)
        index = self._constants.get(key)
        if index is None:
            index = self._constants[key] = len(self.constants)
            self.constants.append(value)
        return index

    def name(self, name: str) -> int:
        """The number of a name."""
        index = self._names.get(name)
        if index is None:
            index = self._names[name] = len(self.names)
            self.names.append(name)
        return index

    def type(self, type_: Type) -> int:
        """The number of a type; equal types share it."""
        key = repr(type_)
        index = self._types.get(key)
        if index is None:
            index = self._types[key] = len(self.types)
            self.types.append(type_)
        return index

    def place(self, span: Span) -> Place:
        """File, offsets, line and column of a span; an unknown source is added to the files."""
        source = span.source
        key = (id(source), span.start, span.end)
        place = self._places.get(key)
        if place is None:
            file = self._files.get(id(source))
            if file is None:
                file = self._files[id(source)] = len(self.sources)
                self.sources.append(source)
            line, column = source.position(span.start)
            place = self._places[key] = Place(file, span.start, span.end, line, column)
        return place


def artefact_file_name(name: str) -> str:
    """How a source is called in an artefact: never by an absolute path, with forward slashes."""
    if PurePosixPath(name).is_absolute():
        return PurePosixPath(name).name
    if PureWindowsPath(name).drive or PureWindowsPath(name).root:
        return PureWindowsPath(name).name
    return name.replace("\\", "/")
