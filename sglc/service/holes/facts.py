"""What is known of a hole before it is filled.

Bounds are those of `sglc plan`: in tokens where there is a tokenizer, else in bytes. Sample values are drawn
as `fuzz` draws them. What takes longer than an editor waits is left out: languages that cannot be built, and
values that depend on a run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Literal

from sglc.automata.analysis.emptiness import few_words
from sglc.check.core.result import HoleFacts
from sglc.service.core.snapshot import Snapshot
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import walk
from sglc.types.language.language import language
from sglc.types.notation.prompt_text import schema_text
from sglc.types.notation.sgl import show_type
from sglc.types.type import Bool, DeclaredType, EnumType, Int, LanguageError, Named, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sglc.runtime.tokenizer import Tokenizer

HoleNode = ast.Gen | ast.Choose | ast.Select
FEW = 256
SAMPLES = 3
LONGEST = 200
"""Characters of a value that are shown."""


@dataclass(frozen=True, slots=True)
class Before:
    """The text of the message before a hole; `known` where that is all of it."""

    role: str = ""
    text: str = ""
    known: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A hole and what its program knows of it: all that the questions here need."""

    name: str
    mode: Literal["gen", "choose", "select"]
    facts: HoleFacts
    table: Mapping[str, DeclaredType]
    before: Before
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least and most tokens, or bytes; `most` is None for no bound. `forced` is the share of the shortest
    value's tokens that could be no others, `value` that value. `because` says what is not known, and why."""

    unit: str
    least: int
    most: int | None
    forced: float | None = None
    value: str = ""
    because: str = ""


def asked(snapshot: Snapshot, node: HoleNode) -> Asked | None:
    """A hole of the file; None where nothing was found about it."""
    facts = snapshot.tables.hole(node)
    if facts is None:
        return None
    mode: Literal["gen", "choose", "select"]
    mode = "gen" if isinstance(node, ast.Gen) else "choose" if isinstance(node, ast.Choose) else "select"
    options = {
        option.kind: snapshot.tables.constants[id(option.value)]
        for option in node.options
        if id(option.value) in snapshot.tables.constants
    }
    return Asked(facts.name, mode, facts, snapshot.checked.table, before(snapshot, node), options)


def before(snapshot: Snapshot, node: HoleNode) -> Before:
    """What stands before a hole in its message, as far as that is the same in each run."""
    for role in walk(snapshot.tree.declarations):
        if isinstance(role, ast.Role) and role.span.start <= node.span.start < role.span.end:
            return _before(role, node)
    return Before()


def _before(role: ast.Role, node: HoleNode) -> Before:
    text, known = "", True
    for statement in role.body:
        if not isinstance(statement, ast.PipeLine):
            inside = statement.span.start <= node.span.start < statement.span.end
            if inside:
                return Before(role.role, "", False)
            text, known = "", False
            continue
        for part in statement.parts:
            if isinstance(part, ast.Hole) and part.content is node:
                return Before(role.role, text, known)
            if isinstance(part, ast.Text):
                text += part.text
            else:
                text, known = "", False
        text += "" if statement.glued else "\n"
    return Before(role.role, "", False)


# -- questions -------------------------------------------------------------------------------------------


def schema_of(hole: Asked) -> str:
    """The text that `schema(T)` would show of its type; empty where it has none."""
    if hole.facts.type is None:
        return ""
    try:
        return schema_text(hole.facts.type, hole.table)
    except (LanguageError, KeyError, RecursionError):
        return ""


def count_of(hole: Asked) -> int | None:
    """How many values it has, where they are few or its type says so."""
    known = None if hole.facts.type is None else _count(hole.facts.type, hole.table)
    if known is not None or hole.facts.type is None or _depends(hole):
        return known
    try:
        words = few_words(language(hole.facts.type, hole.table, surface="hole"), FEW)
    except (LanguageError, RecursionError):
        return None
    return None if words is None else len(words)


def _count(type: Type, table: Mapping[str, DeclaredType]) -> int | None:
    match type:
        case Bool():
            return 2
        case Int(low, high) if low is not None and high is not None and type.multiple_of is None:
            return max(0, high - low + 1)
        case Named(name) if isinstance(declared := table.get(name), EnumType):
            return len(declared.members)
    return None


def _depends(hole: Asked) -> bool:
    """Whether its texts are known only in a run."""
    return bool(hole.facts.given)


def bounds_of(hole: Asked, tokenizer: Tokenizer | None = None) -> Bounds | None:
    """Its bounds; None where nothing is known."""
    from sglc.ir.module import HoleInfo
    from sglc.plan.hole_bounds import HoleBounds, Place

    facts = hole.facts
    names = tuple(f"given{number}" for number in range(len(facts.given)))
    info = HoleInfo(
        facts.name,
        hole.mode,
        facts.type,
        names,
        facts.stops,
        facts.end_of_message,
        condition=facts.condition,
        validators=tuple(each.function for each in facts.validators),
        decoding=facts.decoding,
    )
    place = Place(hole.before.role, hole.before.text, hole.before.known)
    try:
        plan = HoleBounds((info,), hole.table, tokenizer).of(0, place, hole.options, 1)
    except (LanguageError, RecursionError):
        return None
    share = None
    if plan.drawn is not None and plan.forced is not None and plan.drawn + plan.forced > 0:
        share = plan.forced / (plan.drawn + plan.forced)
    unit = "bytes" if tokenizer is None else "tokens"
    return Bounds(unit, plan.least, plan.most, share, plan.value[:LONGEST], plan.because)


def samples_of(hole: Asked) -> list[str]:
    """Some values, as `fuzz` draws them; none where a run decides which there are."""
    facts = hole.facts
    if facts.type is None or _depends(hole) or facts.validators or hole.mode == "select":
        return []
    from sglc.runtime.decoding.requests import Constraints, HoleRequest
    from sglc.runtime.errors import SglError
    from sglc.runtime.mask.core.errors import ConstraintError
    from sglc.runtime.mask.vocabulary.vocabulary import BYTES
    from sglc.runtime.vm.holes.fuzz import random_word
    from sglc.runtime.vm.state.lengths import Lengths
    from sglc.types.language.narrowing import narrowed_language

    try:
        if facts.condition is None:
            described = language(facts.type, hole.table, surface="hole")
        else:
            described = narrowed_language(facts.type, hole.table, facts.condition)
        request = HoleRequest(facts.name, facts.name, described)
        matcher = Constraints().value(request).matcher(BYTES)
        if matcher.is_dead():
            return []
        random, lengths = Random(0), Lengths.of(described)
        words = (random_word(matcher.clone(), random, lengths) for _ in range(4 * SAMPLES))
        texts = dict.fromkeys(word.decode("utf-8", "replace") for word in words)
    except (LanguageError, ConstraintError, SglError, RecursionError):
        return []
    return [text[:LONGEST] for text in list(texts)[:SAMPLES]]


def shown_type(hole: Asked) -> str:
    """Its type in the language's words."""
    return "one of a list" if hole.facts.type is None else show_type(hole.facts.type)
