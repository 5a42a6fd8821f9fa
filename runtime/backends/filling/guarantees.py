"""What the models of a session guarantee of the holes of its functions, known before a run asks anything."""

from __future__ import annotations

from sglc.bytecode.code import Code, Program
from sglc.bytecode.reached import catches, holes_in, reached_codes
from sglc.runtime.errors import SglError
from sglc.targets.projection.core.candidate import Candidates
from sglc.targets.projection.level_findings import unsupported
from sglc.targets.projection.levels import HoleLevel, levels_of, refused_holes
from sglc.targets.projection.refusals import RunOptions


class Guarantees:
    """The levels of a program's holes at the models of one session, by the function that is called.

    A function is judged by the holes that a call of it may come to. What is found is kept.
    """

    def __init__(self, program: Program, models: Candidates) -> None:
        self._program = program
        self._models = models
        self._levels: dict[tuple[str, RunOptions], list[HoleLevel]] = {}
        self._refused: dict[tuple[str, RunOptions], list[HoleLevel]] = {}

    def levels(self, code: Code, *, local: bool = False, unscored: bool = False) -> list[HoleLevel]:
        """The levels of the holes that a call may fill by a model elsewhere (options as in `RunOptions`)."""
        key = (code.name, RunOptions(local, unscored))
        if key not in self._levels:
            holes = holes_in(self._program, reached_codes(self._program, code))
            self._levels[key] = levels_of(self._program, self._models, holes, key[1])
        return self._levels[key]

    def refused(self, code: Code, *, local: bool = False, unscored: bool = False) -> list[HoleLevel]:
        """The holes that end a run before it begins: none of their models can fill them. There are none where
        the program handles `Unsupported` itself."""
        key = (code.name, RunOptions(local, unscored))
        if key not in self._refused:
            found: list[HoleLevel] = []
            codes = reached_codes(self._program, code)
            if not catches(self._program, codes, "Unsupported"):
                found = refused_holes(self._program, self._models, holes_in(self._program, codes), key[1])
            self._refused[key] = found
        return self._refused[key]

    def check(self, code: Code, *, local: bool = False, unscored: bool = False) -> None:
        """Raise SglError (Unsupported) where a run would come to a hole that cannot be filled."""
        refused = self.refused(code, local=local, unscored=unscored)
        if refused:
            first = refused[0]
            raise SglError("Unsupported", unsupported(first), hint=f"use {' or '.join(first.hints)}")
