"""Functions as wholes: results on all paths, budgets, names that nothing uses."""

from __future__ import annotations

from sglc.check.core.context import ModuleContext, Signature
from sglc.check.core.function_state import FunctionState, Local
from sglc.check.core.result import Unknown
from sglc.check.core.walk import mentions, roles
from sglc.check.expressions.constants import Constants
from sglc.check.holes.models import HoleModels
from sglc.check.names.scopes import Scopes
from sglc.check.roles import check_roles
from sglc.check.statements.blocks import Blocks, header
from sglc.check.statements.shown_types import note_unshown
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import NULL
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.immutable import node
from sglc.syntax.tree import ast

MAX_WITHIN = 10_000_000
MOST_TERMS = 12
"""Holes of a sum that are named one by one: it stays on two lines of a terminal."""


@node
class FunctionChecker:
    """One function at a time, from its parameters to its budget."""

    module: ModuleContext
    facts: TypeFacts
    scopes: Scopes
    constants: Constants
    blocks: Blocks
    models: HoleModels

    def check(self, signature: Signature, node: ast.FunctionDeclaration) -> None:
        """Check the body of a function against what its header says."""
        kind = signature.kind
        self.scopes.function = function = FunctionState(signature, kind, signature.result)
        function.has_roles = any(True for _ in roles(node.body))
        types = {name: type for name, type, _ in signature.parameters}
        bound: set[str] = set()
        for parameter in node.parameters:
            label = parameter.name.text
            if label not in bound:
                bound.add(label)
                due = self.module.dependents.get(id(parameter.type))
                self.scopes.bind(parameter, parameter.name, types[label], "parameter", dependent=due)
        self._given_in_header(node)
        within = None
        if node.within is not None:
            if kind in ("pure", "part"):
                self.module.report(
                    "E0416",
                    f"a {'pure fn' if kind == 'pure' else kind} has no budget of its own",
                    node.within.span,
                    label="`within` is for `fn`",
                )
            within = self.constants.whole(node.within, "`within … tok`")
            if within is not None and not 1 <= within <= MAX_WITHIN:
                self.module.report(
                    "E0330", "a token budget is at least 1", node.within.span, label=f"this is {within}"
                )
                within = None
        function.costs = []
        with self.models.within(node.using):
            reached = self.blocks.body(node.body)
        if reached and signature.result != NULL and not isinstance(signature.result, Unknown):
            self._no_result(node)
        check_roles(self.module, node.body)
        if within is not None:
            self._within(node, within)
        note_unshown(self.facts, function)
        self._unused()
        signature.holes.update(function.holes)

    def _given_in_header(self, node: ast.FunctionDeclaration) -> None:
        """Parameters that other types of the header depend on are used."""
        written = (*(parameter.type for parameter in node.parameters), node.result)
        for type in filter(None, written):
            due = self.module.dependents.get(id(type))
            for local in self.scopes.function.scope.names.values():
                if due is not None and mentions(due.given, (local.name,)):
                    local.used = True

    def check_test(self, node: ast.TestDeclaration) -> None:
        """Check the body of a test."""
        self.scopes.function = FunctionState(None, "test", NULL)
        self.blocks.body(node.body)
        self._unused()

    def _no_result(self, node: ast.FunctionDeclaration) -> None:
        assert node.result is not None
        last = node.body[-1].span if node.body else node.span
        line = header(last)
        self.module.report(
            "E0417",
            f"`{node.name.text}` can end without a result",
            node.name.span,
            label=f"must return {node.result.span.text}",
            secondary=(Label(line, "the end can be reached after this"),),
            hint="add a `return` at the end",
        )

    def _within(self, node: ast.FunctionDeclaration, within: int) -> None:
        """The budget must hold at least the shortest values of the holes that every run passes."""
        costs = self.scopes.function.costs or []
        assert node.within is not None
        total, most = sum(cost.least for cost in costs), sum(cost.most for cost in costs)
        if total > within:
            sums = _sum([(cost.name, cost.least) for cost in costs if cost.least])
            self.module.report(
                "E0332",
                f"{within} tokens cannot hold the holes of `{node.name.text}`",
                node.within.span,
                label="smaller than the shortest completion",
                reason=f"{sums} = {total} tokens at least",
                hint=f"allow more: `within {total * 4} tok`",
            )
        elif most > within:
            self.module.report(
                "W0245",
                f"{within} tokens do not hold the longest values of `{node.name.text}`",
                node.within.span,
                severity="note",
                label=f"{most} would",
                reason=f"{_sum([(cost.name, cost.most) for cost in costs])} = {most} tokens at most",
                hint="the last holes are cut short, or fail with `Truncated`: allow more, or bound the holes",
            )

    def _unused(self) -> None:
        if not self.module.main:
            return
        said = self._templates()
        for local in self.scopes.function.locals:
            if local.kind == "hole" and not local.used:
                self.module.unread_holes.append(local.name)
            if local.used or local in said or local.kind not in ("let", "var", "parameter", "binding"):
                continue
            if local.name.startswith("_"):
                continue
            word = {"parameter": "parameter ", "binding": ""}.get(local.kind, "variable ")
            signature = self.scopes.function.signature
            place = (
                None
                if signature is None
                else self.scopes.templates.insert(signature.declaration.span, local.name)
            )
            self.module.report(
                "W0201",
                f"{word}`{local.name}` is never used",
                local.span,
                label="not used",
                secondary=() if place is None else (Label(place, "this is text"),),
                hint=f"remove it, or call it `_{local.name}`"
                if place is None
                else f"a value is inserted by `${{{local.name}}}`",
            )

    def _templates(self) -> set[Local]:
        """Say where variables stand in text as if they were inserted; those that nothing else uses."""
        found: set[Local] = set()
        for span, local, in_string in self.scopes.function.templates:
            if local.used and in_string:
                continue
            self.module.report(
                "W0225",
                f"`{span.text}` is text: nothing is inserted",
                span,
                label="the model sees it as it is",
                hint=f"write `${{{local.name}}}` for the value"
                + (f', `${{"{span.text}"}}` for the text' if local.used else ""),
                edits=() if local.used else (Edit(span, f"${{{local.name}}}"),),
            )
            if not local.used:
                found.add(local)
        return found


def _sum(terms: list[tuple[str, int]]) -> str:
    """A sum of tokens by holes, as text."""
    words = [f"{name} {tokens}" for name, tokens in terms]
    return " + ".join(words[:MOST_TERMS] + (["…"] if len(words) > MOST_TERMS else []))
