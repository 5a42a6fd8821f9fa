"""Which model fills a hole, or which two: `using` of the hole, else of its block, else of its function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import HoleNode
from sglc.check.expressions.constants import Constants
from sglc.check.names.scopes import Scopes
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.arithmetic import is_number
from sglc.types.model_use import MAIN_VIEW, ModelUse, ModelView, Rule
from sglc.types.type import Str

_RULED = {"by": "by", "weight": "weight", "at_least": "at least"}
"""Options of holes that two models fill, as they are written."""
_PLAIN = ModelUse(MAIN_VIEW)


@node
class HoleModels:
    """Names of models are not looked up: which there are is known when a program is run."""

    module: ModuleContext
    scopes: Scopes
    constants: Constants

    @contextmanager
    def within(self, clause: ast.ModelClause | None) -> Iterator[None]:
        """While the holes of a block or a function are checked that names its models."""
        function = self.scopes.function
        around = function.models
        if clause is not None:
            function.models = self.read(clause)
        try:
            yield
        finally:
            function.models = around

    def read(self, clause: ast.ModelClause) -> ModelUse | None:
        """What a clause names; None for the run's own model, and for what is reported."""
        if self.scopes.function.kind in ("pure", "test", "const"):
            self.module.report(
                "E0360",
                f"`using` cannot stand in {self.scopes.place()}",
                clause.span,
                label="asks no model",
                hint="write it at a `fn`, or at a block or hole of one",
            )
            return None
        base, *more = (self._view(model) for model in clause.models)
        if clause.blended:
            found = ModelUse(base, more[0])
        else:
            self._twice(clause)
            found = ModelUse(base, others=tuple(more))
        return None if found == _PLAIN else found

    def _twice(self, clause: ast.ModelClause) -> None:
        """Report a model that stands in a chain twice: it would be asked again for what it failed at."""
        first: dict[str, ast.ModelName] = {}
        for model in clause.models:
            known = first.setdefault(model.name.text, model)
            if known is not model:
                self.module.report(
                    "E0360",
                    f"`{model.name.text}` stands in this chain twice",
                    model.span,
                    label="named again",
                    secondary=(Label(known.span, "first named here"),),
                    hint="name each model once",
                )

    def _view(self, model: ast.ModelName) -> ModelView:
        if model.without is None:
            return ModelView(model.name.text)
        text = self.constants.needed(model.without, Str(), "the text after `without`")
        if text == "":
            self.module.report(
                "E0360",
                "there is no text to leave out",
                model.without.span,
                label="is empty",
                hint="write the text as it stands in the conversation",
            )
        return ModelView(model.name.text, text if isinstance(text, str) else "")

    def of_hole(self, node: HoleNode) -> ModelUse | None:
        """The model of a hole, its options checked; None for the run's own."""
        options = {option.kind: option for option in node.options}
        own = options.get("using")
        use = self.scopes.function.models
        if own is not None and isinstance(own.value, ast.ModelClause):
            use = self.read(own.value)
        if use is None or use.teacher is None:
            self._no_blend(options)
            return use
        if isinstance(node, ast.Select):
            self.module.report(
                "E0361",
                "`select` cannot blend two models",
                node.span,
                label="weighs whole options by one model",
                reason=f"it stands under `using {use.shown()}`",
                hint="name one model: `using main`, or draw one option with `choose`",
            )
            return None
        return replace(use, rule=self._rule(options))

    def _no_blend(self, options: dict[str, ast.HoleOption]) -> None:
        for kind, word in _RULED.items():
            if kind in options:
                self.module.report(
                    "E0360",
                    f"`{word}` belongs to a blend of two models",
                    options[kind].span,
                    label="one model fills this hole",
                    hint="add `using blend(base, teacher)`, or leave it out",
                )

    def _rule(self, options: dict[str, ast.HoleOption]) -> Rule:
        by, weight, least = (options.get(kind) for kind in _RULED)
        if weight is None:
            return cast("Rule", by.value.name) if by and isinstance(by.value, ast.Reference) else "kl"
        for other in (by, least):
            if other is not None:
                self.module.report(
                    "E0360",
                    f"`weight` and `{_RULED[other.kind]}` exclude each other",
                    other.span,
                    label="finds a share for each token",
                    secondary=(Label(weight.span, "gives the same share to all"),),
                    hint="leave one of the two out",
                )
        value = self.module.constants.get(id(weight.value))
        if "min_p" not in options and is_number(value) and value > 1:
            self.module.report(
                "W0231",
                "a contrast without `min_p`",
                weight.span,
                label="above 1",
                reason="what the base hardly ever writes is then preferred, however unlikely the teacher "
                "finds it",
                hint="add `min_p 0.1`: at least a tenth as likely as the teacher's first choice",
            )
        return "weight"
