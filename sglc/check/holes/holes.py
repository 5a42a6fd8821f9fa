"""Holes: what the model fills, and which variable keeps it."""

from __future__ import annotations

import re
from dataclasses import replace

from sglc.check.core.context import ModuleContext
from sglc.check.core.function_state import Local
from sglc.check.core.result import ExpressionType, HoleNode, Unknown
from sglc.check.core.work_limit import within_limit
from sglc.check.declarations.dependent_types import DependentTypes
from sglc.check.holes.choices import Choices
from sglc.check.holes.ends import END_OF_LINE, Follow, HoleEnds
from sglc.check.holes.line_breaks import admits_break_unsaid
from sglc.check.holes.models import HoleModels
from sglc.check.holes.options import HoleOptions, KnownOptions
from sglc.check.holes.where_clauses import WhereClauses
from sglc.check.names.scopes import Scopes
from sglc.check.proofs.emptiness import report_empty
from sglc.check.types.conditioned import held_by, with_conditions
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import NULL, UNKNOWN, as_written, expand, list_of, said
from sglc.check.types.refinements import add_until
from sglc.check.types.unsatisfiable import arms_are_apart, is_bare_text
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.dependent import ended_before, erased, given_types, waits_for_values
from sglc.types.language.predicates import predicates_of
from sglc.types.type import Alternatives, Int, ListOf, Optional, SpanOf, Str, Type

_THOUGHT = re.compile(r"think[0-9]*")
"""Names of holes of `think`."""


