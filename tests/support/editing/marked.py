"""Texts with a mark where the cursor stands, and snapshots of them."""

from __future__ import annotations

from pathlib import Path

from sglc.service.core.documents import Documents
from sglc.service.core.snapshot import Snapshot

MARK = "‸"
NAME = Path("/program/marked.sgl")


def marked(text: str, path: Path = NAME) -> tuple[Snapshot, int]:
    """The snapshot of a text without its mark, and where that stood."""
    documents = Documents()
    documents.open(path, text.replace(MARK, ""))
    snapshot = documents.snapshot(path)
    assert snapshot is not None
    return snapshot, text.index(MARK) if MARK in text else 0
