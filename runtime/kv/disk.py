"""The tier on disk: blocks that are evicted from memory are written to files and read back on demand.

One file holds one block. Its name is a digest of all tokens up to the block's end and of what computed them,
so a name means the same keys and values in every process. A second digest guards the contents. Files are
written to the side and moved into place. They are read only if they belong to this user and nobody else can
write them. A tier that is full, that cannot be written or that lost its files is no error: the faults are
counted, and the tokens are computed again.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from array import array
from collections.abc import Callable
from pathlib import Path

from sglc.cache_files import PART, make_private, open_own, write_atomically
from sglc.runtime.kv.accounts import DiskStats

_FORMAT = b"sglc keys and values 1\0"
_DIGEST = 32
FAULTS_IN_A_ROW = 8
"""So many faults one after the other, and blocks are no longer written."""
_NAME = re.compile(r"[0-9a-f]{64}\.kv")
_LEFT_BEHIND = 3600.0
"""Seconds after which a file that was never moved into place is removed."""


class DiskTier:
    """Blocks in a folder, of at most `limit` bytes. The block used longest ago makes room.

    `identity` says what computed the blocks: the digest of a model's weights, the executor and the layout of
    its blocks. Files of another identity are never read, but count. Files of earlier processes are found
    again. A folder may be read and written by several processes, each of which bounds what it knows of.
    Without `writes` it is only read: nothing is added, and nothing makes room.
    """

    def __init__(self, folder: Path, limit: int, identity: str, *, writes: bool = True) -> None:
        """Take over the folder, and make it if it is missing. A folder that cannot be used is a tier without
        blocks."""
        if limit < 0:
            raise ValueError(f"a tier of {limit} bytes")
        self.folder = folder
        self.limit = limit
        self._identity = identity.encode()
        self._sizes: dict[str, int] = {}
        """Bytes of files by their name, the one used longest ago first."""
        self._bytes = 0
        self._writing = self._bounded = writes
        self._faults_in_a_row = 0
        self._writes = self._reads = self._removals = 0
        self._write_faults = self._read_faults = self._corrupt = 0
        try:
            if writes:
                make_private(folder)
            self._scan()
        except OSError:
            self._write_fault()

    def name(self, parent: bytes, key: tuple[int, ...]) -> bytes:
        """The name of the block with tokens `key` behind the block named `parent`; the root is behind b""."""
        state = hashlib.blake2b(parent, digest_size=_DIGEST)
        state.update(array("q", key).tobytes() if parent else self._identity)
        return state.digest()

    def write(self, name: bytes, read: Callable[[], bytes]) -> None:
        """Store what `read` returns under a name, if it is not there already."""
        file = f"{name.hex()}.kv"
        if file in self._sizes:
            self._sizes[file] = self._sizes.pop(file)
            return
        if not self._writing:
            return
        try:
            data = read()
        except Exception:  # whatever an executor raises: the block is lost, as it would be without a tier
            self._write_fault()
            return
        size = len(_FORMAT) + _DIGEST + len(data)
        if size > self.limit:
            self._write_fault()
            return
        self._make_room(size)
        try:
            write_atomically(self.folder / file, _FORMAT, _checksum(name, data), data)
        except OSError:
            self._write_fault()
            return
        self._sizes[file] = size
        self._bytes += size
        self._writes += 1
        self._faults_in_a_row = 0

    def read(self, name: bytes, size: int) -> bytes | None:
        """The `size` bytes stored under a name. None if there are none, or if they are damaged."""
        file = f"{name.hex()}.kv"
        if file not in self._sizes:
            return None
        path = self.folder / file
        try:
            with open_own(path) as source:
                data = source.read(len(_FORMAT) + _DIGEST + size + 1)
        except OSError:
            self._read_faults += 1
            self._forget(file)
            return None
        content = data[len(_FORMAT) + _DIGEST :]
        checksum = data[len(_FORMAT) : len(_FORMAT) + _DIGEST]
        if not data.startswith(_FORMAT) or len(content) != size or checksum != _checksum(name, content):
            self._corrupt += 1
            self._forget(file)
            self._unlink(file)
            return None
        self._reads += 1
        self._sizes[file] = self._sizes.pop(file)
        return content

    def stats(self) -> DiskStats:
        """Counts of this moment."""
        return DiskStats(
            blocks=len(self._sizes),
            bytes=self._bytes,
            limit=self.limit,
            writes=self._writes,
            reads=self._reads,
            removals=self._removals,
            write_faults=self._write_faults,
            read_faults=self._read_faults,
            corrupt=self._corrupt,
            writing=self._writing,
        )

    def _scan(self) -> None:
        """Take up files of earlier processes, up to the limit. The file written last counts as the one used
        last."""
        found = []
        before = time.time() - _LEFT_BEHIND
        with os.scandir(self.folder) as entries:
            for entry in entries:
                try:
                    if _NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                        facts = entry.stat(follow_symlinks=False)
                        found.append((facts.st_mtime_ns, entry.name, facts.st_size))
                    elif entry.name.endswith(PART) and entry.stat(follow_symlinks=False).st_mtime < before:
                        self._unlink(entry.name)
                except FileNotFoundError:
                    continue  # another process has moved or removed it in the meantime
        for _, file, size in sorted(found):
            self._sizes[file] = size
            self._bytes += size
        self._make_room(0)

    def _make_room(self, size: int) -> None:
        while self._bounded and self._sizes and self._bytes + size > self.limit:
            file = next(iter(self._sizes))
            self._forget(file)
            self._unlink(file)
            self._removals += 1

    def _forget(self, file: str) -> None:
        self._bytes -= self._sizes.pop(file)

    def _unlink(self, file: str) -> None:
        try:
            (self.folder / file).unlink(missing_ok=True)
        except OSError:
            self._write_fault()

    def _write_fault(self) -> None:
        self._write_faults += 1
        self._faults_in_a_row += 1
        if self._faults_in_a_row >= FAULTS_IN_A_ROW:
            self._writing = False


def _checksum(name: bytes, data: bytes) -> bytes:
    """A digest of a block and the name it is stored under."""
    return hashlib.blake2b(data, digest_size=_DIGEST, key=name).digest()
