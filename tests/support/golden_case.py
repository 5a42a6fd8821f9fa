"""Golden files: readable cases of input and expected output in one text file.

A file is a sequence of cases::

    -- Lines that begin with two dashes and a blank are comments.
    [case name]
    input lines
    [out]
    expected lines

The text of a section is its lines joined by newlines, without blank lines at its end. A line of a section
that would itself begin with `-- `, `[case `, `[out]` or a backslash is written with a backslash in front.

A test reads the cases with `golden_cases` and compares through the fixture `golden`::

    @pytest.mark.parametrize("case", golden_cases("passes/merge_text"), ids=str)
    def test_merges_text(case, golden):
        golden(case, render(case.input))

`pytest --update-golden` rewrites the `[out]` sections that differ; without it a missing `[out]` fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from checkout import GOLDEN
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.render import render

_SPECIAL = ("-- ", "[case ", "[out]", "\\")


@dataclass(frozen=True, slots=True)
class GoldenCase:
    """One case; `expected` is None where the file has no `[out]` section for it."""

    path: Path
    name: str
    input: str
    expected: str | None

    def __str__(self) -> str:
        return self.name


def golden_cases(name: str) -> list[GoldenCase]:
    """The cases of `tests/golden/<name>.test`, or of all `*.test` files below `tests/golden/<name>/`.

    A missing or empty file is an error, and so are two cases of one name.
    """
    folder = GOLDEN / name
    paths = sorted(folder.rglob("*.test")) if folder.is_dir() else [GOLDEN / f"{name}.test"]
    cases = [case for path in paths for case in read_cases(path)]
    if not cases:
        raise ValueError(f"no golden cases in {folder}")
    return cases


def read_cases(path: Path) -> list[GoldenCase]:
    """All cases of one file."""
    cases: list[GoldenCase] = []
    name = ""
    section: list[str] | None = None
    given: list[str] = []
    expected: list[str] | None = None

    def finish() -> None:
        if name:
            if any(case.name == name for case in cases):
                raise ValueError(f"{path}: two cases are named {name!r}")
            cases.append(GoldenCase(path, name, _text(given), None if expected is None else _text(expected)))

    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("-- "):
            continue
        if line.startswith("[case "):
            finish()
            name, given, expected = line[len("[case ") :].rstrip().rstrip("]"), [], None
            section = given
        elif line.rstrip() == "[out]" and section is not None:
            expected = []
            section = expected
        elif section is not None:
            section.append(line[1:] if line.startswith("\\") else line)
        elif line.strip():
            raise ValueError(f"{path}: text before the first case: {line!r}")
    finish()
    return cases


def check_golden(case: GoldenCase, actual: str, update: bool) -> None:
    """Compare `actual` with the case, or write it into the file if `update` and they differ."""
    actual = _text(actual.split("\n"))
    if case.expected == actual:
        return
    if update:
        _rewrite(case, actual)
        return
    assert case.expected is not None, (
        f"{case.path.name}: case {case.name!r} has no [out]; write it with pytest --update-golden\n{actual}"
    )
    assert actual == case.expected, f"{case.path.name}: case {case.name!r} (pytest --update-golden rewrites)"


def _text(lines: list[str]) -> str:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return "\n".join(lines[:end])


def _rewrite(case: GoldenCase, actual: str) -> None:
    """Replace the case's `[out]` section, keeping comments and blank lines between it and the next case."""
    lines = case.path.read_text(encoding="utf-8").split("\n")
    start = next(
        i
        for i, line in enumerate(lines)
        if line.startswith("[case ") and line[6:].rstrip().rstrip("]") == case.name
    )
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("[case ")), len(lines))
    body_end = end
    while body_end > start + 1 and (not lines[body_end - 1].strip() or lines[body_end - 1].startswith("-- ")):
        body_end -= 1
    out = next((i for i in range(start + 1, body_end) if lines[i].rstrip() == "[out]"), None)
    written = ["\\" + line if line.startswith(_SPECIAL) else line for line in actual.split("\n")]
    if not actual:
        written = []
    between = lines[body_end:end] if end < len(lines) or body_end < end else [""]
    lines[body_end if out is None else out : end] = ["[out]", *written, *between]
    case.path.write_text("\n".join(lines), encoding="utf-8")


def render_all(diagnostics: Iterable[Diagnostic]) -> str:
    """Several diagnostics with a blank line between them."""
    return "\n\n".join(map(render, diagnostics))
