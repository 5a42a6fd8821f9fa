"""Numbers of fields and members, and the lock that keeps them: `FILE.proto.lock` beside a program.

    {"v": 1,
     "messages": {"Crew": {"numbers": {"name": "1 string", "skills": "3 repeated string"},
                           "gone": {"2": "age int64"}}},
     "enums": {"Mood": {"numbers": {"MOOD_CALM": "1"}}}}

Messages of another version are read by number. So a number is never given to something else: what goes is
reserved, and gets its number back where it returns as it was; what is new gets a new one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from sglc.targets.proto.description import Gone, ProtoEnum, ProtoField, ProtoFile, ProtoMember, ProtoMessage

VERSION = 1
MOST_NUMBER = 2**29 - 1
RESERVED = range(19_000, 20_000)
"""Numbers that protocol buffers keep for themselves."""
LARGEST_LOCK = 4 * 1024 * 1024


@dataclass(slots=True)
class Kept:
    """Numbers of one message or enum: by name, with the type that they are for, and those that are gone."""

    numbers: dict[str, tuple[int, str]] = field(default_factory=dict)
    gone: dict[int, tuple[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class Lock:
    """Numbers that are kept, by the names of messages and enums."""

    messages: dict[str, Kept] = field(default_factory=dict)
    enums: dict[str, Kept] = field(default_factory=dict)

    def text(self) -> str:
        """As the file has it."""
        data = {"v": VERSION, "messages": _rows(self.messages), "enums": _rows(self.enums)}
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


class LockError(ValueError):
    """A lock that cannot be read; carries a sentence."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A field whose number would be read as another type than before."""

    message: str
    field: str
    number: int
    before: str
    now: str

    @property
    def message_text(self) -> str:
        """What is wrong."""
        return f"`{self.field}` of {self.message} cannot keep its number {self.number}"

    @property
    def reason(self) -> str:
        """Why."""
        return f"it was `{self.before}` and is `{self.now}`, which is read differently"


def lock_path(program: Path) -> Path:
    """Where the lock of a program is: `crew.proto.lock` beside `crew.sgl`."""
    return program.with_suffix(".proto.lock")


def numbered(file: ProtoFile, lock: Lock) -> tuple[ProtoFile, Lock, tuple[Changed, ...]]:
    """The file with its numbers, the lock as it is after that, and what cannot keep its number.

    Raises LockError for a lock that gives a number of ours to something else.
    """
    after = Lock(dict(lock.messages), dict(lock.enums))
    changed: list[Changed] = []
    messages = []
    for message in file.messages:
        if message.role != "own":
            kept = after.messages[message.name] = _copied(lock.messages.get(message.name))
            message = _numbered_message(message, kept, changed)
        messages.append(message)
    enums = []
    for each in file.enums:
        kept = after.enums[each.name] = _copied(lock.enums.get(each.name))
        enums.append(_numbered_enum(each, kept))
    return replace(file, messages=tuple(messages), enums=tuple(enums)), after, tuple(changed)


def _copied(kept: Kept | None) -> Kept:
    return Kept() if kept is None else Kept(dict(kept.numbers), dict(kept.gone))


def _numbered_message(message: ProtoMessage, kept: Kept, changed: list[Changed]) -> ProtoMessage:
    _leave(kept, {each.name for each in message.fields})
    fields: list[ProtoField] = []
    for each in message.fields:
        number = _number(kept, each.name, each.type_text, each.number)
        before = kept.numbers[each.name][1]
        if before != each.type_text:
            changed.append(Changed(message.name, each.name, number, before, each.type_text))
        fields.append(replace(each, number=number))
    numbers = [each.number for each in fields]
    twice = next((number for number in numbers if numbers.count(number) > 1), None)
    if twice is not None:
        raise LockError(f"it gives {twice} to two fields of {message.name}")
    return replace(message, fields=tuple(fields), gone=_gone(kept))


def _numbered_enum(enum: ProtoEnum, kept: Kept) -> ProtoEnum:
    first, *members = enum.members
    _leave(kept, {each.name for each in members})
    found: list[ProtoMember] = [first]
    for each in members:
        found.append(replace(each, number=_number(kept, each.name, "", 0)))
    return replace(enum, members=tuple(found), gone=_gone(kept))


