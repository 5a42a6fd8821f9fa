"""What models are at hand, for people who ask before they run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sglc.runtime.model.load import DEFAULT, cache_directory, cached_folder, package_file, resolve
from sglc.runtime.model.weights.convert import MANIFEST, Progress, is_whole


@dataclass(frozen=True, slots=True)
class Entry:
    """A model by the name to load it with; `size` in bytes, `path` None if it has to be fetched first."""

    name: str
    state: str
    path: Path | None = None
    size: int | None = None


def list_models() -> list[Entry]:
    """The known names first, then what else is converted in the cache."""
    return [_default_entry(), *_cached_entries()]


def fetch(name: str, progress: Progress | None = None) -> Path:
    """Fetch and convert a model, so that the next load starts at once. Raises ModelError."""
    return resolve(name, progress)


def _default_entry() -> Entry:
    folder = cached_folder(DEFAULT)
    if folder is not None:
        return Entry(DEFAULT, "converted", folder, _folder_size(folder))
    source = package_file()
    if source is not None:
        return Entry(DEFAULT, "installed, converted at first use", source, source.stat().st_size)
    return Entry(DEFAULT, "known, fetched at first use")


def _cached_entries() -> Iterator[Entry]:
    root = cache_directory()
    folders = sorted(root.iterdir()) if root.is_dir() else []
    for folder in folders:
        if folder.name == DEFAULT or folder.name.startswith(".") or not folder.is_dir():
            continue
        if is_whole(folder):
            source = json.loads((folder / MANIFEST).read_text(encoding="utf-8")).get("source", {})
            name = source.get("name", folder.name) if isinstance(source, dict) else folder.name
            yield Entry(str(folder), f"converted from {name}", folder, _folder_size(folder))


def _folder_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
