"""Validators in `where`: pure functions that say of the text so far that it is `alive`, `dead` or `final`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sglc.check.core.result import PROGRESS, DefaultArgument, ExpressionType, Validator
from sglc.check.holes.mask_predicates import asks, mentions
from sglc.check.types.assignability import STR, Table, expand
from sglc.syntax import ast
from sglc.types.type import Alternatives, Constant

if TYPE_CHECKING:
    from sglc.check.holes.where_clauses import Predicates


def is_progress(type: ExpressionType, table: Table) -> bool:
    """Whether all values are words of `PROGRESS`."""
    plain = expand(type, table)
    arms = plain.arms if isinstance(plain, Alternatives) else (plain,)
    return all(isinstance(arm, Constant) and arm.value in PROGRESS for arm in arms)


def is_validator(checker: Predicates, node: ast.Expression) -> bool:
    """Whether a part of a condition asks a validator."""
    if not isinstance(node, ast.Call) or not isinstance(node.function, ast.Reference):
        return False
    entity = checker.look_up(node.function.name)
    if entity is None or entity.kind != "function":
        return False
    signature = checker.program.signatures.get(entity.name)
    return (
        signature is not None
        and signature.kind == "pure"
        and bool(signature.parameters)
        and is_progress(signature.result, checker.table)
    )


def checked_validator(checker: Predicates, node: ast.Call, names: tuple[str, ...]) -> Validator | None:
    """Check the call of a validator; the value's names stand for the text so far."""
    before = len(checker.program.diagnostics)
    checker.infer(node)
    arguments = checker.module.arguments.get(id(node))
    if arguments is None or len(checker.program.diagnostics) > before:
        return None
    assert isinstance(node.function, ast.Reference)
    entity = checker.look_up(node.function.name)
    assert entity is not None
    signature = checker.program.signatures[entity.name]
    first, *others = arguments
    what = ""
    if not (isinstance(first, ast.Reference) and first.name in names):
        what = "its first argument is the value itself: `it`"
    elif expand(signature.parameters[0][1], checker.table) != STR:
        what = "its first parameter is a `str`: the text so far may be any"
    elif any(mentions(other, names) for other in others if not isinstance(other, DefaultArgument)):
        what = "the other arguments are computed before the hole and cannot speak of the value"
    elif any(asks(checker, other) for other in others if not isinstance(other, DefaultArgument)):
        what = "the other arguments cannot ask a model"
    if what:
        checker.program.report(
            "E0355", f"`{node.function.name}` cannot judge the text of this hole", node.span,
            label="a validator that is asked of every beginning of the text", reason=what,
        )  # fmt: skip
        return None
    return Validator(signature.name, tuple(others))
