"""The catalogue: what every diagnostic code means, with a program that shows it and one that does not.

`sglc explain` and the reference print these entries; a test compiles the programs.
"""

from __future__ import annotations

from collections.abc import Iterable

from sglc.diagnostics.catalogue import advice as codes_advice
from sglc.diagnostics.catalogue import check as codes_check
from sglc.diagnostics.catalogue import command as codes_command
from sglc.diagnostics.catalogue import program as codes_program
from sglc.diagnostics.catalogue import python as codes_python
from sglc.diagnostics.catalogue import run as codes_run
from sglc.diagnostics.catalogue import syntax as codes_syntax
from sglc.diagnostics.catalogue.entry import Entry

__all__ = ["CATALOGUE", "Entry"]


def _merged(groups: Iterable[tuple[Entry, ...]]) -> dict[str, Entry]:
    catalogue: dict[str, Entry] = {}
    for entry in (entry for group in groups for entry in group):
        if entry.code in catalogue:
            raise ValueError(f"two entries have the code {entry.code}")
        catalogue[entry.code] = entry
    return dict(sorted(catalogue.items()))


CATALOGUE: dict[str, Entry] = _merged(
    (
        codes_syntax.ENTRIES,
        codes_check.ENTRIES,
        codes_advice.ENTRIES,
        codes_python.ENTRIES,
        codes_program.ENTRIES,
        codes_run.ENTRIES,
        codes_command.ENTRIES,
    )
)
