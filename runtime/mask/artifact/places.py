"""Where ahead-of-time tables are kept: in packs of programs and in the cache, found by what they are of."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path

from sglc import __version__
from sglc.automata.term import Language
from sglc.automata.term_digest import TooDeep, term_digest
from sglc.cache_files import cache_folder, keep
from sglc.runtime.mask.artifact.constraint import TabledConstraint
from sglc.runtime.mask.artifact.pack import SUFFIX, MaskPack
from sglc.runtime.mask.artifact.tables import (
    NO_CONSTRAINT,
    VERSION,
    MaskTables,
    TableError,
    open_file,
    to_bytes,
)
from sglc.runtime.mask.automaton.limits import ConstraintOptions
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary


def constraint_digest(language: Language, options: ConstraintOptions | None = None) -> bytes:
    """What names a tabled constraint: its terms, the limits that decide what is refused, and this version.

    Raises `term_digest.TooDeep`.
    """
    limits = options or ConstraintOptions()
    state = hashlib.sha256(f"sglc {__version__}, masks {VERSION}\0".encode())
    numbers = (limits.max_terms, limits.max_depth, limits.max_states, limits.max_work, limits.max_effort)
    state.update(repr(numbers).encode())
    state.update(term_digest(language))
    return state.digest()


def masks_folder() -> Path:
    """Where tabled constraints are kept for all programs."""
    return cache_folder() / "masks"


def program_masks(path: str | os.PathLike[str]) -> MaskPlaces:
    """Where masks of a program's file are looked for: behind and beside it (`x.sglm` for `x.sglb`), in the
    cache."""
    file = Path(path)
    return MaskPlaces([file, file.with_suffix(SUFFIX)], [masks_folder()])


def file_name(constraint: bytes, vocabulary: Vocabulary) -> str:
    """The name of a tabled constraint's file, by its contents."""
    return f"{constraint.hex()[:32]}-{vocabulary.digest[:16]}-{VERSION}{SUFFIX}"


def save_tables(
    folder: str | os.PathLike[str],
    language: Language,
    vocabulary: Vocabulary,
    tables: MaskTables,
    options: ConstraintOptions | None = None,
    alone: Language | None = None,
) -> Path:
    """Write tables into a folder, as into a cache: that nothing could be written is no error.

    Those that are of the value `alone` too are found under both names.
    """
    folder = Path(folder)
    digest = constraint_digest(language, options)
    own = NO_CONSTRAINT if alone is None else constraint_digest(alone, options)
    path = folder / file_name(digest, vocabulary)
    keep(path, to_bytes(tables, digest, bytes.fromhex(vocabulary.digest), own))
    if alone is not None:
        other = folder / file_name(own, vocabulary)
        with suppress(OSError):
            other.unlink(missing_ok=True)
            os.link(path, other)
    return path


def load_tables(
    place: str | os.PathLike[str],
    language: Language | Callable[[], Language],
    vocabulary: Vocabulary,
    options: ConstraintOptions | None = None,
    *,
    digest: bytes | None = None,
) -> TabledConstraint:
    """The tabled constraint in a file, or in the file that belongs to it in a folder.

    Who has kept the `constraint_digest` may give it: then nothing is hashed, and a language that is given as
    a function is only made when a text goes on behind the tables.

    Raises TableError if the file is damaged or of something else, and OSError if there is none.
    """
    limits = options or ConstraintOptions()
    if digest is None:
        language = language if isinstance(language, Language) else language()
        digest = constraint_digest(language, limits)
    path = os.fspath(place)
    if not path.endswith(SUFFIX):
        path = os.path.join(path, file_name(digest, vocabulary))
    return TabledConstraint(language, limits, _opened(path, digest, vocabulary), vocabulary)


def _opened(path: str, digest: bytes, vocabulary: Vocabulary) -> MaskTables:
    own = os.path.dirname(path) == os.fspath(masks_folder())
    return _fitting(open_file(path, digest, bytes.fromhex(vocabulary.digest), own=own), vocabulary)


def _fitting(tables: MaskTables, vocabulary: Vocabulary) -> MaskTables:
    """Tables that have the size of a vocabulary and a start that can be read, else TableError."""
    if tables.size != vocabulary.size:
        raise TableError("the file is of another vocabulary")
    assert tables.first >= 0
    return tables


class MaskPlaces:
    """Packs and folders in which constraints are looked for before they are compiled; the first one wins.

    Files that cannot be used are passed over: the constraint is compiled as if they were not there.
    """

    def __init__(
        self,
        packs: Iterable[str | os.PathLike[str]] = (),
        folders: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        self.packs = tuple(Path(path) for path in packs)
        self.folders = tuple(Path(folder) for folder in folders)

    @cached_property
    def _opened(self) -> list[MaskPack]:
        found = []
        for path in self.packs:
            with suppress(OSError, TableError, ValueError):
                found.append(MaskPack.open(path))
        return found

    def find(
        self, language: Language, vocabulary: Vocabulary, options: ConstraintOptions | None = None
    ) -> TabledConstraint | None:
        """The tabled constraint, if there are sound tables of it."""
        limits = options or ConstraintOptions()
        try:
            digest = constraint_digest(language, limits)
        except TooDeep:
            return None
        for look in self._looks(digest, vocabulary):
            with suppress(OSError, TableError):
                tables = look()
                if tables is not None:
                    return TabledConstraint(language, limits, _fitting(tables, vocabulary), vocabulary)
        return None

    def _looks(self, digest: bytes, vocabulary: Vocabulary) -> Iterator[Callable[[], MaskTables | None]]:
        for pack in self._opened:
            yield partial(pack.find, digest, bytes.fromhex(vocabulary.digest))
        for folder in self.folders:
            path = os.path.join(folder, file_name(digest, vocabulary))
            yield partial(_opened, path, digest, vocabulary)
