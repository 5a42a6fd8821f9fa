"""The checkers of one module, and the order in which they work."""

from __future__ import annotations

from sglc.check.copies import for_all_types
from sglc.check.core.context import Entity, ModuleContext, OpenedType
from sglc.check.core.result import ExpressionType
from sglc.check.core.work_limit import within_limit
from sglc.check.proofs.emptiness import report_dead_fields, report_empty
from sglc.check.statements.blocks import header
from sglc.check.types.facts import TypeFacts
from sglc.check.wiring import Checkers, checkers_of
from sglc.diagnostics.diagnostic import Label
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Named
from sglc.types.values import Value


class ModuleChecker:
    """Checks one module: declare, define, then every body."""

    def __init__(self, module: ModuleContext, facts: TypeFacts) -> None:
        self.module = module
        self.facts = facts
        self.checkers = checkers_of(module, facts)
        self.generic: dict[str, Checkers] = {}
        """Of functions with type parameters, by qualified name: what checks their bodies for all types."""

    def declare(self, imports: dict[int, ModuleContext]) -> None:
        """Enter every declared and imported name. `imports` maps each Use to the module it found."""
        self.checkers.names.declare(imports)

    def define_all(self) -> None:
        """Define types, errors and signatures of this module."""
        for entity in self.module.own("type"):
            self.define(entity)
        self.checkers.signatures.define()
        for entity in self.module.own("function"):
            self._signature(entity)

    def _signature(self, entity: Entity) -> None:
        """Define a function; one with type parameters gets checkers of its own, for all types."""
        node, checkers = entity.declaration, self.checkers
        parameters: tuple[str, ...] = ()
        if getattr(node, "type_parameters", ()):
            module, parameters = for_all_types(self.module, node, entity.name)
            checkers = self.generic[entity.name] = checkers_of(module, self.facts)
        signature = checkers.signatures.signature(node, entity.name)
        signature.type_parameters = parameters
        self.module.program.signatures[entity.name] = signature

    def define(self, entity: Entity) -> None:
        """Put a declared type of this module into the table."""
        self.checkers.declared.define(entity)

    def parameters(self, entity: Entity) -> OpenedType:
        """The parameters of a declared type of this module."""
        return self.checkers.declared.parameters.enter(entity.name, entity.declaration)

    def define_contents(self, entity: Entity) -> None:
        """As `define`, of a type that others may know as an empty one."""
        self.checkers.declared.define_contents(entity)

    def constant(self, entity: Entity) -> tuple[ExpressionType, Value] | None:
        """Type and value of a `const` of this module; None where it has none, which is reported once."""
        return self.checkers.constants.constant(entity)

    def check_bodies(self) -> None:
        """Constants, then types, then functions, each in the order of the file."""
        for entity in self.module.own("const"):
            self.constant(entity)
        if not self.module.trusted:
            for entity in self.module.own("type"):
                self._declared_type(entity)
        for entity in self.module.own("function"):
            signature = self.module.program.signatures.get(entity.name)
            if signature is not None and isinstance(signature.declaration, ast.FunctionDeclaration):
                checkers = self.generic.get(entity.name, self.checkers)
                checkers.functions.check(signature, signature.declaration)

    def check_tests(self) -> None:
        """Each test, after all that it may call."""
        titles: dict[str, Span] = {}
        for node in self.module.tree.declarations:
            if isinstance(node, ast.TestDeclaration):
                if node.title in titles:
                    self.module.report(
                        "W0210",
                        f'there are two tests "{node.title}"',
                        header(node.span),
                        label="same title",
                        secondary=(Label(titles[node.title], "the first"),),
                    )
                titles.setdefault(node.title, header(node.span))
                self.checkers.functions.check_test(node)

    def check_conditions(self) -> None:
        """The conditions of types, wherever they are written."""
        self.checkers.conditions.check()

    def _declared_type(self, entity: Entity) -> None:
        """A declared type that has no value is refused where it stands."""
        type = Named(entity.name)
        span = entity.span
        if within_limit(self.module.program, span, lambda: report_empty(self.facts, type, span), True):
            self.module.program.broken.add(entity.name)
            for key in [k for k in self.module.program.memo if k[0] == "sound"]:
                del self.module.program.memo[key]
        else:
            node = entity.declaration
            within_limit(
                self.module.program, span, lambda: report_dead_fields(self.facts, entity.name, node), None
            )
