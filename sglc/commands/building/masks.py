"""Masks ahead of time: the constraints of a program's holes, expanded for one model, as a pack."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.automata.term import Language
from sglc.automata.term_digest import TooDeep
from sglc.bytecode.code import Code, Program
from sglc.bytecode.opcodes import BY_NAME, OPCODES
from sglc.commands.shared.invocation import Invocation, fail, fault
from sglc.runtime.decoding.conversations.canonical import Canonical
from sglc.runtime.decoding.requests import filled_language
from sglc.runtime.decoding.seams import Seams
from sglc.runtime.errors import SglError
from sglc.runtime.mask.artifact.build import NotShared, TableBudget, tabulate
from sglc.runtime.mask.artifact.pack import SUFFIX, MaskPack, Packed, pack
from sglc.runtime.mask.artifact.places import (
    constraint_digest,
    file_name,
    load_tables,
    masks_folder,
    save_tables,
)
from sglc.runtime.mask.artifact.tables import MaskTables, TableError, to_bytes
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.runtime.vm.state.dependent_types import BoundTypes
from sglc.types.language.language import language
from sglc.types.values import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sglc.bytecode.code import Instruction
    from sglc.runtime.tokenizer import Tokenizer

_TEXT = BY_NAME["TEXT"].number
_LINE = BY_NAME["LINE"].number
_GEN = BY_NAME["GEN"].number
_CONSTANT = BY_NAME["CONSTANT"].number
_LOAD = BY_NAME["LOAD"].number
_STORE = BY_NAME["STORE"].number
LEAST = 1024
"""Bytes of tables that hold a state or two. Where a budget leaves less, a hole gets none."""


@dataclass(slots=True)
class Built:
    """What was expanded: tables by what they are of, their size in bytes and their states."""

    tables: dict[bytes, Packed] = field(default_factory=dict)
    """By the digest of the constraint."""
    size: int = 0
    states: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    """Holes without masks, and why: their masks are found while the program runs."""
    cut: dict[str, str] = field(default_factory=dict)
    """Holes of which a budget of bytes left fewer states, and how many there are."""

    def pack(self, others: Sequence[Packed] = ()) -> bytes:
        """All of them as a pack, and those of other vocabularies."""
        mine = {table.vocabulary for table in self.tables.values()}
        return pack([*self.tables.values(), *(other for other in others if other.vocabulary not in mine)])

    def figures(self) -> dict[str, object]:
        """What is told as JSON."""
        return {
            "constraints": len(self.tables),
            "bytes": self.size,
            "states": self.states,
            "left_out": self.left_out,
            "cut": self.cut,
        }

    def lines(self, place: Path, model: str) -> Iterator[str]:
        """What is told to people of masks that were written to a file."""
        constraints = f"constraints: {len(self.tables)} for {model}"
        yield f"{place}: {self.size:,} bytes of masks, {self.states:,} states, {constraints}"
        for hole, kept in self.cut.items():
            yield f"  fewer masks ahead of time for {hole}, as the budget says: {kept}"
        for hole, why in self.left_out.items():
            yield f"  no masks ahead of time for {hole}: {why}"


@dataclass(frozen=True, slots=True)
class _HoleLanguages:
    """What a run may ask of a hole: the language of a value, a stop and anything; that of the value alone.

    Where there is no stop, there is just that of the value.
    """

    name: str
    language: Language
    alone: Language | None


def build_masks(
    invocation: Invocation, program: Program, tokenizer: Tokenizer, most: int | None = None
) -> Built:
    """Expand the constraints of a program's holes for a model's tokenizer, within `most` bytes.

    What the cache has already is not made again. Constraints that cannot be expanded are left to the run; the
    result says why.
    """
    vocabulary = tokenizer.vocabulary()
    built = Built(left_out=dict(_left_to_the_run(program)))
    wanted = list(_hole_languages(program, tokenizer, vocabulary, built))
    for number, hole in enumerate(wanted):
        invocation.stage = f"expanding constraint {number + 1} (hole {hole.name})"
        share = None if most is None else (most - built.size) // (len(wanted) - number)
        try:
            _add(built, hole, vocabulary, share)
        except (ConstraintError, TooDeep) as problem:
            built.left_out[hole.name] = str(problem)
    return built


def packed_before(path: Path) -> list[Packed]:
    """What the pack at the end of a file holds; nothing where there is none, or it is damaged."""
    with contextlib.suppress(OSError, TableError, ValueError):
        return MaskPack.open(path).contents()
    return []


def pack_beside(artefact: Path) -> Path:
    """The file with the masks of a compiled program."""
    return artefact.with_suffix(SUFFIX)


def _add(built: Built, hole: _HoleLanguages, vocabulary: Vocabulary, most: int | None) -> None:
    """Expand what a hole is filled with, in at most so many bytes."""
    digest = constraint_digest(hole.language)
    if digest in built.tables:
        return
    key = bytes.fromhex(vocabulary.digest)
    own = None if hole.alone is None else constraint_digest(hole.alone)
    try:
        tables, cut = _tables(hole, vocabulary, most)
    except NotShared:
        assert hole.alone is not None
        for each in (hole.language, hole.alone):
            half = None if most is None else most // 2
            _add(built, _HoleLanguages(hole.name, each, None), vocabulary, half)
        return
    if tables is None:
        built.left_out[hole.name] = "the budget of bytes has no room for it"
        return
    data = to_bytes(tables, digest, key, *([] if own is None else [own]))
    for found in (digest, own):
        if found is not None:
            built.tables[found] = Packed(found, key, data)
    built.size += len(data)
    built.states += tables.n
    if cut:
        built.cut[hole.name] = f"{tables.n:,} states in {len(data):,} bytes"


def _tables(hole: _HoleLanguages, vocabulary: Vocabulary, most: int | None) -> tuple[MaskTables | None, bool]:
    """The tables of a hole, and whether the budget cut them; None where there is no room for any."""
    tables = _cached(hole, vocabulary)
    if tables is None:
        tables = tabulate(hole.language, vocabulary, alone=hole.alone)
        save_tables(masks_folder(), hole.language, vocabulary, tables, alone=hole.alone)
    if most is None or tables.file_size <= most:
        return tables, False
    # The explorer counts a little less than the tables take.
    room = most
    while room >= LEAST:
        budget = replace(TableBudget(), bytes=room)
        tables = tabulate(hole.language, vocabulary, budget=budget, alone=hole.alone)
        if tables.file_size <= most:
            return tables, True
        room = room * 3 // 4
    return None, True


def _cached(hole: _HoleLanguages, vocabulary: Vocabulary) -> MaskTables | None:
    """The tables of a hole if the cache has them whole, those of the value alone with them."""
    path = masks_folder() / file_name(constraint_digest(hole.language), vocabulary)
    with contextlib.suppress(OSError, TableError):
        tables = load_tables(path, hole.language, vocabulary).tables
        tables.verify_all()
        if not tables.alone and tables.has_alone == (hole.alone is not None):
            return tables
    return None


def _hole_languages(
    program: Program, tokenizer: Tokenizer, vocabulary: Vocabulary, built: Built
) -> Iterator[_HoleLanguages]:
    """All that a run may ask for, as far as it does not depend on values of the run that nobody knows."""
    for index, hole in enumerate(program.holes):
        if hole.type is None or why_left_to_the_run(program, index):
            continue
        try:
            value = value_language(program, index, hole.type)
        except SglError as problem:
            built.left_out[hole.name] = str(problem)
            continue
        for prefix in (b"", *sorted(_prefixes(program, index, value, tokenizer, vocabulary))):
            alone = filled_language(value, None, prefix)
            if hole.stops:
                yield _HoleLanguages(hole.name, filled_language(value, hole.stops, prefix), alone)
            else:
                yield _HoleLanguages(hole.name, alone, None)


def value_language(program: Program, index: int, type_index: int) -> Language:
    """The language of a hole's values, as a run makes it. Raises SglError where there is none."""
    hole, kind = program.holes[index], program.types[type_index]
    given = given_values(program, index)
    if given or hole.condition is not None:
        return BoundTypes().get(index, hole, kind, given or [], program.table).language
    return language(kind, program.table, surface="hole")


