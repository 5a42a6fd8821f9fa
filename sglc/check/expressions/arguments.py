"""Arguments bound to parameters, by place and by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import DefaultArgument, ExpressionType
from sglc.check.expressions.inference import Inference
from sglc.check.types.assignability import field_type, show
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.diagnostics.suggest import nearest
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.type import RecordType

ParameterList = Sequence[tuple[str, ExpressionType, DefaultArgument | None]]


@dataclass(frozen=True, slots=True)
class Arguments:
    """A call that was understood has its bound arguments in the module's table."""

    module: ModuleContext
    inference: Inference

    def infer_all(self, node: ast.Call) -> None:
        """Check arguments of a call whose function is not known."""
        for argument in node.arguments:
            self.inference.infer(argument.value)

    def bind(
        self,
        key: object,
        arguments: Sequence[ast.Argument],
        parameters: ParameterList,
        what: str,
        span: Span,
        declared: tuple[Label, ...] = (),
    ) -> None:
        """Bind positional and named arguments to parameters, check each, and keep the bound list.

        `declared` shows where the parameters are written; without it they are listed.
        """
        signature = _signature(what, parameters)
        bound: dict[str, ast.Expression] = {}
        spans: dict[str, Span] = {}
        names = [name for name, _, _ in parameters]
        types = {name: type for name, type, _ in parameters}
        place = 0
        named = False
        surplus: list[ast.Argument] = []
        faults = len(self.module.diagnostics)
        for argument in arguments:
            if argument.name is None:
                if named:
                    self.module.report(
                        "E0328", "an argument without a name stands after a named one", argument.span,
                        label="which parameter is meant?", hint="name it too, or move it to the front",
                    )  # fmt: skip
                    self.inference.infer(argument.value)
                    continue
                if place >= len(names):
                    surplus.append(argument)
                    self.inference.infer(argument.value)
                    continue
                label = names[place]
                place += 1
            else:
                named = True
                label = argument.name.text
                if label not in types:
                    close = nearest(label, names)
                    given = {a.name.text for a in arguments if a.name is not None}
                    open_ = [name for name in names[place:] if name not in given]
                    self.module.report(
                        "E0328",
                        f"{what} takes no `{label}`",
                        argument.name.span,
                        label="unknown name",
                        reason=signature,
                        secondary=declared,
                        hint=f"did you mean `{close}`?"
                        if close
                        else "leave it out, or name another parameter",
                        edits=(Edit(argument.name.span, close),)
                        if close is not None and open_ == [close]
                        else (),
                    )
                    self.inference.infer(argument.value)
                    continue
            if label in bound:
                self.module.report(
                    "E0328",
                    f"`{label}` is given twice",
                    argument.span,
                    label="again",
                    secondary=(Label(spans[label], "first given here"),),
                )
                self.inference.infer(argument.value)
                continue
            bound[label] = argument.value
            spans[label] = argument.span
            self.inference.expect(argument.value, types[label], f"`{label}`")
        if surplus:
            many = "no arguments" if not names else f"{len(names)} argument{'s' if len(names) > 1 else ''}"
            self.module.report(
                "E0328", f"{what} takes {many}, not {len(arguments)}",
                surplus[0].span.to(surplus[-1].span), label="too many", reason=signature, secondary=declared,
                hint="leave it out" if len(surplus) == 1 else "leave them out",
            )  # fmt: skip
        missing = [name for name, _, default in parameters if name not in bound and default is None]
        if missing and len(self.module.diagnostics) > faults:
            return
        if missing:
            listing = ", ".join(f"`{name}`" for name in missing)
            self.module.report(
                "E0328", f"{what} needs {listing}", span, label=f"missing {listing}", reason=signature,
                secondary=declared, hint="give it: " + ", ".join(f"`{name} = …`" for name in missing),
            )  # fmt: skip
            return
        self.module.arguments[id(key)] = tuple(
            bound[name] if name in bound else default  # type: ignore[misc]
            for name, _, default in parameters
        )


def fields_as_parameters(record: RecordType) -> list[tuple[str, ExpressionType, DefaultArgument | None]]:
    """Fields as parameters: optional ones and those with a default may be left out."""
    found: list[tuple[str, ExpressionType, DefaultArgument | None]] = []
    for field in record.fields:
        default = None
        if field.has_default:
            default = DefaultArgument(field.default)
        elif field.optional:
            default = DefaultArgument(None)
        found.append((field.name, field_type(field), default))
    return found


def _signature(what: str, parameters: ParameterList) -> str:
    """How a call is written: `add(a: int, b: int)`."""
    parts = [
        f"{name}: {show(type)}" + ("" if default is None else " = …")
        for name, type, default in parameters[:8]
    ]
    more = ", …" if len(parameters) > 8 else ""
    return f"it is `{what.strip('`')}({', '.join(parts)}{more})`"
