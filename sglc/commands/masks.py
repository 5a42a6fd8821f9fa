"""Masks ahead of time: the constraints of a program's holes, expanded for one model, in a folder of files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sglc.automata.term import Language
from sglc.automata.term_digest import TooDeep
from sglc.bytecode.code import HoleSpec, Program
from sglc.bytecode.opcodes import BY_NAME, OPCODES
from sglc.cache_files import keep
from sglc.commands.shared.files import write_whole
from sglc.commands.shared.invocation import Invocation, fail, fault
from sglc.runtime.decoding.canonical import Canonical
from sglc.runtime.decoding.requests import filled_language
from sglc.runtime.decoding.seams import Seams
from sglc.runtime.mask.artifact.build import freeze
from sglc.runtime.mask.artifact.constraint import (
    FOLDER,
    SUFFIX,
    constraint_digest,
    file_name,
    frozen_bytes,
    load_frozen,
    masks_folder,
)
from sglc.runtime.mask.artifact.tables import FrozenError
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sglc.bytecode.code import Instruction

_TEXT = BY_NAME["TEXT"].number
_LINE = BY_NAME["LINE"].number
_GEN = BY_NAME["GEN"].number


@dataclass(frozen=True, slots=True)
class Written:
    """What a build wrote: a folder, the number of its files and their bytes, and the states in them."""

    folder: Path
    constraints: int
    bytes: int
    states: int
    left_out: dict[str, str]
    """Holes without masks, and why: their masks are found while the program runs."""


def build_masks(invocation: Invocation, program: Program, artefact: Path, model: str) -> Written:
    """Expand the constraints of a program's holes, and write them beside its file and into the cache.

    What the cache has already is not made again. Constraints that cannot be expanded are left to the run; the
    result says why. A model that cannot be had, or a folder that cannot be written, ends the command.
    """
    tokenizer = read_tokenizer(invocation, model)
    vocabulary = tokenizer.vocabulary()
    folder = artefact.with_suffix(FOLDER)
    written: dict[str, int] = {}
    states = 0
    left_out = dict(_left_to_the_run(program))
    for number, (name, constraint) in enumerate(_constraints(program, tokenizer, vocabulary), 1):
        invocation.stage = f"expanding constraint {number} (hole {name})"
        try:
            file = file_name(constraint_digest(constraint), vocabulary)
            if file in written:
                continue
            data, size = _contents(constraint, vocabulary)
        except (ConstraintError, TooDeep) as problem:
            left_out[name] = str(problem)
            continue
        _write(invocation, folder / file, data)
        written[file] = len(data)
        states += size
    _remove_others(folder, vocabulary, set(written))
    return Written(folder, len(written), sum(written.values()), states, left_out)


def _contents(constraint: Language, vocabulary: Vocabulary) -> tuple[bytes, int]:
    """The file of a constraint, and how many states it has."""
    cached = masks_folder() / file_name(constraint_digest(constraint), vocabulary)
    with contextlib.suppress(OSError, FrozenError):
        tables = load_frozen(cached, constraint, vocabulary).tables
        tables.verify_all()
        return cached.read_bytes(), tables.n
    tables = freeze(constraint, vocabulary)
    data = frozen_bytes(constraint, vocabulary, tables)
    keep(cached, data)
    return data, tables.n


def _constraints(program: Program, tokenizer: Any, vocabulary: Vocabulary) -> Iterator[tuple[str, Language]]:
    """(hole, constraint): all that a run may ask for, as far as it does not depend on values of the run."""
    for index, hole in enumerate(program.holes):
        if hole.type is None or _why_left_to_the_run(hole):
            continue
        type_ = program.types[hole.type]
        if hole.condition is None:
            value = language(type_, program.table, surface="hole")
        else:
            value = narrowed_language(type_, program.table, hole.condition)
        for prefix in (b"", *sorted(_prefixes(program, index, value, tokenizer, vocabulary))):
            for stops in _stops(hole):
                yield hole.name, filled_language(value, stops, prefix)


def _left_to_the_run(program: Program) -> Iterator[tuple[str, str]]:
    """(hole, why): holes whose constraints are not known before the run."""
    for hole in program.holes:
        if why := _why_left_to_the_run(hole):
            yield hole.name, why


def _why_left_to_the_run(hole: HoleSpec) -> str:
    if hole.mode == "select":
        return "it scores its options and needs no masks"
    if any(option.startswith("given") for option in hole.options):
        return "its type or `where` reads values of the run"
    return ""


def _stops(hole: HoleSpec) -> tuple[tuple[str, ...] | None, ...]:
    return (None, hole.stops) if hole.stops else (None,)


def _prefixes(
    program: Program, index: int, value: Language, tokenizer: Any, vocabulary: Vocabulary
) -> set[bytes]:
    """What the hole may begin with, once the last tokens of the literal text before it are taken back."""
    found: set[bytes] = set()
    stops = program.holes[index].stops or None
    seams = Seams(Canonical(tokenizer.encode, tokenizer.token_bytes), vocabulary)

    def behind(prefix: bytes) -> Matcher:
        return compile_constraint(language=filled_language(value, stops, prefix)).matcher(vocabulary)

    for text in _texts_before(program, index):
        # What the tokenizer cannot write is a fault of the run, not of its masks.
        with contextlib.suppress(ValueError):
            tokens = tokenizer.encode(text)
            if not tokens:
                continue
            count = seams.taken_back(tokens, 0, behind(b""), behind)
            found.add(tokenizer.bytes_of(tokens[len(tokens) - count :]))
    return found - {b""}


def _texts_before(program: Program, index: int) -> set[str]:
    """The literal text in front of each place of a hole."""
    return {
        _text_before(program, code.instructions[:place])
        for code in program.codes
        for place, (op, a, _) in enumerate(code.instructions)
        if op == _GEN and a == index
    }


def _text_before(program: Program, instructions: Sequence[Instruction]) -> str:
    """The literal text that stands in front of a hole, lines before its own included; options of the hole may
    lie between."""
    text = ""
    for place, (op, a, _) in reversed(list(enumerate(instructions))):
        if op == _TEXT:
            constant = program.constants[a]
            text = (constant if isinstance(constant, str) else "") + text
        elif op == _LINE:
            before = OPCODES[instructions[place - 1][0]].name if place else ""
            text = text if before in ("ROLE", "GLUE", "") else "\n" + text
        elif OPCODES[op].name not in ("CONSTANT", "LOAD", "SNAPSHOT", "GLUE"):
            break
    return text


def read_tokenizer(invocation: Invocation, model: str) -> Any:
    """The tokenizer of a model; one that cannot be had ends the command."""
    from sglc.runtime.model.load import load_tokenizer
    from sglc.runtime.model.weights.errors import ModelError

    invocation.stage = f"reading the tokenizer of {model}"
    try:
        return load_tokenizer(model)
    except ModelError as problem:
        raise fail(
            invocation,
            fault("E0807", f"{problem.what}: {problem.where}", reason=problem.why, hint=problem.hint),
        ) from None


def _write(invocation: Invocation, path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise fail(invocation, fault("E0805", f"{path.parent} cannot be made", reason=reason)) from None
    write_whole(invocation, path, data)


def _remove_others(folder: Path, vocabulary: Vocabulary, kept: set[str]) -> None:
    """Remove what an earlier build of the program for this vocabulary left."""
    for path in folder.glob(f"*-{vocabulary.digest[:16]}-*{SUFFIX}"):
        if path.name not in kept:
            with contextlib.suppress(OSError):
                path.unlink()


__all__ = ["Written", "build_masks"]
