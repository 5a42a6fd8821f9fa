"""Automata of formats that take long to make, kept in `automata.json`: each by its name, as `pack` writes it.

`pytest tests/automata/test_formats.py --update-golden` makes the file from the definitions in `formats` and
`terms`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from sglc.automata.dfa.serialize import unpack
from sglc.automata.term import CharDfa

FILE = Path(__file__).with_name("automata.json")


def packed_automaton(name: str) -> CharDfa | None:
    """The automaton that the file has under a name; None if it has none."""
    text = _table().get(name)
    return None if text is None else unpack(text)


@cache
def _table() -> dict[str, str]:
    table: dict[str, str] = json.loads(FILE.read_text(encoding="ascii"))
    return table
