"""Functions and tests as wholes: roles in order, results on all paths, errors listed, budgets."""

from __future__ import annotations

from sglc.check.core.result import Unknown
from sglc.check.core.state import Entity, FunctionState, Local, Signature
from sglc.check.core.walk import Body, roles, statements
from sglc.check.core.work_limit import within_limit
from sglc.check.names.template_text import name_as_text
from sglc.check.statements.prompt_lines import header
from sglc.check.statements.shown_types import note_unshown
from sglc.check.statements.statements import Statements
from sglc.check.types.assignability import INT, NULL
from sglc.check.types.unsatisfiable import report_empty
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.type import AliasType, Constant, EnumType, Named

MAX_WITHIN = 10_000_000


class ModuleChecker(Statements):
    """Checks one module: declare, define, then every body."""

    def check_bodies(self) -> None:
        """Constants, then functions, then tests, in the order of the file."""
        for entity in self.own("const"):
            self.constant(entity)
        if not self.module.trusted:
            for entity in self.own("type"):
                self._declared_type(entity)
        for entity in self.own("function"):
            signature = self.program.signatures.get(entity.name)
            if signature is not None and isinstance(signature.declaration, ast.FunctionDeclaration):
                self._function(signature, signature.declaration)

    def check_tests(self) -> None:
        titles: dict[str, Span] = {}
        for node in self.module.module.declarations:
            if isinstance(node, ast.TestDeclaration):
                if node.title in titles:
                    self.program.report(
                        "W0210", f'there are two tests "{node.title}"', header(node.span), label="same title",
                        secondary=(Label(titles[node.title], "the first"),),
                    )  # fmt: skip
                titles.setdefault(node.title, header(node.span))
                self.function = FunctionState(None, "test", NULL)
                self.body(node.body)
                self._unused()

    def _declared_type(self, entity: Entity) -> None:
        """A declared type that has no value is refused where it stands."""
        type = Named(entity.name)
        span = entity.span
        if within_limit(self.program, span, lambda: report_empty(self.program, self.facts, type, span), True):
            self.program.broken.add(entity.name)
            for key in [k for k in self.program.memo if k[0] == "sound"]:
                del self.program.memo[key]

    # -- functions ---------------------------------------------------------------------------------

    def _function(self, signature: Signature, node: ast.FunctionDeclaration) -> None:
        kind = node.kind if node.kind != "aside" else "fn"
        self.function = function = FunctionState(signature, kind, signature.result)
        function.has_roles = any(True for _ in roles(node.body))
        if node.using:
            span = node.using[0].span.to(node.using[-1].span)
            self._unavailable("E0911", "`using`", span, "choose the model with `--model`")
        types = {name: type for name, type, _ in signature.parameters}
        bound: set[str] = set()
        for parameter in node.parameters:
            label = parameter.name.text
            if label not in bound:
                bound.add(label)
                self.bind(parameter, parameter.name, types[label], "parameter")
        within = None
        if node.within is not None:
            if kind in ("pure", "part"):
                self.program.report(
                    "E0416",
                    f"a {'pure fn' if kind == 'pure' else kind} has no budget of its own",
                    node.within.span,
                    label="`within` is for `fn`",
                )
            within = self.needed(node.within, INT, "`within … tok`")
            if within is not None and not 1 <= within <= MAX_WITHIN:
                self.program.report(
                    "E0330", "a token budget is at least 1", node.within.span, label=f"this is {within}"
                )
                within = None
        function.costs = []
        reached = self.body(node.body)
        if reached and signature.result != NULL and not isinstance(signature.result, Unknown):
            self._no_result(node)
        self._role_order(node.body)
        self._errors(signature, node)
        if within is not None:
            self._within(node, within)
        note_unshown(self.program, function)
        self._unused()
        signature.holes.update(function.holes)

    def _no_result(self, node: ast.FunctionDeclaration) -> None:
        assert node.result is not None
        last = node.body[-1].span if node.body else node.span
        line = header(last)
        self.program.report(
            "E0417", f"`{node.name.text}` can end without a result", node.name.span,
            label=f"must return {node.result.span.text}",
            secondary=(Label(line, "the end can be reached after this"),),
            hint="add a `return` at the end",
        )  # fmt: skip

    def _errors(self, signature: Signature, node: ast.FunctionDeclaration) -> None:
        """Uncaught declared errors are listed, listed ones are raised."""
        listed = set(signature.raises)
        missing = [(name, span) for name, span in self.function.raised.items() if name not in listed]
        for name, span in missing:
            short = name.rsplit(".", 1)[-1]
            names = [n.text for n in node.raises] + [n.rsplit(".", 1)[-1] for n, _ in missing]
            self.program.report(
                "E0418", f"`{node.name.text}` does not say that it raises `{short}`", node.name.span,
                label=f"`{short}` can leave this function",
                secondary=(Label(span, "raised here"),),
                hint=f"add `raises {', '.join(names)}` to its header, or catch it",
                edits=_raising(node, [n.rsplit(".", 1)[-1] for n, _ in missing]),
            )  # fmt: skip
        if not self.module.main:
            return
        for error in node.raises:
            entity = self.module.names.get(error.text)
            if entity is not None and entity.kind == "error" and entity.name not in self.function.raised:
                self.program.report(
                    "W0208",
                    f"`{node.name.text}` never raises `{error.text}`",
                    error.span,
                    label="never raised",
                    hint="remove it from the header",
                )

    def _within(self, node: ast.FunctionDeclaration, within: int) -> None:
        """The budget must hold at least the shortest values of the holes that every run passes."""
        costs = self.function.costs or []
        total = sum(least for _, least in costs)
        if total > within:
            assert node.within is not None
            sums = " + ".join(f"{name} {least}" for name, least in costs[:12])
            self.program.report(
                "E0332", f"{within} tokens cannot hold the holes of `{node.name.text}`", node.within.span,
                label="smaller than the shortest completion",
                reason=f"{sums} = {total} tokens at least",
                hint=f"allow more: `within {total * 4} tok`",
            )  # fmt: skip

    # -- roles -------------------------------------------------------------------------------------

    def _role_order(self, body: Body) -> None:
        """`system` comes first and once; the assistant answers somebody."""
        first: ast.Role | None = None
        system: ast.Role | None = None
        for role in roles(body):
            if role.role == "system":
                if system is not None:
                    self.program.report(
                        "E0419", "a conversation has one system message", role.keyword, label="a second one",
                        secondary=(Label(system.keyword, "the first"),), hint="write all of it in the first",
                    )  # fmt: skip
                elif first is not None:
                    self.program.report(
                        "E0419",
                        "the system message comes first",
                        role.keyword,
                        label="after another message",
                        secondary=(Label(first.keyword, "this comes before it"),),
                        hint="move it to the top",
                    )
                system = role
            elif first is None and role.role == "assistant":
                self.program.report(
                    "W0211", "the assistant speaks before any user", role.keyword, label="the first message",
                    reason="most chat templates expect a user's message first",
                    hint="add a `user:` block before it",
                )  # fmt: skip
            if first is None and role.role != "system":
                first = role
        self._adjacent(body)

    def _adjacent(self, body: Body) -> None:
        """Two messages of one role in a row would reach the model as two turns."""
        before: ast.Role | None = None
        for statement in body:
            if isinstance(statement, ast.Role):
                if before is not None and before.role == statement.role and statement.role != "system":
                    self.program.report(
                        "W0212",
                        f"two `{statement.role}` messages in a row",
                        statement.keyword,
                        label="the second",
                        secondary=(Label(before.keyword, "the first"),),
                        hint="write both in one block",
                    )
                before = statement
            elif not isinstance(statement, ast.Let | ast.Assign | ast.Ensure | ast.Evaluate):
                before = None
            elif isinstance(statement, ast.Let) and isinstance(statement.value, ast.Fork):
                before = None
                self._adjacent(statement.value.body)

    def has_holes(self, signature: Signature) -> bool:
        """Whether a function, or a part that it writes, has a hole."""
        waiting, seen = [signature], {signature.name}
        while waiting:
            here = waiting.pop()
            if not isinstance(here.declaration, ast.FunctionDeclaration):
                continue
            for statement in statements(here.declaration.body):
                if isinstance(statement, ast.PipeLine):
                    if any(isinstance(part, ast.Hole) for part in statement.parts):
                        return True
                elif isinstance(statement, ast.Let) and isinstance(
                    statement.value, ast.Gen | ast.Choose | ast.Select | ast.Fork
                ):
                    return True
                elif isinstance(statement, ast.Part) and isinstance(statement.call.function, ast.Reference):
                    checker = self.program.checkers[id(here.module)]
                    entity = checker.look_up(statement.call.function.name)
                    other = None if entity is None else self.program.signatures.get(entity.name)
                    if other is not None and other.name not in seen:
                        seen.add(other.name)
                        waiting.append(other)
        return False

    # -- unused names ------------------------------------------------------------------------------

    def _unused(self) -> None:
        if not self.module.main:
            return
        said = self._templates()
        for local in self.function.locals:
            if local.used or local in said or local.kind not in ("let", "var", "parameter", "binding"):
                continue
            if local.name.startswith("_"):
                continue
            word = {"parameter": "parameter ", "binding": ""}.get(local.kind, "variable ")
            signature = self.function.signature
            place = None if signature is None else name_as_text(signature.declaration.span, local.name)
            self.program.report(
                "W0201", f"{word}`{local.name}` is never used", local.span, label="not used",
                secondary=() if place is None else (Label(place, "this is text"),),
                hint=f"remove it, or call it `_{local.name}`" if place is None
                else f"a value is inserted by `${{{local.name}}}`",
            )  # fmt: skip

    def _templates(self) -> set[Local]:
        """Say where variables stand in text as if they were inserted; those that nothing else uses."""
        found: set[Local] = set()
        for span, local, in_string in self.function.templates:
            if local.used and in_string:
                continue
            self.program.report(
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

    def unused_names(self) -> None:
        """Imports and private helpers of the main module that nothing uses."""
        for label, entity in self.module.names.items():
            if entity.used or entity.kind == "broken" or label.startswith("_"):
                continue
            if entity.imported:
                self.program.report(
                    "W0201", f"`{label}` is imported and never used", entity.span, label="not used",
                    hint="remove it from the `use`",
                )  # fmt: skip
            elif not entity.public and self._helper(entity):
                what = {"const": "constant", "type": "type", "error": "error"}.get(entity.kind, "helper")
                self.program.report(
                    "W0201", f"{what} `{label}` is never used", entity.span, label="not used",
                    hint="remove it, or share it with `pub`",
                )  # fmt: skip

    def _helper(self, entity: Entity) -> bool:
        node = entity.declaration
        if isinstance(node, ast.FunctionDeclaration):
            return node.kind in ("part", "pure")
        if entity.kind == "type":
            declared = self.table.get(entity.name)
            if isinstance(declared, AliasType) and isinstance(declared.type, Constant):
                return True
            return isinstance(declared, EnumType | AliasType) or declared is not None
        return True


def _raising(node: ast.FunctionDeclaration, names: list[str]) -> tuple[Edit, ...]:
    """`raises …` behind the result of a header, or more names behind those that it has."""
    if node.raises:
        last, text = node.raises[-1].span, f", {', '.join(names)}"
    elif node.result is not None:
        last, text = node.result.span, f" raises {', '.join(names)}"
    else:
        return ()
    return (Edit(Span(last.source, last.end, last.end), text),)
