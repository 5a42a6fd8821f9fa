"""Repairs at a place: the edits that findings carry, and those that they offer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sglc.diagnostics.diagnostic import Diagnostic, Edit
from sglc.diagnostics.edits import compatible
from sglc.immutable import value
from sglc.service.core.snapshot import Snapshot


@value
class Repair:
    """Edits of the file that go together. One is `certain` where it does what the finding asks for, and no
    more; others change what the program says."""

    title: str
    edits: tuple[Edit, ...]
    finding: Diagnostic
    certain: bool


def repairs(snapshot: Snapshot, findings: Iterable[Diagnostic], start: int, end: int) -> Iterator[Repair]:
    """The repairs of findings that touch a place."""
    for each in findings:
        span = each.span
        if span is None or span.source is not snapshot.source or span.start > end or span.end < start:
            continue
        for edits, certain in ((each.edits, True), (each.offered, False)):
            if edits and all(edit.span.source is snapshot.source for edit in edits):
                yield Repair(_title(each, edits), edits, each, certain)


def every_repair(snapshot: Snapshot, findings: Iterable[Diagnostic]) -> tuple[Edit, ...]:
    """All certain edits of a file that can be made in one go."""
    chosen = compatible(findings, lambda source: source is snapshot.source)
    return tuple(edit for edits in chosen for edit in edits)


def _title(finding: Diagnostic, edits: tuple[Edit, ...]) -> str:
    if finding.hint:
        return finding.hint
    first = edits[0]
    if not first.text:
        return f"remove `{first.span.text.strip()}`"
    return f"write `{first.text.strip()}`" if len(first.text) < 60 else f"repair: {finding.message}"
