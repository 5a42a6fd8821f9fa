"""Notes with what text the values of each hole begin and end.

    hole h0 = HoleInfo("f.it", type=Named("Crew"))
                  ↓
    hole h0 = HoleInfo("f.it", type=Named("Crew"), begins="{\\"name\\": \\"", ends="\\"}")

The beginning is part of the constant prefix of what stands before the hole (`sglc.analysis.prefix`), so it is
tokenised and pinned with it. The hole keeps its type, and its decoder does what it did before.

Both texts are certain whatever happens in a run. Stops, validators, rejected values and conditions on values
of the run only leave fewer values. Of a condition on constants the mask's own language is asked. Where a part
of the type depends on values of the run, any text may stand there. Nothing is noted of options that are
values of the run, and of `select`, which compares whole texts.
"""

from __future__ import annotations

from dataclasses import replace

from sglc.automata.analysis.certain_text import certain_beginning, certain_end
from sglc.automata.dfa.operations import TooLarge
from sglc.automata.term import Language
from sglc.automata.work import OutOfWork
from sglc.ir.module import HoleInfo, Module
from sglc.types.condition import Condition, given_numbers
from sglc.types.dependent import replaced
from sglc.types.language.language import language
from sglc.types.language.narrowing import narrowed_language
from sglc.types.type import LanguageError, Str, Type, TypeTable

Texts = tuple[str, str]


def run(module: Module) -> Module:
    """The module with what is certain of its holes' values."""
    known: dict[tuple[Type, Condition | None], Texts] = {}
    holes = []
    for hole in module.holes:
        begins, ends = _certain(hole, module.table, known)
        same = (begins, ends) == (hole.begins, hole.ends)
        holes.append(hole if same else replace(hole, begins=begins, ends=ends))
    if all(new is old for new, old in zip(holes, module.holes, strict=True)):
        return module
    return replace(module, holes=tuple(holes))


def _certain(hole: HoleInfo, table: TypeTable, known: dict[tuple[Type, Condition | None], Texts]) -> Texts:
    if hole.type is None or hole.mode == "select":
        return "", ""
    type = replaced(hole.type, lambda _: Str())
    condition = hole.condition
    if condition is not None and given_numbers(condition):
        condition = None
    key = (type, condition)
    try:
        if key not in known:
            known[key] = _texts(type, condition, table)
        return known[key]
    except TypeError:  # a default that cannot be hashed
        return _texts(type, condition, table)


def _texts(type: Type, condition: Condition | None, table: TypeTable) -> Texts:
    try:
        found = _language(type, condition, table)
    except (LanguageError, ValueError, OutOfWork, TooLarge):
        return "", ""  # the run says what is wrong with it
    begins = certain_beginning(found)
    return begins, certain_end(found, begins)


def _language(type: Type, condition: Condition | None, table: TypeTable) -> Language:
    if condition is None:
        return language(type, table, surface="hole")
    return narrowed_language(type, table, condition)
