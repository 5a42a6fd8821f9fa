"""Catalogue entries: running: arguments, models, limits."""

from __future__ import annotations

from sglc.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = ()
