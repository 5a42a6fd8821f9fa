"""What `golden f(x)` keeps of a call, in a file beside the program, and how a later call differs from it.

The file holds, by test and in order, what each hole was asked (the text before it, line by line; a digest of
its legal texts), what it was filled with, and the value of the call. Token ids are not in it: they belong to
a model, and a test runs without one.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sglc.bytecode.code import Program
from sglc.cache_files import write_atomically
from sglc.runtime.vm.state.run import GoldenCall
from sglc.values.text import display

VERSION = 1
LARGEST = 4 * 1024 * 1024
"""Most bytes of a golden file that are read or written: what people read, and what repositories keep. Ten
thousand holes of usual prompts fit into it."""
SHOWN_LINES = 40
"""Most lines of a difference that a message shows: a screen of it."""

Kept = Mapping[str, Any]
"""What is kept of one call."""


class GoldenFault(Exception):
    """A golden file that cannot be used; the message says why."""


def golden_path(program: Path) -> Path:
    """Where the golden calls of the tests of a program are kept: `crew.golden.json` beside `crew.sgl`."""
    return program.with_name(f"{program.stem}.golden.json")


def kept_of(call: GoldenCall, program: Program) -> Kept:
    """What is kept of a call. Of text that a hole has in common with the one before only what is new."""
    holes = []
    before = ""
    for number, asked in enumerate(call.asked):
        goes_on = bool(before) and asked.before.startswith(before)
        new = asked.before[len(before) :] if goes_on else asked.before
        before = asked.before
        text = call.texts[number] if number < len(call.texts) else None
        branch = {"branch": asked.branch} if asked.branch else {}
        holes.append(
            {
                "hole": asked.name,
                **branch,
                "goes_on" if goes_on else "asked": new.split("\n"),
                "legal": asked.legal,
                **({"stops": list(asked.stops)} if asked.stops else {}),
                "filled": text,
            }
        )
    return {"holes": holes, "value": display(call.value, program.table)}


@dataclass(slots=True)
class Goldens:
    """The golden file of one program. `update` says that what is seen is kept in place of what was."""

    path: Path
    update: bool = False
    known: dict[str, list[Kept]] = field(default_factory=dict)
    seen: dict[str, list[Kept]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, *, update: bool = False) -> Goldens:
        """The file as it is; an empty one where there is none. Raises GoldenFault."""
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
        except FileNotFoundError:
            return cls(path, update)
        except OSError as problem:
            raise GoldenFault(f"{path} cannot be read: {problem.strerror or problem}") from None
        if len(data) > LARGEST:
            raise GoldenFault(f"{path} is larger than {LARGEST // 1024 // 1024} MiB")
        try:
            return cls(path, update, _known(json.loads(data)))
        except (ValueError, RecursionError) as problem:
            raise GoldenFault(f"{path} is no golden file: {problem}") from None

    def difference(self, test: str, number: int, call: Kept) -> str | None:
        """How call `number` of a test differs from what is kept of it; None where it does not, or where what
        is kept is to be replaced. Empty where nothing is kept."""
        self.seen.setdefault(test, []).append(call)
        if self.update:
            return None
        known = self.known.get(test, [])
        if number >= len(known):
            return ""
        return None if known[number] == call else diff(_lines(known[number]), _lines(call))

    def save(self) -> bool:
        """Write what was seen in place of what was kept, test by test. Whether the file has changed. Raises
        GoldenFault, also where it would be too large."""
        if not self.update or all(self.known.get(test) == calls for test, calls in self.seen.items()):
            return False
        tests = {**self.known, **self.seen}
        text = json.dumps({"v": VERSION, "tests": tests}, ensure_ascii=False, indent=1) + "\n"
        data = text.encode()
        if len(data) > LARGEST:
            raise GoldenFault(f"{self.path} would be larger than {LARGEST // 1024 // 1024} MiB")
        try:
            write_atomically(self.path, data, mode=0o644)
        except OSError as problem:
            raise GoldenFault(f"{self.path} cannot be written: {problem.strerror or problem}") from None
        return True


def _known(data: object) -> dict[str, list[Kept]]:
    if not isinstance(data, dict) or data.get("v") != VERSION or not isinstance(data.get("tests"), dict):
        raise ValueError(f'an object with `"v": {VERSION}` and `tests` was expected')
    for test, calls in data["tests"].items():
        if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
            raise ValueError(
                f"the calls of {json.dumps(test, ensure_ascii=False)[:80]} are no list of objects"
            )
    tests: dict[str, list[Kept]] = data["tests"]
    return tests


def _lines(call: Kept) -> list[str]:
    return json.dumps(call, ensure_ascii=False, indent=1).splitlines()


def diff(old: Sequence[str], new: Sequence[str]) -> str:
    """The lines that differ, `-` kept and `+` seen, with a line around each; cut where there are too many."""
    lines = list(difflib.unified_diff(old, new, "kept", "seen", n=1, lineterm=""))[2:]
    cut = [line if len(line) <= 200 else line[:199] + "…" for line in lines[:SHOWN_LINES]]
    if len(lines) > SHOWN_LINES:
        cut.append(f"… and {len(lines) - SHOWN_LINES} lines more")
    return "\n".join(cut)
