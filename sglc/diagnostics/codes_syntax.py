"""Catalogue entries: what a program's text looks like."""

from __future__ import annotations

from sglc.diagnostics.entry import Entry

ENTRIES: tuple[Entry, ...] = ()
