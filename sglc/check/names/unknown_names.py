"""Names that there are not: what was probably meant."""

from __future__ import annotations

from itertools import chain

from sglc.check.core.result import PROGRESS, ConstantSymbol, ExpressionType
from sglc.check.names.foreign_names import name_advice
from sglc.check.names.scopes import Scopes
from sglc.check.names.template_text import inserts
from sglc.check.types.kinds import UNKNOWN
from sglc.diagnostics.diagnostic import Label
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Constant


def unbound(scopes: Scopes, node: ast.Reference, name: str) -> ExpressionType:
    """Report a name that nothing in sight has. The words of validators mean themselves."""
    if name in PROGRESS:
        scopes.module.symbols[id(node)] = ConstantSymbol(name)
        return Constant(name)
    closed = scopes.function.closed.get(name)
    secondary: tuple[Label, ...] = ()
    written = scopes.templates.hole(node.span, name)
    if closed is not None:
        hint = "bind it before that block with `var`, and assign it inside"
        secondary = (Label(closed, "bound here, in a block that has ended"),)
    elif written is not None:
        hint = f"a hole is written `?{{{name}: T}}`, with the type of what the model may write"
        secondary = (Label(written, "this is text"),)
    else:
        pool = chain(scopes.function.scope.visible(), scopes.module.names, scopes.module.members)
        close = scopes.module.nearest(name, pool)
        hint = name_advice(name) or (f"did you mean `{close}`?" if close else "")
        if not hint and name == "it":
            hint = "`it` is the result inside `fuzz`, and an item in `xs.map(it * 2)`"
        if scopes.function.scope.find("it") is not None and name in ("self", "this"):
            hint = "the value here is `it`; a condition on two fields is one on the whole record: "
            hint += "`type T = R where it.a < it.b`"
        elif scopes.function.scope.find("it") is not None and not hint:
            hint = "the value here is `it`"
    scopes.module.report(
        "E0201",
        f"there is no `{name}` here",
        node.span,
        label="unknown name",
        hint=hint,
        secondary=secondary,
    )
    return UNKNOWN


def is_unknown(scopes: Scopes, name: str) -> bool:
    """Whether nothing in sight has this name."""
    known = scopes.module.names, scopes.module.members, scopes.module.variants
    return scopes.function.scope.find(name) is None and not any(name in names for names in known)


def is_hole_of(scopes: Scopes, value: ast.Reference, label: str) -> bool:
    """Whether a name is the function that is being read, and the label one of its holes so far."""
    entity = scopes.module.names.get(value.name)
    signature = scopes.function.signature
    local = scopes.function.scope.find(label)
    return (
        entity is not None
        and signature is not None
        and entity.name == signature.name
        and local is not None
        and local.kind == "hole"
        and scopes.function.scope.find(value.name) is None
    )


def look_at_text(scopes: Scopes, span: Span, *, in_string: bool) -> None:
    """Note where text names a variable in braces: what it is of is known when the function is read."""
    if "{" not in span.text and "$" not in span.text:
        return
    for place, name in inserts(span):
        local = scopes.function.scope.find(name)
        if local is not None:
            scopes.function.templates.append((place, local, in_string))
