"""The file format of compiled programs (`.sglb`).

    offset  size  what
    0       4     "SGLB"
    4       2     format version, big-endian
    6       2     zero
    8       8     length of the body in bytes, big-endian
    16      32    SHA-256 of the bytes 0..16 and the body
    48      …     the body: UTF-8 JSON in one spelling (no blanks, sorted keys, ASCII)
    …       …     a pack of masks, if `sglc build --pack` has put one there; it is no part of the program

The same program always gives the same bytes: nothing in them depends on the time, the machine or the folder.
The body is not compressed, so that a small file never becomes large in memory and no compression library can
change the bytes. Reading checks form, size, checksum and contents, and verifies the program; whatever is
wrong comes back as a diagnostic.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, NoReturn

from sglc.bytecode.code import Code, ErrorSpec, HoleSpec, Instruction, Place, Prefix, Program
from sglc.bytecode.encoding import (
    MAX_DIGITS,
    TYPES,
    EncodingError,
    decode,
    decode_head,
    encode,
    encode_head,
)
from sglc.bytecode.opcodes import OPCODES
from sglc.bytecode.verify import verified
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.types.type import AliasType, EnumType, RecordType, UnionType
from sglc.types.values import Value

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData, JsonObject

MAGIC = b"SGLB"
PACK = b"SGLPACK\0"
"""What may stand behind a program begins with this (see `sglc.runtime.mask.artifact.pack`)."""
VERSION = 11
HEADER = 48
MAX_BYTES = 64 * 1024 * 1024
MAX_INSTRUCTIONS = 4_000_000
MAX_NUMBER = 2**31

_DECLARED = (AliasType, EnumType, RecordType, UnionType)
_SECTIONS = (
    "codes",
    "constants",
    "entry",
    "errors",
    "files",
    "holes",
    "meta",
    "name",
    "names",
    "opcodes",
    "prefixes",
    "sources",
    "table",
    "types",
)


def dumps(program: Program) -> bytes:
    """The bytes of a program."""
    # Pairs where the order is part of the program, for keys are sorted.
    body = json.dumps(
        {
            "name": program.name,
            "opcodes": len(OPCODES),
            "codes": [_encode_code(code) for code in program.codes],
            "entry": [[name, index] for name, index in program.entry.items()],
            "constants": [encode(value) for value in program.constants],
            "names": list(program.names),
            "types": [encode(type_) for type_ in program.types],
            "table": [[name, encode(declared)] for name, declared in program.table.items()],
            "holes": [encode(hole) for hole in program.holes],
            "errors": [encode(error) for error in program.errors],
            "prefixes": [encode(prefix) for prefix in program.prefixes],
            "files": list(program.files),
            "sources": list(program.sources),
            "meta": dict(program.meta),
        },
        sort_keys=True,
        separators=(",", ":"),
    ).encode("ascii")
    return sign(body)


def sign(body: bytes, version: int = VERSION) -> bytes:
    """A file with this body: header, checksum, body."""
    head = MAGIC + version.to_bytes(2, "big") + b"\0\0" + len(body).to_bytes(8, "big")
    return head + hashlib.sha256(head + body).digest() + body


def loads(data: bytes) -> tuple[Program | None, list[Diagnostic]]:
    """The verified program in a file, or why there is none (E0601 to E0607)."""
    problem = _outside(data)
    if problem is not None:
        return None, [problem]
    try:
        program = _decode_program(_json(program_body(data)))
    except EncodingError as error:
        return None, [_problem("E0605", "the compiled program is malformed", str(error))]
    except RecursionError:
        return None, [_problem("E0605", "the compiled program is malformed", "values are nested too deeply")]
    program, faults = verified(program)
    return (None, faults) if faults else (program, [])


def program_body(data: bytes) -> bytes:
    """The body of a file that is whole, without what stands behind the program."""
    return data[HEADER : HEADER + int.from_bytes(data[8:16], "big")]


def _problem(code: str, message: str, reason: str = "", hint: str = "") -> Diagnostic:
    return Diagnostic(code, message, None, reason=reason, hint=hint or "build it again with `sglc build`")


def _outside(data: bytes) -> Diagnostic | None:
    """What is wrong with the wrapping of a file."""
    if len(data) > MAX_BYTES:
        return _problem("E0607", "the compiled program is too large", f"more than {MAX_BYTES >> 20} MiB")
    if not data.startswith(MAGIC[: len(data)]) or not data:
        return _problem("E0601", "this is no compiled program", "it does not begin with SGLB")
    if len(data) < HEADER:
        return _problem(
            "E0603", "the compiled program is cut off", f"{len(data)} bytes, the header has {HEADER}"
        )
    version = int.from_bytes(data[4:6], "big")
    if version != VERSION:
        return _problem(
            "E0602",
            f"the compiled program has format {version}",
            f"this sglc reads format {VERSION}",
            "build it again with this sglc" if version < VERSION else "update sglc, or build it again",
        )
    length = int.from_bytes(data[8:16], "big")
    if len(data) < HEADER + length:
        return _problem(
            "E0603", "the compiled program is cut off", f"{len(data) - HEADER} of {length} bytes are there"
        )
    behind = data[HEADER + length :]
    if data[6:8] != b"\0\0" or (behind and not behind.startswith(PACK)):
        return _problem("E0604", "the compiled program is damaged", "bytes where none belong")
    if hashlib.sha256(data[:16] + program_body(data)).digest() != data[16:HEADER]:
        return _problem("E0604", "the compiled program is damaged", "the checksum does not match")
    return None


def _json(body: bytes) -> JsonObject:
    def integer(text: str) -> int:
        if len(text) > MAX_DIGITS:
            raise EncodingError("a number is too long")
        return int(text)

    def refuse(text: str) -> NoReturn:
        raise EncodingError(f"{text[:20]!r} is no number of the format")

    def pairs(items: list[tuple[str, JsonData]]) -> JsonObject:
        found = dict(items)
        if len(found) != len(items):
            raise EncodingError("a key is given twice")
        return found

    try:
        parsed = json.loads(
            body.decode("ascii"),
            parse_int=integer,
            parse_float=refuse,
            parse_constant=refuse,
            object_pairs_hook=pairs,
        )
    except UnicodeDecodeError:
        raise EncodingError("the body is not ASCII") from None
    except ValueError as error:
        raise EncodingError(f"the body is no JSON: {error}") from None
    if not isinstance(parsed, dict) or tuple(sorted(parsed)) != _SECTIONS:
        raise EncodingError("other sections than a program has")
    return parsed


# -- code objects ----------------------------------------------------------------------------------


def _encode_code(code: Code) -> list[JsonData]:
    """The plain fields, the instructions as one flat list, and the places, each written once."""
    places: dict[Place, int] = {}
    at = [places.setdefault(place, len(places)) for place in code.places]
    return [
        encode_head(code),
        [number for instruction in code.instructions for number in instruction],
        [number for p in places for number in (p.file, p.start, p.end, p.line, p.column)],
        at,
    ]


def _decode_code(data: JsonData) -> Code:
    if not isinstance(data, list) or len(data) != 4:
        raise EncodingError("a function has four parts")
    head = decode_head(data[0])
    numbers, coordinates, at = (_numbers(part) for part in data[1:])
    if len(numbers) % 3 or len(coordinates) % 5 or len(numbers) != len(at) * 3:
        raise EncodingError("instructions and places do not match")
    if len(at) > MAX_INSTRUCTIONS:
        raise EncodingError("a function is too long")
    known = [Place(*coordinates[i : i + 5]) for i in range(0, len(coordinates), 5)]
    if any(index >= len(known) for index in at):
        raise EncodingError("an instruction has no place")
    kind: Any = head.kind
    return Code(
        name=head.name,
        kind=kind,
        parameters=head.parameters,
        result=head.result,
        slots=head.slots,
        instructions=tuple(Instruction(*numbers[i : i + 3]) for i in range(0, len(numbers), 3)),
        places=tuple(known[index] for index in at),
        retries=head.retries,
        within=head.within,
        public=head.public,
        doc=head.doc,
        raises=head.raises,
        fork_slot=head.fork_slot,
        stack_depth=head.stack_depth,
        tags=head.tags,
        copy_of=head.copy_of,
        extern=head.extern,
    )


def _numbers(data: JsonData) -> list[int]:
    """A list of small numbers from zero up."""
    if not isinstance(data, list) or any(
        type(number) is not int or not 0 <= number < MAX_NUMBER for number in data
    ):
        raise EncodingError("a list of numbers holds something else")
    return data


# -- the program -----------------------------------------------------------------------------------


def _decode_program(data: JsonObject) -> Program:
    if data["opcodes"] != len(OPCODES):
        raise EncodingError("made for another set of instructions")
    if not isinstance(data["name"], str):
        raise EncodingError("the name is no text")
    files = _texts(data["files"], "files")
    for file in (data["name"], *files):
        if PurePosixPath(file).is_absolute() or PureWindowsPath(file).drive or "\0" in file:
            raise EncodingError("a file name is absolute")
    table = {}
    declared = _list(data["table"], "table")
    for pair in declared:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise EncodingError("the table of types holds something else")
        table[pair[0]] = _of(pair[1], _DECLARED, "table")
    if len(table) != len(declared):
        raise EncodingError("a type is declared twice")
    entry: dict[str, int] = {}
    for pair in _list(data["entry"], "entry"):
        if not isinstance(pair, list) or [type(part) for part in pair] != [str, int] or pair[0] in entry:
            raise EncodingError("the entries hold something else")
        entry[pair[0]] = pair[1]
    meta = data["meta"]
    if not isinstance(meta, dict) or not all(isinstance(value, str) for value in meta.values()):
        raise EncodingError("the remarks hold something else")
    return Program(
        name=data["name"],
        codes=tuple(_decode_code(code) for code in _list(data["codes"], "codes")),
        entry=entry,
        constants=tuple(_constant(value) for value in _list(data["constants"], "constants")),
        names=_texts(data["names"], "names"),
        types=tuple(_of(type_, TYPES, "types") for type_ in _list(data["types"], "types")),
        table=table,
        holes=tuple(_of(hole, (HoleSpec,), "holes") for hole in _list(data["holes"], "holes")),
        errors=tuple(_of(error, (ErrorSpec,), "errors") for error in _list(data["errors"], "errors")),
        prefixes=tuple(_of(prefix, (Prefix,), "prefixes") for prefix in _list(data["prefixes"], "prefixes")),
        files=files,
        sources=_texts(data["sources"], "sources"),
        meta=meta,
    )


def _constant(data: JsonData) -> Value:
    value: Value = decode(data, classes={})
    return value


def _of(data: JsonData, classes: tuple[type, ...], section: str) -> Any:
    value = decode(data)
    if not isinstance(value, classes):
        raise EncodingError(f"section {section} holds something else")
    return value


def _list(data: JsonData, section: str) -> list[JsonData]:
    if not isinstance(data, list):
        raise EncodingError(f"section {section} is no list")
    return data


def _texts(data: JsonData, section: str) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(text, str) for text in data):
        raise EncodingError(f"section {section} holds something else")
    return tuple(data)
