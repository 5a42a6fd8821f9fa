"""Holes that are filled by one of several options: `choose` and `select`."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import (
    BranchOf,
    ErrorOf,
    ExpressionType,
    ListValue,
    Never,
    RangeOf,
    ScoredOf,
    Unknown,
)
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.holes.decoding import Decodings
from sglc.check.holes.distinct import Distinct
from sglc.check.holes.ends import Follow, HoleEnds
from sglc.check.holes.options import KnownOptions
from sglc.check.names.scopes import Scopes
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import UNKNOWN, is_enum, item_of, said
from sglc.check.types.resolve import TypeResolver
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.text.printer import print_value
from sglc.types.type import Alternatives, Constant, Type
from sglc.types.values import Value

MUCH_LONGER = 4
"""How many times as long as the shortest option the longest one is, where a comparison is called unfair: a
token has some four characters, so options may then differ by several tokens."""


@node
class Choices:
    """`choose` and `select`: the options are a type or a list of values."""

    module: ModuleContext
    facts: TypeFacts
    scopes: Scopes
    types: TypeResolver
    inference: Inference
    ends: HoleEnds
    decodings: Decodings
    distinct: Distinct

    def choice(
        self, node: ast.Choose | ast.Select, name: str, follow: Follow, options: KnownOptions
    ) -> ExpressionType:
        """The type of the option that is taken; the facts of the hole are noted."""
        type, item = self._options_of(node)
        word = "choose" if isinstance(node, ast.Choose) else "select"
        if type is not None and not isinstance(type, Unknown):
            words = self.facts.words(type)
            if words is None:
                if self.facts.sound(type):
                    self.module.report(
                        "E0334",
                        f"`{word}` needs few options, {said(type)} has too many",
                        node.choices.span,
                        label="not an enum, not a union of literals",
                        hint=f"write `gen` instead of `{word}`",
                    )
                self.ends.note(node, name, None, follow)
                return UNKNOWN
            if not words:
                self.module.report(
                    "E0303", f"{said(type)} has no value", node.choices.span, label="no options"
                )
            self.ends.check_budget(name, type, options, node.choices.span)
            self.ends.check_junction(node, name, type, follow)
            decoding, wanted = options.get("decoding"), options.get("n", 1)
            self.distinct.few(node, type, node.choices.span, decoding, wanted)
            self._fair(node, words)
            self.decodings.shadowed(node, words, decoding)
        self.ends.note(node, name, None if isinstance(type, Unknown) else type, follow)
        if isinstance(item, Unknown):
            return UNKNOWN
        if isinstance(node, ast.Select):
            return ScoredOf(item)  # type: ignore[arg-type]
        return item

    def _fair(self, node: ast.Choose | ast.Select, words: list[str]) -> None:
        if not isinstance(node, ast.Select) or node.by not in ("mean", "sum") or len(words) < 2:
            return
        short, long = min(words, key=len), max(words, key=len)
        if len(long) >= MUCH_LONGER * max(1, len(short)):
            mean = node.by == "mean"
            self.module.report(
                "W0206",
                f"`by {node.by}` favours {'long' if mean else 'short'} options here",
                node.span,
                label="lengths differ much",
                reason="the mean over tokens makes the sure tail of a long option count for its start"
                if mean
                else "each token of an option makes its probability smaller, and a long one has more of them",
                witness=f'"{short}" against "{long}"',
                hint="use `by greedy` or `by contrast`",
            )

    def _options_of(self, node: ast.Choose | ast.Select) -> tuple[Type | None, ExpressionType]:
        """The type of the options where they are known now, and the type of the value."""
        choices = node.choices
        if isinstance(choices, ast.Reference | ast.TypeName):
            local = self.scopes.function.scope.find(choices.name)
            entity = self.module.look_up(choices.name) if local is None else None
            if local is None and (
                entity is None or entity.kind == "type" or isinstance(choices, ast.TypeName)
            ):
                if entity is not None and entity.kind == "const":
                    return self._listed(node, ast.Reference(choices.name, choices.span), choices)
                named = ast.TypeName(choices.name, (), choices.span)
                type = self.types.resolve(choices if isinstance(choices, ast.TypeName) else named)
                self.module.resolved[id(choices)] = type
                return type, type
            if isinstance(choices, ast.TypeName):
                # Written like a type, meant as a variable.
                reference = ast.Reference(choices.name, choices.span)
                return self._listed(node, reference, choices)
            return self._listed(node, choices, choices)
        if isinstance(choices, ast.TypeExpression):
            type = self.types.resolve(choices)
            return type, type
        return self._listed(node, choices, choices)

    def _listed(
        self, node: ast.Choose | ast.Select, choices: ast.Expression, key: object
    ) -> tuple[Type | None, ExpressionType]:
        """Options given as a list of values."""
        found = self.inference.infer(choices)
        if key is not choices:
            self.module.types[id(key)] = found
            symbol = self.module.symbols.get(id(choices))
            if symbol is not None:
                self.module.symbols[id(key)] = symbol
        item = item_of(found, self.module.table)
        if isinstance(found, Unknown):
            return UNKNOWN, UNKNOWN  # type: ignore[return-value]
        if item is None:
            self.module.report(
                "E0334",
                f"options are a list or a type, not {said(found)}",
                node.choices.span,
                label="no list",
            )
            return UNKNOWN, UNKNOWN  # type: ignore[return-value]
        if isinstance(item, RangeOf | BranchOf | ScoredOf | ListValue | ErrorOf):
            self.module.report(
                "E0334", f"{said(item)} cannot be an option", node.choices.span, label="has no text"
            )
            return UNKNOWN, UNKNOWN  # type: ignore[return-value]
        if isinstance(item, Never):
            self.module.report("E0303", "an empty list has no options", node.choices.span, label="no options")
            return UNKNOWN, UNKNOWN  # type: ignore[return-value]
        known, values = fold(self.module, choices)
        if not known or not isinstance(values, list | tuple):
            return None, item
        self.module.constants[id(key)] = values
        return self._constant_options(node, item, values), self._option_type(item, values)

    def _option_type(self, item: ExpressionType, values: Sequence[Value]) -> ExpressionType:
        arms = _literals(values)
        if arms is None or is_enum(item, self.module.table) is not None:
            return item
        return arms[0] if len(arms) == 1 else Alternatives(arms)

    def _constant_options(
        self, node: ast.Choose | ast.Select, item: ExpressionType, values: Sequence[Value]
    ) -> Type | None:
        texts: dict[str, int] = {}
        for place, value in enumerate(values):
            text = print_value(value, item, self.module.table) if self.facts.sound(item) else str(value)  # type: ignore[arg-type]
            if text in texts:
                listed = node.choices
                span = listed.items[place].span if isinstance(listed, ast.ListDisplay) else listed.span
                self.module.report(
                    "E0334",
                    f'option "{text}" is listed twice',
                    span,
                    label="again",
                    reason="the two could not be told apart",
                )
                return UNKNOWN  # type: ignore[return-value]
            if text == "":
                self.module.report(
                    "E0334", "an option cannot be empty", node.choices.span, label="empty text"
                )
                return UNKNOWN  # type: ignore[return-value]
            texts[text] = place
        enum = is_enum(item, self.module.table)
        if enum is not None and len(values) == len(enum.members):
            return item  # type: ignore[return-value]
        arms = _literals(values)
        return arms if arms is None else arms[0] if len(arms) == 1 else Alternatives(arms)


def _literals(values: Sequence[Value]) -> tuple[Constant, ...] | None:
    """The options as literal types; None if one of them cannot be one."""
    arms = tuple(Constant(value) for value in values if isinstance(value, str | int | bool | Decimal))
    return arms if len(arms) == len(values) else None
