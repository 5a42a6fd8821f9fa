"""Catalogue entries of the checker, by subject."""

from __future__ import annotations

from sglc.diagnostics.catalogue import flow as codes_flow
from sglc.diagnostics.catalogue import grammar as codes_grammar
from sglc.diagnostics.catalogue import json as codes_json
from sglc.diagnostics.catalogue import names as codes_names
from sglc.diagnostics.catalogue import proofs as codes_proofs
from sglc.diagnostics.catalogue import types as codes_types
from sglc.diagnostics.catalogue.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    *codes_names.ENTRIES,
    *codes_types.ENTRIES,
    *codes_json.ENTRIES,
    *codes_flow.ENTRIES,
    *codes_grammar.ENTRIES,
    *codes_proofs.ENTRIES,
)
