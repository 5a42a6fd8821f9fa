"""What every edit of a diagnostic must do."""

from __future__ import annotations

from collections import Counter

from sglc.check.program import check
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.edits import edited
from sglc.diagnostics.render import render
from sglc.library import Library
from sglc.source import Source
from sglc.syntax.errors.core.sound_edits import edited_lines


def findings(text: str) -> list[Diagnostic]:
    return check(Source("program.sgl", text), Library())[1]


def assert_edits_hold(text: str) -> int:
    """Make the edits of each finding alone: it is gone, and there is no new fault of syntax on those lines.

    Gives the number of findings that carry edits.
    """
    found = findings(text)
    before = Counter((d.code, d.message) for d in found)
    with_edits = [d for d in found if d.edits]
    for diagnostic in with_edits:
        assert diagnostic.hint, f"an edit without a hint: {diagnostic.code} {diagnostic.message}"
        repaired = edited(text, diagnostic.edits)
        assert repaired != text, render(diagnostic)
        left = findings(repaired)
        after = Counter((d.code, d.message) for d in left)
        same = (diagnostic.code, diagnostic.message)
        shown = f"{render(diagnostic)}\n\nbecomes\n\n{repaired}\n\n" + "\n\n".join(map(render, left))
        lines = edited_lines(list(diagnostic.edits), repaired)
        here = [d for d in left if (d.code, d.message) == same and d.span is not None]
        gone = not any(d.span.source.position(d.span.start)[0] in lines for d in here if d.span)
        assert after[same] < before[same] or gone, shown
        fresh = [d for d in left if d.code.startswith("E01") and not before[d.code, d.message]]
        assert not any(Source("", repaired).position(d.span.start)[0] in lines for d in fresh if d.span), (
            shown
        )
    return len(with_edits)
