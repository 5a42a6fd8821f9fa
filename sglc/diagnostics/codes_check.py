"""Catalogue entries: names, types, constraints and control flow."""

from __future__ import annotations

from sglc.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = ()
