"""`x.weight`: what the strategy of hole `x` found, beside the parts of its value.

A hole's variable holds the plain value. What its strategy tells stands beside it under the variable's name,
and is made only where the program reads it. A part of the value itself comes first.
"""

from __future__ import annotations

from dataclasses import replace

from sglc.check.core.context import ModuleContext
from sglc.check.core.function_state import Local
from sglc.check.core.result import (
    ExpressionType,
    FigureSymbol,
    HoleFacts,
    HoleNode,
    LocalSymbol,
    ScoredOf,
    Unknown,
)
from sglc.check.names.builtins import SCORED_METHODS
from sglc.check.names.scopes import Scopes
from sglc.check.types.kinds import BOOL, FLOAT, INT, UNKNOWN, expand
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.decoding import FIGURES
from sglc.types.type import Alternatives, Named, Optional, RecordType, Str, Type, UnionType

_TYPES: dict[str, Type] = {"float": FLOAT, "int": INT, "bool": BOOL}
_EXAMPLES = {"exact": "decode exact", "smc": "decode smc(8)", "beam": "decode beam(4)"}
_GIVEN_BY = {figure: strategy for strategy, figures in FIGURES.items() for figure in figures}


@node
class HoleFigures:
    """Reads figures of holes. What a strategy does not give is reported, with who gives it."""

    module: ModuleContext
    scopes: Scopes

    def figure(self, node: ast.Attribute) -> ExpressionType | None:
        """The type of `x.weight`, whose `x` has been inferred; None where that is no figure of a hole."""
        label = node.name.text
        local = self._hole(node, label) if label in _GIVEN_BY else None
        if local is None or not self._is_told(node, local, label):
            return None if local is None else UNKNOWN
        strategy = _GIVEN_BY[label]
        self._tell(local)
        self.module.symbols[id(node)] = FigureSymbol(local.slot, label, self._facts(local).decoding)
        return _TYPES[FIGURES[strategy][label]]

    def scores(self, node: ast.Attribute) -> ExpressionType | None:
        """The type of the `x` of `x.p(option)` where hole `x` is a `choose`; None for all others."""
        label = node.name.text
        local = self._hole(node, label) if label in SCORED_METHODS else None
        if local is None:
            return None
        option = self.module.types.get(id(local.hole), UNKNOWN)
        if not self._is_told(node, local, label) or isinstance(option, Unknown):
            return UNKNOWN
        self._tell(local)
        self.module.symbols[id(node.value)] = FigureSymbol(local.slot, "scores", self._facts(local).decoding)
        return ScoredOf(option)  # type: ignore[arg-type]

    def _hole(self, node: ast.Attribute, label: str) -> Local | None:
        """The variable whose figure this may be: that of a hole whose value has no such part."""
        if not isinstance(node.value, ast.Reference):
            return None
        local = self.scopes.function.scope.find(node.value.name)
        symbol = self.module.symbols.get(id(node.value))
        if local is None or symbol != LocalSymbol(local.name, local.slot):
            return None
        if not isinstance(local.hole, ast.Gen | ast.Choose) or id(local.hole) not in self.module.holes:
            return None
        if self._has_part(local.type, label):
            self._shadowed(node, local, label)
            return None
        return local

    def _has_part(self, type: ExpressionType, label: str) -> bool:
        """Whether a value of a type, or of one of its arms, has a part of this name."""
        plain = expand(type, self.module.table)
        match plain:
            case Optional(item):
                return self._has_part(item, label)
            case Alternatives(arms):
                return any(self._has_part(arm, label) for arm in arms)
            case Str(grammar=grammar) if grammar:
                from sglc.types.grammar_text import part_type

                return part_type(grammar, label) is not None
            case Named(name):
                declared = self.module.table.get(name)
                if isinstance(declared, UnionType):
                    return any(field.name == label for each in declared.variants for field in each.fields)
                return isinstance(declared, RecordType) and any(f.name == label for f in declared.fields)
        return False

    def _gives(self, hole: HoleNode) -> tuple[str, ...]:
        """What the strategy of a hole tells."""
        facts = self.module.holes[id(hole)]
        if isinstance(hole, ast.Choose):
            blended = facts.models is not None and facts.models.teacher is not None
            local = facts.decoding is not None and facts.decoding.strategy == "local"
            return () if blended or local else tuple(SCORED_METHODS)
        return () if facts.decoding is None else tuple(FIGURES[facts.decoding.strategy])

    def _is_told(self, node: ast.Attribute, local: Local, label: str) -> bool:
        """Whether the hole tells a figure; reports it where it does not."""
        hole = local.hole
        assert hole is not None
        gives = self._gives(hole)
        several = next((option for option in hole.options if option.kind == "n"), None)
        if label in gives and several is None and local.kind != "var":
            return True
        faulty = any(option.kind == "decode" for option in hole.options)
        if faulty and self.module.holes[id(hole)].decoding is None:
            return False
        secondary: tuple[Label, ...] = ()
        if label in gives and several is not None:
            hint = "each of several texts has its own: the records of the run and its trace tell them"
            secondary = (Label(several.span, "several texts"),)
        elif label in gives:
            hint = f"`{local.name}` may hold another value by then: bind the hole with `let`"
            secondary = (Label(local.span, "declared here"),)
        else:
            hint = _who_gives(label)
            if gives:
                hint += ", and this hole tells " + " and ".join(f"`{local.name}.{each}`" for each in gives)
        self.module.report(
            "E0209",
            f"hole `{local.name}` tells no `{label}`",
            node.name.span,
            label="not told by its strategy" if label not in gives else "of no one text",
            hint=hint,
            secondary=secondary,
        )
        return False

    def _shadowed(self, node: ast.Attribute, local: Local, label: str) -> None:
        """Warn of a part of the value that stands in front of a figure of the same name."""
        assert local.hole is not None
        if label in self._gives(local.hole):
            self.module.report(
                "W0232",
                f"`{local.name}.{label}` is a part of the value, not what the strategy of the hole tells",
                node.name.span,
                label="names both",
                reason="parts of a value come first",
                hint=f"give the field another name to read the `{label}` of the hole",
            )

    def _facts(self, local: Local) -> HoleFacts:
        return self.module.holes[id(local.hole)]

    def _tell(self, local: Local) -> None:
        self.module.holes[id(local.hole)] = replace(self._facts(local), told=True)


def _who_gives(label: str) -> str:
    """By what a hole tells a figure."""
    if label in SCORED_METHODS:
        return "`choose` and `select` give it"
    return f"`{_EXAMPLES[_GIVEN_BY[label]]}` gives it"
