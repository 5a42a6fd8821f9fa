"""Catalogue entries of the checker: parts of the language that are parsed but do not run yet (E09xx)."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

_FN = "pub fn f() -> int:\n    user: | A number?\n"
_END = "    return n\n"
_GOOD = _FN + "    assistant: | ?{n: int}\n" + _END


def _entry(code: str, title: str, instead: str, bad: str, good: str) -> Entry:
    return Entry(
        code,
        f"not available yet: {title}",
        f"This part of the language is parsed and not run yet. {instead}",
        bad,
        good,
    )


ENTRIES: tuple[Entry, ...] = (
    _entry(
        "E0905", "other surfaces than JSON", "Leave `as …` out.",
        "pub type names = [str max 9 chars; ..4] as yaml\n", "pub type names = [str max 9 chars; ..4]\n",
    ),
)  # fmt: skip