@node
class Holes:
    """Every hole has its facts noted, also a faulty one."""

    module: ModuleContext
    facts: TypeFacts
    scopes: Scopes
    dependent: DependentTypes
    clauses: WhereClauses
    options: HoleOptions
    models: HoleModels
    ends: HoleEnds
    choices: Choices

    def expression(self, node: HoleNode) -> ExpressionType:
        """A gen, choose or select as an expression: it has no name of its own."""
        self.scopes.function.gens += 1
        found = self.fill(node, f"gen{self.scopes.function.gens}", None, node.span, END_OF_LINE)
        if id(node) in self.clauses.late:
            self.scopes.open()
            local = self.scopes.bind(
                self.clauses.late[id(node)], ast.Name("it", node.span), found, "it", hole=node
            )
            self.clauses.late_conditions(node, local)
            self.scopes.close()
        return found

    def thought(self, node: ast.Gen) -> None:
        """The hole of a `think`: its name is `think`, those behind it in the function are numbered."""
        function = self.scopes.function
        number = sum(_THOUGHT.fullmatch(name) is not None for name in function.holes) + 1
        name = "think" if number == 1 else f"think{number}"
        self.fill(node, name, None, node.span, END_OF_LINE)
        if id(node) in self.module.holes:
            function.holes[name] = self.module.holes[id(node)]

    def named(self, node: ast.Hole, follow: Follow) -> None:
        """`?{name: …}`: binds its name in the enclosing block."""
        content = node.content
        found = self.fill(content, node.name.text, node.name.text, node.name.span, follow)
        self.module.types[id(content)] = found
        local = self.scopes.bind(content, node.name, found, "hole", hole=content)
        self.complete(content, local)

    def complete(self, content: HoleNode, local: Local) -> None:
        """Join a hole and the variable that it fills."""
        facts = self.module.holes.get(id(content))
        if facts is None:
            return
        facts = replace(facts, slot=local.slot, name=local.name)
        self.module.holes[id(content)] = facts
        if facts.type is not None:
            facts = replace(facts, type=erased(facts.type))
        known = self.scopes.function.holes.get(local.name)
        if known is not None and known.type != facts.type:
            # Two branches each have a hole of this name: a mock is checked when it is used.
            facts = replace(facts, type=None)
        self.scopes.function.holes[local.name] = facts
        if self.scopes.function.forks:
            holes = self.scopes.function.forks[-1].holes
            holes[:] = [h for h in holes if h[0] != local.name] + [(local.name, local.type)]
        self.clauses.late_conditions(content, local)

    def fill(
        self, node: HoleNode, name: str, label: str | None, span: Span, follow: Follow
    ) -> ExpressionType:
        """Check one hole and note its facts; the type of its value. What its type does not say of its
        conditions waits in `clauses.late` until the value has a variable."""
        self.options.check_place(node)
        options = self.options.read(node)
        models = self.models.of_hole(node)
        self.options.check_effect(node, options, models is not None and models.teacher is not None)
        with self.scopes.restored():
            found = within_limit(
                self.module.program,
                node.span,
                lambda: self._filled(node, name, label, follow, options),
                UNKNOWN,
            )
        facts = self.module.holes.get(id(node))
        if facts is not None and "decoding" in options:
            self.module.holes[id(node)] = replace(facts, decoding=options["decoding"])
        asked = self.clauses.late.get(id(node))
        decoding = options.get("decoding")
        if asked is not None and (asked.asked or asked.validators) and decoding is not None:
            self.options.decodings.validated(node.span, decoding)
        if models is not None and models.teacher is not None and decoding is not None:
            self.options.decodings.blended(node.span, decoding)
        if id(node) in self.module.holes:
            self.module.holes[id(node)] = replace(self.module.holes[id(node)], models=models)
        if "n" not in options or isinstance(found, Unknown):
            return found
        late = self.clauses.late.get(id(node))
        if late is not None:
            if late.left or late.predicates:
                self.module.report(
                    "E0330",
                    "this condition cannot go with `n`",
                    late.left[0].span if late.left else node.span,
                    label="is checked on the finished value",
                    reason="" if late.left else f"the type has the condition `{late.predicates[0].text}`",
                    hint="write an `ensure` on the list after the hole",
                )
            late.left, late.tested, late.sampled = [], None, True
        listed = list_of(found)
        return (
            replace(listed, minimum=options["n"], maximum=options["n"])
            if isinstance(listed, ListOf)
            else listed
        )

    def _filled(
        self, node: HoleNode, name: str, label: str | None, follow: Follow, options: KnownOptions
    ) -> ExpressionType:
        """`fill` for one value, whatever `n` says."""
        if not isinstance(node, ast.Gen):
            return self.choices.choice(node, name, follow, options)
        with self.clauses.of_hole(node, label) as clauses:
            type, given = self.dependent.hole_type(node.type)
            found = self._gen(node, name, type, follow, options)
            facts = self.module.holes[id(node)]
            condition = None
            if facts.type is not None and self.facts.sound(facts.type):
                condition = self.clauses.kept_condition(clauses, facts.type, node.span)
            self.module.holes[id(node)] = replace(facts, given=given, condition=condition)
            if facts.type is not None:
                clauses.predicates = predicates_of(facts.type, self.module.table)
                clauses.tested = erased(facts.type) if clauses.predicates else None
                held = held_by(self.module, facts.type).predicates
                clauses.validators += self.clauses.declared.validators(held)
            if clauses.left or clauses.kept or clauses.asked or clauses.predicates:
                self.clauses.late[id(node)] = clauses
        return found

    def _gen(
        self, node: ast.Gen, name: str, type: Type, follow: Follow, options: KnownOptions
    ) -> ExpressionType:
        for text, span in options.get("until", ()):
            plain = as_written(type, self.module.table)
            if isinstance(plain, Unknown):
                break
            if isinstance(plain, SpanOf) and text:
                type = replace(plain, until=(*plain.until, text))
                continue
            if not isinstance(plain, Str) or plain.grammar:
                self.module.report(
                    "E0306", f"`until` does not fit {said(type)}", span, label="ends texts only"
                )
                break
            type = with_conditions(
                self.module, add_until(self.module, plain, text, span), held_by(self.module, type)
            )  # type: ignore[assignment]
        facts = self.facts
        span = node.type.span
        plain = as_written(type, self.module.table)
        if isinstance(plain, Str | SpanOf) and plain.until:
            self.options.decodings.ended(span, options.get("decoding"))
        if not facts.sound(type):
            self.ends.note(node, name, None if isinstance(type, Unknown) else type, follow)
            return erased(type)
        if waits_for_values(type, self.module.table):
            self.module.report(
                "E0328",
                f"{said(type)} has texts of a grammar with parameters, which are not given values",
                span,
                label="which texts are legal is not known",
                hint="declare the type with parameters, and give them values here",
            )
            self.ends.note(node, name, type, follow)
            return erased(type)
        if report_empty(facts, type, span):
            self.ends.note(node, name, type, follow)
            return erased(type)
        if given_types(type):
            return self._given_hole(node, name, type, follow, options)
        if follow.text and is_bare_text(facts, type):
            plain = as_written(type, self.module.table)
            assert isinstance(plain, Str)
            ended = replace(plain, until=(follow.text,))
            type = with_conditions(self.module, ended, held_by(self.module, type))  # type: ignore[assignment]
        plain = as_written(type, self.module.table)
        self.ends.check_bound(node, name, type, plain, options, follow)
        self.ends.check_budget(name, type, options, span)
        arms = self._arms_as_text(plain)
        if len(arms) > 1:
            arms_are_apart(facts, arms, (span,) * len(arms), raw=True)
        self.ends.check_junction(node, name, type, follow)
        self.options.distinct.few(node, type, span, options.get("decoding"), options.get("n", 1))
        words = None if isinstance(plain, Int) else facts.words(type)
        self.options.decodings.shadowed(node, words, options.get("decoding"))
        if admits_break_unsaid(plain):
            self.module.report(
                "W0221",
                f"hole `{name}` may write line breaks",
                span,
                label="its pattern admits a newline, which then does not end the hole",
                hint="write `line` in place of `str`, or `\\n` in the pattern where line breaks are meant",
            )
        self.ends.note(node, name, type, follow)
        self.scopes.function.generated.append((type, span))
        return type

    def _given_hole(
        self,
        node: ast.Gen,
        name: str,
        type: Type,
        follow: Follow,
        options: KnownOptions,
    ) -> ExpressionType:
        """A hole whose type depends on values of the run: its text is known only when it is reached."""
        if follow.text:
            type = ended_before(type, follow.text)
        self.ends.check_bound(node, name, type, type, options, follow)
        self.ends.check_budget(name, type, options, node.type.span)
        if not follow.text or isinstance(type, Str):
            self.ends.check_junction(node, name, type, follow)
        self.ends.note(node, name, type, follow)
        self.scopes.function.generated.append((type, node.type.span))
        return erased(type)

    def _arms_as_text(self, plain: ExpressionType) -> tuple[Type, ...]:
        """The alternatives of a hole's type; `T?` has `null` as one."""
        if isinstance(plain, Optional):
            inner = expand(plain.item, self.module.table)
            return (*self._arms_as_text(inner), NULL)
        return plain.arms if isinstance(plain, Alternatives) else (plain,)  # type: ignore[return-value]
