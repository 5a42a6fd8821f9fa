"""The stage `constraint` of a program: the language of each hole, and the nodes that masks are made from."""

from __future__ import annotations

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.notation.term_tree import show_language
from sglc.automata.term import Language
from sglc.automata.work import OutOfWork
from sglc.bytecode.code import Program
from sglc.commands.shared.holes import Hole, holes_of
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.node_notation import show_nodes
from sglc.types.type import LanguageError
from sglc.types.values import GivenError


def show_constraints(program: Program) -> str:
    """All holes, each with its place, type, language as terms, and the nodes of its constraint."""
    holes = holes_of(program)
    if not holes:
        return "no holes\n"
    found = [(hole, *_language(hole, program)) for hole in holes]
    nodes = _nodes([(hole.spec.name, known) for hole, known, _ in found if known is not None])
    return "\n\n".join(_show(hole, known, why, nodes) for hole, known, why in found) + "\n"


def _language(hole: Hole, program: Program) -> tuple[Language | None, str]:
    """The language of a hole, or why there is none before the run."""
    try:
        return hole.language(program), "known when the hole is reached"
    except (LanguageError, GivenError, TooLarge, OutOfWork) as fault:
        return None, f"none: {fault}"


def _nodes(languages: list[tuple[str, Language]]) -> dict[str, str]:
    try:
        return dict(zip([name for name, _ in languages], show_nodes(languages), strict=True))
    except ConstraintError as fault:
        return dict.fromkeys([name for name, _ in languages], f"none: {fault}")


def _show(hole: Hole, known: Language | None, why: str, nodes: dict[str, str]) -> str:
    lines = [f"hole {hole.spec.name}  {hole.where}"]
    lines += [f"  {label:<10}{text}" for label, text in hole.facts()]
    of = ", without the values of the run" if known is not None and hole.depends_on else ""
    lines.append(f"  language{of}" + ("" if known is not None else f"  {why}"))
    if known is not None:
        lines += [f"    {line}" for line in show_language(known).split("\n")]
        count, *others = nodes[hole.spec.name].split("\n")
        lines.append(f"  nodes     {count}")
        lines += [f"    {line}" for line in others]
    return "\n".join(lines)