def _left_to_the_run(program: Program) -> Iterator[tuple[str, str]]:
    """(hole, why): holes whose constraints are not known before the run."""
    for index, hole in enumerate(program.holes):
        if why := why_left_to_the_run(program, index):
            yield hole.name, why


def why_left_to_the_run(program: Program, index: int) -> str:
    """Why no masks of a hole can be made ahead of a run, as the end of a sentence; empty where they can."""
    if program.holes[index].mode == "select":
        return "it scores its options and needs no masks"
    if given_values(program, index) is None:
        return "its type or `where` reads values of the run"
    return ""


def given_values(program: Program, index: int) -> list[Value] | None:
    """The values that a hole's type and condition depend on, as far as the program itself says them.

    Those are constants, and defaults of parameters that nothing else is stored to: a run with other arguments
    does without. None where one is not known, or the hole stands at several places.
    """
    options = program.holes[index].options
    count = sum(option.startswith("given") for option in options)
    values: list[Value] = []
    for code in program.codes:
        for at, (op, a, _) in enumerate(code.instructions):
            if not count or op != _GEN or a != index:
                continue
            pushed = code.instructions[at - len(options) : at]
            if values or any(op not in (_CONSTANT, _LOAD) for op, _, _ in pushed):
                return None
            for instruction in pushed[:count]:
                value = _said(program, code, instruction)
                if value is None:
                    return None
                values += value
    return values if len(values) == count else None


def _said(program: Program, code: Code, instruction: Instruction) -> tuple[Value] | None:
    """The value that an instruction pushes, if the program says it."""
    op, a, _ = instruction
    if op == _CONSTANT:
        return (program.constants[a],)
    stored = any(op == _STORE and slot == a for op, slot, _ in code.instructions)
    if op != _LOAD or stored or a >= len(code.parameters) or not code.parameters[a].has_default:
        return None
    return (code.parameters[a].default,)


def _prefixes(
    program: Program, index: int, value: Language, tokenizer: Tokenizer, vocabulary: Vocabulary
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


def read_tokenizer(invocation: Invocation, model: str) -> Tokenizer:
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
