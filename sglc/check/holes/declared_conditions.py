"""What declared types and parts of types keep of a `where` that no other refinement says.

Conditions that compare the value with known values stay in the type: its masks keep them. Any other one
becomes a pure function of the value, which is asked when a value is complete, and wherever a value becomes
one of the type. All are checked as the bodies of such functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sglc import immutable
from sglc.check.core.context import ModuleContext, Signature
from sglc.check.core.function_state import FunctionState, Local
from sglc.check.core.result import Conditions, DefaultArgument, Validator
from sglc.check.core.walk import mentions, parts
from sglc.check.declarations.effects import errors_leaving
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.holes.validators import checked_validator, is_validator
from sglc.check.names.scopes import Scopes
from sglc.check.types.kinds import BOOL, STR, is_text
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.dependent import erased
from sglc.types.type import Predicate, Type


@immutable.node
class DeclaredConditions:
    """Conditions of one module's types."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference

    def conditions(
        self,
        type: Type,
        names: tuple[str, ...],
        left: Sequence[ast.Expression],
        given: list[ast.Expression | DefaultArgument] | None,
    ) -> Conditions:
        """What stays beside a type of conditions that it did not take in; `names` are those of the value.

        `given` are the expressions that the type depends on; what its masks compare with is added to them.
        """
        held = Conditions()
        for part in left:
            held.add(self._condition(type, names, part, given))
        return held

    def check(self) -> None:
        """Check the conditions as the bodies of functions, once all that they may call is known."""
        for key, (signature, node) in list(self.module.asked.items()):
            judged = self._judged(signature, node)
            late, node = judged is node, judged
            self.module.asked[key] = (signature, node)
            (parameter,) = node.parameters
            self.scopes.function = FunctionState(signature, "pure", BOOL)
            self.scopes.bind(parameter, parameter.name, signature.parameters[0][1], "it").used = True
            (statement,) = node.body
            assert isinstance(statement, ast.Return) and statement.value is not None
            self.inference.condition(statement.value)
            errors = errors_leaving(self.module, node.body)
            if late and signature.name and not errors and not self._faulty():
                self._note_late(node.span)
            for error in errors:
                self.module.report(
                    "E0372",
                    f"the condition of a type cannot raise `{error.rsplit('.', 1)[-1]}`",
                    node.span,
                    label="is asked where no error of the program is expected",
                    hint="let the function give false",
                )

    def _judged(self, signature: Signature, node: ast.FunctionDeclaration) -> ast.FunctionDeclaration:
        """The function of a condition; a validator's answer about the complete text becomes true or false."""
        (statement,) = node.body
        assert isinstance(statement, ast.Return)
        call, span = statement.value, node.span
        if not isinstance(call, ast.Call) or not is_validator(self.module, call):
            return node
        (first, *others) = call.arguments
        if not is_text(signature.parameters[0][1], self.module.table):
            first = replace(first, value=ast.String((first.value,), span))
        call = replace(call, arguments=(first, *others))
        final = ast.Binary("==", call, ast.String(("final",), span), span)
        return replace(node, body=(ast.Return(final, span),))

    def _faulty(self) -> bool:
        """Whether an error was found in this module."""
        here = self.module.diagnostics[self.module.program.begun :]
        return any(found.severity == "error" for found in here)

    def _note_late(self, span: Span) -> None:
        self.module.report(
            "W0215",
            "this condition is checked when the value is complete",
            span,
            label="not part of what the model can write",
            reason="a value that fails is drawn again, a few times at most, then `Rejected`",
            severity="note",
        )

    def validators(self, predicates: Sequence[Predicate]) -> list[Validator]:
        """The validators among predicates, as far as a hole can ask them: what they are given is constant."""
        found = []
        for predicate in predicates:
            validator = self.module.program.predicates[predicate.function]()
            if validator is not None:
                found.append(validator)
        return found

    def _validator(self, part: ast.Expression) -> Validator | None:
        if not is_validator(self.module, part):
            return None
        assert isinstance(part, ast.Call)
        with self.scopes.of_constant():
            name = ast.Name("it", part.span)
            self.scopes.bind(name, name, STR, "it").used = True
            found = checked_validator(self.module, self.inference, part, ("it",))
        if found is None:
            return None
        known = [
            (True, a.value) if isinstance(a, DefaultArgument) else fold(self.module, a)
            for a in found.arguments
        ]
        if not all(sure for sure, _ in known):
            return None
        return Validator(found.function, tuple(DefaultArgument(value) for _, value in known))

    def _condition(
        self,
        type: Type,
        names: tuple[str, ...],
        part: ast.Expression,
        given: list[ast.Expression | DefaultArgument] | None,
    ) -> Conditions:
        from sglc.check.holes.mask_predicates import ConditionWriter
        from sglc.types.language.narrowing import is_expressible

        values = [] if given is None else given
        mark = len(values)
        found = ConditionWriter(self.module, self.inference, values, names).write(part, sure=True)
        kept = found is not None and is_expressible(type, found, self.module.table)
        if kept and len(values) == mark:
            self._function(type, names, part, run=False)
            return Conditions((found,))  # type: ignore[arg-type]
        if kept and given is not None:
            self._in_place(type, names, part)
            return Conditions((found,))  # type: ignore[arg-type]
        del values[mark:]
        if self._speaks_of_run(part, names):
            self.module.report(
                "E0371",
                "this condition on a part of a type depends on values of the run",
                part.span,
                label="no mask can keep it, and its function has the value alone",
                hint="write it behind the whole type of the hole, or an `ensure` after it",
            )
            return Conditions()
        return Conditions((), (Predicate(self._function(type, names, part, run=True), part.span.text),))

    def _in_place(self, type: Type, names: tuple[str, ...], part: ast.Expression) -> None:
        """Check a condition where it is written: it compares with values that are known there."""
        self.scopes.open()
        for name in names:
            local = Local(name, name, erased(type), "it", part.span, 0, used=True)
            self.scopes.function.scope.names.setdefault(name, local)
        self.inference.condition(part)
        self.scopes.close()

    def _function(self, type: Type, names: tuple[str, ...], part: ast.Expression, *, run: bool) -> str:
        """Note the condition as a function of the value; its name. One that is not `run` is only checked."""
        known = self.module.asked.get(id(part))
        if known is not None:
            return known[0].name
        span = part.span
        count = sum(bool(signature.name) for signature, _ in self.module.asked.values()) + 1
        name = self.module.qualify(f"where {count}") if run else ""  # as `CONDITION_MARK` of `sglc.ir.module`
        called = next((each for each in names if mentions(part, (each,))), names[0])
        value = ast.TypeUnreadable(span)
        self.module.resolved[id(value)] = type = erased(type)
        result = ast.TypeName("bool", (), span)
        self.module.resolved[id(result)] = BOOL
        node = ast.FunctionDeclaration(
            "pure",
            ast.Name(f"where {count}", span),
            (),
            (ast.Parameter(ast.Name(called, span), False, value, None, span),),
            result,
            None,
            None,
            (),
            (ast.Return(part, span),),
            False,
            "",
            span,
        )
        signature = Signature(name, "pure", ((called, type, None),), BOOL, (), node, self.module)
        self.module.asked[id(part)] = (signature, node)
        self.module.program.predicates[name] = lambda: self._validator(part)
        return name

    def _speaks_of_run(self, node: object, names: tuple[str, ...]) -> bool:
        """Whether an expression reads a variable of the function around it."""
        if isinstance(node, tuple):
            return any(self._speaks_of_run(item, names) for item in node)
        if isinstance(node, ast.Reference):
            return node.name not in names and self.scopes.function.scope.find(node.name) is not None
        return any(self._speaks_of_run(part, names) for part in parts(node))
