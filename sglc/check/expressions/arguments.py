"""Arguments bound to parameters, by place and by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import DefaultArgument, ExpressionType
from sglc.check.expressions.inference import Inference
from sglc.check.names.type_parameters import TypeArguments
from sglc.check.types.kinds import field_type, show
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.immutable import node, value
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import RecordType

ParameterList = Sequence[tuple[str, ExpressionType, DefaultArgument | None]]


@value
class _Callee:
    """What takes the arguments, in words, with its parameters and the place where they are written."""

    what: str
    parameters: ParameterList
    declared: tuple[Label, ...]

    def names(self) -> list[str]:
        return [name for name, _, _ in self.parameters]

    def signature(self) -> str:
        """How a call is written: `add(a: int, b: int)`."""
        parts = [
            f"{name}: {show(type)}" + ("" if default is None else " = …")
            for name, type, default in self.parameters[:8]
        ]
        more = ", …" if len(self.parameters) > 8 else ""
        return f"it is `{self.what.strip('`')}({', '.join(parts)}{more})`"


@node
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
        solving: TypeArguments | None = None,
    ) -> list[tuple[ast.Expression, ExpressionType, str]]:
        """Bind positional and named arguments to parameters, check each, and keep the bound list.

        `declared` shows where the parameters are written; without it they are listed. With `solving`,
        arguments for parameters that it concerns tell it their types; they are given back with the names of
        their parameters, to be held against them once all is known.
        """
        open_: list[tuple[ast.Expression, ExpressionType, str]] = []
        callee = _Callee(what, parameters, declared)
        types = {name: type for name, type, _ in parameters}
        bound: dict[str, ast.Argument] = {}
        faults = len(self.module.diagnostics)
        for argument, label in self._labelled(arguments, callee):
            if label is None:
                self.inference.infer(argument.value)
            elif label in bound:
                self.module.report(
                    "E0328",
                    f"`{label}` is given twice",
                    argument.span,
                    label="again",
                    secondary=(Label(bound[label].span, "first given here"),),
                )
                self.inference.infer(argument.value)
            else:
                bound[label] = argument
                if solving is not None and solving.concerns(types[label]):
                    found = self.inference.infer(argument.value, solving.hint(types[label]))
                    solving.learn(types[label], found)
                    open_.append((argument.value, found, label))
                else:
                    self.inference.expect(argument.value, types[label], f"`{label}`")
        self._no_surplus(arguments, callee)
        missing = [name for name, _, default in parameters if name not in bound and default is None]
        if missing and len(self.module.diagnostics) == faults:
            listing = ", ".join(f"`{name}`" for name in missing)
            self.module.report(
                "E0328",
                f"{what} needs {listing}",
                span,
                label=f"missing {listing}",
                reason=callee.signature(),
                secondary=declared,
                hint="give it: " + ", ".join(f"`{name} = …`" for name in missing),
            )
        if not missing:
            self.module.arguments[id(key)] = tuple(
                bound[name].value if name in bound else default  # type: ignore[misc]
                for name, _, default in parameters
            )
        return open_

    def _labelled(
        self, arguments: Sequence[ast.Argument], callee: _Callee
    ) -> Iterator[tuple[ast.Argument, str | None]]:
        """Each argument with the parameter that it is for; None where there is none."""
        names = callee.names()
        known = frozenset(names)
        place, named = 0, False
        for argument in arguments:
            label = None
            if argument.name is not None:
                named = True
                if argument.name.text in known:
                    label = argument.name.text
                else:
                    given = {other.name.text for other in arguments if other.name is not None}
                    self._unknown_name(argument.name, callee, set(names[place:]) - given)
            elif named:
                self.module.report(
                    "E0328",
                    "an argument without a name stands after a named one",
                    argument.span,
                    label="which parameter is meant?",
                    hint="name it too, or move it to the front",
                )
            elif place < len(names):
                label = names[place]
                place += 1
            yield argument, label

    def _unknown_name(self, name: ast.Name, callee: _Callee, left: set[str]) -> None:
        """Report a name that no parameter has. `left` are those that nothing is given for."""
        close = self.module.nearest(name.text, callee.names())
        self.module.report(
            "E0328",
            f"{callee.what} takes no `{name.text}`",
            name.span,
            label="unknown name",
            reason=callee.signature(),
            secondary=callee.declared,
            hint=f"did you mean `{close}`?" if close else "leave it out, or name another parameter",
            edits=(Edit(name.span, close),) if close is not None and left == {close} else (),
        )

    def _no_surplus(self, arguments: Sequence[ast.Argument], callee: _Callee) -> None:
        """Report arguments behind the last parameter."""
        count = len(callee.parameters)
        surplus = list(takewhile(lambda argument: argument.name is None, arguments))[count:]
        if surplus:
            many = "no arguments" if not count else f"{count} argument{'s' if count > 1 else ''}"
            self.module.report(
                "E0328",
                f"{callee.what} takes {many}, not {len(arguments)}",
                surplus[0].span.to(surplus[-1].span),
                label="too many",
                reason=callee.signature(),
                secondary=callee.declared,
                hint="leave it out" if len(surplus) == 1 else "leave them out",
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
