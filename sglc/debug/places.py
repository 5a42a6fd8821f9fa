"""Places of breakpoints as people write them: `12`, `crew.sgl:12`, `hole member`, `fn crew`."""

from __future__ import annotations

from dataclasses import dataclass

from sglc.diagnostics.suggest import nearest
from sglc.runtime.debug.breakpoints import Breakpoint, Breakpoints
from sglc.runtime.errors import SglError


@dataclass(frozen=True, slots=True)
class Wanted:
    """A breakpoint as it was written."""

    place: str
    condition: str = ""
    log: str = ""


def read(text: str) -> Wanted:
    """`PLACE [if CONDITION]` or `PLACE log TEXT`."""
    place, found, log = text.partition(" log ")
    if found:
        return Wanted(place.strip(), log=log.strip())
    place, _, condition = text.partition(" if ")
    return Wanted(place.strip(), condition.strip())


def set_breakpoint(breakpoints: Breakpoints, wanted: Wanted, file: int) -> Breakpoint:
    """Set a breakpoint; a line alone is one of `file`. Raises SglError where there is no such place."""
    word, _, name = wanted.place.partition(" ")
    if word in ("hole", "fn"):
        return _named(breakpoints, word, name.strip(), wanted)
    path, colon, line = wanted.place.rpartition(":")
    if colon:
        found = breakpoints.places.file(path)
        if found is None:
            known = ", ".join(breakpoints.places.program.files)
            raise SglError("Failure", f"the program has no file `{path}`; its files: {known}")
        file = found
    if not line.isdecimal() or len(line) > 9:
        hole = breakpoints.places.at_hole(wanted.place)
        return _named(breakpoints, "hole" if hole else "fn", wanted.place, wanted)
    made = breakpoints.at_line(file, int(line), wanted.condition, log=wanted.log)
    if not made.verified:
        breakpoints.remove([made.number])
        raise SglError("Failure", f"no code from line {line} on")
    return made


def _named(breakpoints: Breakpoints, word: str, name: str, wanted: Wanted) -> Breakpoint:
    set_at = breakpoints.at_hole if word == "hole" else breakpoints.at_function
    made = set_at(name, wanted.condition, log=wanted.log)
    if made.verified:
        return made
    breakpoints.remove([made.number])
    program = breakpoints.places.program
    names = [spec.name for spec in program.holes] if word == "hole" else [code.name for code in program.codes]
    close = nearest(name, names)
    kind = "hole" if word == "hole" else "function"
    raise SglError(
        "Failure", f"there is no {kind} `{name}`" + (f": did you mean `{close}`?" if close else "")
    )
