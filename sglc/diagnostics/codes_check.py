"""Catalogue entries of the checker, by subject."""

from __future__ import annotations

from sglc.diagnostics import (
    codes_flow,
    codes_grammar,
    codes_json,
    codes_names,
    codes_types,
    codes_unavailable,
)
from sglc.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    *codes_names.ENTRIES,
    *codes_types.ENTRIES,
    *codes_json.ENTRIES,
    *codes_flow.ENTRIES,
    *codes_grammar.ENTRIES,
    *codes_unavailable.ENTRIES,
)
