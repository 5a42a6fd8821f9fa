"""Catalogue entries: compiled programs (.sglb)."""

from __future__ import annotations

from sglc.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = ()
