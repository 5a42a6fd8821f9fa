"""Files by their addresses: `file:` URIs, and buffers that were never saved."""

from __future__ import annotations

import re
from pathlib import Path

from pygls.uris import from_fs_path, to_fs_path


class Places:
    """Which file an address means, and the address of a file as the client writes it."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or Path.cwd()
        """Where buffers without a file look modules up."""
        self._paths: dict[str, Path] = {}
        self._addresses: dict[Path, str] = {}

    def path(self, uri: str) -> Path:
        """The file of an address. A buffer without one gets a name in the root folder that no file has."""
        known = self._paths.get(uri)
        if known is None:
            found = to_fs_path(uri)
            known = self._buffer(uri) if not found else Path(found)
            self._paths[uri] = known
            self._addresses[known] = uri
            self._addresses.setdefault(known.resolve(), uri)
        return known

    def uri(self, path: Path) -> str:
        """The address of a file."""
        known = self._addresses.get(path)
        return known or from_fs_path(str(path.absolute())) or path.absolute().as_uri()

    def forget(self, uri: str) -> None:
        """A file was closed: its address is found anew when it is asked for."""
        path = self._paths.pop(uri, None)
        if path is not None:
            self._addresses.pop(path, None)
            self._addresses.pop(path.resolve(), None)

    def _buffer(self, uri: str) -> Path:
        name = re.sub(r"[^\w.-]+", "_", uri.rsplit("/", 1)[-1])[:80] or "untitled"
        return self.root / f".{name}"
