"""The source files of the checkout, by the names under which they are imported."""

from __future__ import annotations

from pathlib import Path

from checkout import ROOT

MAPPED = ("runtime", "kernels", "stdlib", "grammar")


def module_name(path: Path, root: Path = ROOT) -> str:
    """Dotted import name of a file, with the mapped top-level folders under sglc."""
    parts = list(path.relative_to(root).with_suffix("").parts)
    if parts[0] in MAPPED:
        parts.insert(0, "sglc")
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def source_files(root: Path = ROOT) -> list[Path]:
    folders = ("sglc", *MAPPED)
    found = (path for folder in folders for path in (root / folder).rglob("*.py"))
    return sorted(path for path in found if "node_modules" not in path.parts)