def _leave(kept: Kept, names: set[str]) -> None:
    """What is not there any more is gone."""
    for name in [name for name in kept.numbers if name not in names]:
        number, kind = kept.numbers.pop(name)
        kept.gone[number] = (name, kind)


def _number(kept: Kept, name: str, kind: str, fixed: int) -> int:
    """The number that a name has, had, or gets now; one that is fixed is never another."""
    if name in kept.numbers:
        number, kind = kept.numbers[name]
    else:
        number = next((number for number, was in kept.gone.items() if was == (name, kind)), 0) or _next(kept)
    if fixed:
        number, kind = fixed, kept.gone.get(fixed, ("", kind))[1]  # what it was comes out as a change
    kept.gone.pop(number, None)
    kept.numbers[name] = number, kind
    return number


def _next(kept: Kept) -> int:
    """One above all that were given out, those that are fixed left aside."""
    taken = {number for number, _ in kept.numbers.values()} | set(kept.gone)
    number = 1 + max((each for each in taken if each < 1000), default=0)
    while number in taken or number in RESERVED:
        number += 1
    return number


def _gone(kept: Kept) -> tuple[Gone, ...]:
    return tuple(Gone(number, kept.gone[number][0]) for number in sorted(kept.gone))


# -- the file --------------------------------------------------------------------------------------------


def _rows(kept: Mapping[str, Kept]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in sorted(kept):
        each = kept[name]
        rows: dict[str, object] = {
            "numbers": {name: f"{number} {kind}".rstrip() for name, (number, kind) in each.numbers.items()}
        }
        if each.gone:
            rows["gone"] = {
                str(number): f"{name} {kind}".rstrip() for number, (name, kind) in sorted(each.gone.items())
            }
        found[name] = rows
    return found


def read_lock(path: Path) -> Lock:
    """The lock in a file; an empty one where there is no file. Raises LockError."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_LOCK + 1)
    except FileNotFoundError:
        return Lock()
    except OSError as problem:
        raise LockError(problem.strerror or str(problem)) from None
    if len(raw) > LARGEST_LOCK:
        raise LockError(f"it is larger than {LARGEST_LOCK // 1024 // 1024} MiB")
    try:
        return lock_of(raw.decode())
    except UnicodeDecodeError:
        raise LockError("it is not UTF-8 text") from None


def lock_of(text: str) -> Lock:
    """The lock that a text says. Raises LockError for what `Lock.text` does not write."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as wrong:
        raise LockError(f"it is no JSON: {wrong}") from None
    if not isinstance(data, dict) or data.get("v") != VERSION:
        raise LockError(f"it is no lock of version {VERSION}")
    return Lock(_kept(data, "messages"), _kept(data, "enums"))


def _kept(data: Mapping[str, object], part: str) -> dict[str, Kept]:
    found: dict[str, Kept] = {}
    for name, rows in _object(data.get(part), part).items():
        place = f"{part}.{name}"
        rows = _object(rows, place)
        kept = found[name] = Kept()
        for each, row in _object(rows.get("numbers"), place).items():
            number, _, kind = _text(row, f"{place}.{each}").partition(" ")
            kept.numbers[each] = _whole(number, f"{place}.{each}"), kind
        for number, row in _object(rows.get("gone", {}), place).items():
            gone, _, kind = _text(row, f"{place}.{number}").partition(" ")
            kept.gone[_whole(number, place)] = gone, kind
        numbers = [number for number, _ in kept.numbers.values()] + list(kept.gone)
        twice = next((number for number in numbers if numbers.count(number) > 1), None)
        if twice is not None:
            raise LockError(f"`{place}` has the number {twice} twice")
    return found


def _object(data: object, place: str) -> Mapping[str, object]:
    if not isinstance(data, dict):
        raise LockError(f"`{place}` is no object")
    return data


def _text(data: object, place: str) -> str:
    if not isinstance(data, str):
        raise LockError(f"`{place}` is no text")
    return data


def _whole(text: str, place: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    if not 0 < number <= MOST_NUMBER or number in RESERVED:
        raise LockError(f"`{place}` has a number that is none of a field: {text[:20]}")
    return number
