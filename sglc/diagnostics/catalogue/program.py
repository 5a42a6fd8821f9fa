"""Catalogue entries: compiled programs (.sglb)."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0601",
        "not a compiled program",
        "The file does not begin with the four letters that every compiled program begins with. It is "
        "something else under the name of one; build it again from its source with `sglc build`.",
    ),
    Entry(
        "E0602",
        "a compiled program of another format",
        "The file was made by an sglc whose format this one does not read. Compiled programs are quick to "
        "make: build it again from its source.",
    ),
    Entry(
        "E0603",
        "a compiled program that is cut off",
        "The file ends before the length that its header announces: it was copied or written only in part. "
        "Copy or build it again.",
    ),
    Entry(
        "E0604",
        "a damaged compiled program",
        "The checksum in the header does not belong to the contents, or bytes stand where none belong. The "
        "file was changed after it was built. Copy or build it again.",
    ),
    Entry(
        "E0605",
        "a malformed compiled program",
        "The checksum is right, but the contents are not what a compiler writes: a section is missing, a "
        "value is of another kind, a number is out of range. The file was not made by `sglc build`, or by "
        "one with another set of instructions.",
    ),
    Entry(
        "E0606",
        "an unsound compiled program",
        "Every program is verified before it runs: stack, handlers and snapshots agree on every road, every "
        "operand points to something of the right kind, every type is declared and has a value. This one "
        "fails that check and is not run. The reason names the function and the instruction.",
    ),
    Entry(
        "E0607",
        "a compiled program that is too large",
        "Compiled programs are read whole and are limited to 64 MiB.",
    ),
)
