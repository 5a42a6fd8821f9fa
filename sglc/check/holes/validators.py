"""Validators in `where`: pure functions that say of the text so far that it is `alive`, `dead` or `final`."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import PROGRESS, DefaultArgument, ExpressionType, Validator
from sglc.check.core.walk import mentions
from sglc.check.expressions.inference import Inference
from sglc.check.types.kinds import STR, Table, expand
from sglc.syntax.tree import ast
from sglc.types.type import Alternatives, Constant


def is_progress(type: ExpressionType, table: Table) -> bool:
    """Whether all values are words of `PROGRESS`."""
    plain = expand(type, table)
    arms = plain.arms if isinstance(plain, Alternatives) else (plain,)
    return all(isinstance(arm, Constant) and arm.value in PROGRESS for arm in arms)


def is_validator(module: ModuleContext, node: ast.Expression) -> bool:
    """Whether a part of a condition asks a validator."""
    if not isinstance(node, ast.Call) or not isinstance(node.function, ast.Reference):
        return False
    entity = module.look_up(node.function.name)
    if entity is None or entity.kind != "function":
        return False
    signature = module.program.signatures.get(entity.name)
    return (
        signature is not None
        and signature.kind == "pure"
        and bool(signature.parameters)
        and is_progress(signature.result, module.table)
    )


def checked_validator(
    module: ModuleContext, inference: Inference, node: ast.Call, names: tuple[str, ...]
) -> Validator | None:
    """Check the call of a validator; the value's names stand for the text so far."""
    from sglc.check.holes.mask_predicates import asks

    before = len(module.diagnostics)
    inference.infer(node)
    arguments = module.arguments.get(id(node))
    if arguments is None or len(module.diagnostics) > before:
        return None
    assert isinstance(node.function, ast.Reference)
    entity = module.look_up(node.function.name)
    assert entity is not None
    signature = module.program.signatures[entity.name]
    first, *others = arguments
    what = ""
    if not (isinstance(first, ast.Reference) and first.name in names):
        what = "its first argument is the value itself: `it`"
    elif expand(signature.parameters[0][1], module.table) != STR:
        what = "its first parameter is a `str`: the text so far may be any"
    elif any(mentions(other, names) for other in others if not isinstance(other, DefaultArgument)):
        what = "the other arguments are computed before the hole and cannot speak of the value"
    elif any(asks(module, other) for other in others if not isinstance(other, DefaultArgument)):
        what = "the other arguments cannot ask a model"
    if what:
        module.report(
            "E0355",
            f"`{node.function.name}` cannot judge the text of this hole",
            node.span,
            label="a validator that is asked of every beginning of the text",
            reason=what,
        )
        return None
    return Validator(signature.name, tuple(others))
