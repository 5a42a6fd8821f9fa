"""Parts of values by name: fields, members of a type, methods without arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import (
    BranchOf,
    BuiltinSymbol,
    ErrorOf,
    ExpressionType,
    Never,
    PartSymbol,
    ScoredOf,
    Unknown,
    VariantSymbol,
)
from sglc.check.expressions.builtin_results import BuiltinResults, methods_of
from sglc.check.expressions.inference import Inference
from sglc.check.expressions.references import References
from sglc.check.names.builtins import (
    SCORED_ATTRIBUTES,
    STR_METHODS,
)
from sglc.check.names.errors import caught_parts
from sglc.check.names.foreign_names import kind_of, size_advice
from sglc.check.names.hole_figures import HoleFigures
from sglc.check.names.scopes import Scopes, path_of
from sglc.check.names.unknown_names import is_hole_of
from sglc.check.types.assignability import join
from sglc.check.types.kinds import FLOAT, NEVER, STR, UNKNOWN, expand, field_type, is_enum, said
from sglc.diagnostics.diagnostic import Edit
from sglc.immutable import node
from sglc.syntax.tree import ast
from sglc.types.type import (
    Alternatives,
    Constant,
    Json,
    ListOf,
    Named,
    Optional,
    RecordType,
    Str,
    Type,
    UnionType,
)

if TYPE_CHECKING:
    from sglc.types.grammar_text import Count


@node
class Attributes:
    """`value.label`: fields, parts, and methods without arguments."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    references: References
    results: BuiltinResults
    figures: HoleFigures

    def attribute(self, node: ast.Attribute) -> ExpressionType:
        """The type of `value.label`."""
        label = node.name.text
        if isinstance(node.value, ast.Reference):
            found = self._through_type(node, node.value, label)
            if found is not None:
                return found
            if is_hole_of(self.scopes, node.value, label):
                self.module.report(
                    "E0315",
                    f"`{node.value.name}` is a function; its hole is the variable `{label}`",
                    node.span,
                    label="bound in this function",
                    hint=f"write `{label}`",
                    edits=(Edit(node.span, label),),
                )
                return UNKNOWN
        owner = self.inference.infer(node.value)
        figure = self.figures.figure(node)
        if figure is not None:
            return figure
        scores = self.figures.scores(node)
        if scores is not None:
            return self._attribute_of(node, scores, label)
        path = path_of(node)
        narrowed = None if path is None else self.scopes.function.scope.narrowing(path)
        if narrowed is None:
            return self._attribute_of(node, owner, label)
        if isinstance(expand(owner, self.module.table), Str):
            self._attribute_of(node, owner, label)
        return narrowed

    def _through_type(self, node: ast.Attribute, value: ast.Reference, label: str) -> ExpressionType | None:
        """`Mood.calm`: a member or variant named through its type."""
        name = value.name
        if self.scopes.function.scope.find(name) is not None:
            return None
        entity = self.module.names.get(name)
        if entity is None or entity.kind != "type":
            return None
        entity = self.module.look_up(name)
        assert entity is not None
        entity.used = True
        declared = self.module.table.get(entity.name)
        enum = is_enum(Named(entity.name), self.module.table)
        if enum is not None:
            if self.scopes.is_member(enum, label):
                return self.references.member(node, enum.name, label)
            close = self.module.nearest(label, list(enum.members))
            self.module.report(
                "E0209",
                f"`{name}` has no member `{label}`",
                node.name.span,
                label="unknown member",
                hint=f"did you mean `{close}`?" if close else "it has " + ", ".join(enum.members[:8]),
                edits=(Edit(node.name.span, close),) if close and close.lower() == label.lower() else (),
            )
            return UNKNOWN
        if isinstance(declared, UnionType):
            if declared.variant(label) is not None:
                self.module.symbols[id(node)] = VariantSymbol(declared.name, label)
                self.module.report(
                    "E0315",
                    f"`{label}` makes a value only when called",
                    node.span,
                    label="a variant",
                    hint=f"write `{name}.{label}(…)`",
                )
                return UNKNOWN
        self.module.report(
            "E0315", f"`{name}` is a type, not a value", value.span, label="a value is due here"
        )
        return UNKNOWN

    def _attribute_of(self, node: ast.Attribute, owner: ExpressionType, label: str) -> ExpressionType:
        """Type of `value.label` where the value has type `owner`."""
        plain = expand(owner, self.module.table)
        if isinstance(plain, Unknown | Never):
            return UNKNOWN
        found = self._part(node, owner, plain, label)
        if found is not None:
            return found
        row = methods_of(self.module.table, plain).get(label)
        if row is None:
            return self._no_part(node, owner, plain, label)
        if all(kind.endswith("?") for _, kind in row.parameters):
            self.module.symbols[id(node)] = BuiltinSymbol("." + label)
            self.module.arguments[id(node)] = ()
            return self.results.result(row, owner, (), node)
        self.module.report(
            "E0315", f"`.{label}` is a method", node.name.span, label="call it", hint=f"write `.{label}(…)`"
        )
        return UNKNOWN

    def _part(
        self, node: ast.Attribute, owner: ExpressionType, plain: ExpressionType, label: str
    ) -> ExpressionType | None:
        """The type of a part that is no method; None where there is none of that name."""
        match plain:
            case Named(name):
                declared = self.module.table.get(name)
                if isinstance(declared, UnionType):
                    return self._variant_field(node, declared, label)
                if isinstance(declared, RecordType):
                    return next((field_type(f) for f in declared.fields if f.name == label), None)
            case BranchOf() | ErrorOf():
                return self._fields(plain).get(label)
            case ScoredOf(option) if label in SCORED_ATTRIBUTES:
                return option if label == "top" else FLOAT
            case Str(grammar=grammar) if grammar and label not in STR_METHODS:
                from sglc.types.grammar_text import part_type

                part = part_type(grammar, label)
                return None if part is None else self._grammar_part(node, grammar, label, *part)
            case Alternatives(arms):
                return self._arm_field(node, owner, arms, label)
            case Optional(item) if not isinstance(self._quiet_attribute(node, item, label), Unknown):
                self.module.report(
                    "E0316",
                    f"this may be null, which has no `{label}`",
                    node.name.span,
                    label="not on null",
                    hint="test it first: `if x != null: …`",
                )
                return UNKNOWN
        return None

    def _fields(self, plain: ExpressionType) -> dict[str, ExpressionType]:
        """The parts of a record, branch or error by their names."""
        match plain:
            case Named(name):
                declared = self.module.table.get(name)
                if isinstance(declared, RecordType):
                    return {field.name: field_type(field) for field in declared.fields}
            case BranchOf(value, holes):
                return {"value": value, **{name: type for name, type in holes if name != "value"}}
            case ErrorOf(error):
                own = {} if error is None else caught_parts(self.module.program, error)
                return {"name": STR, "message": STR, **own}
        return {}

    def _no_part(
        self, node: ast.Attribute, owner: ExpressionType, plain: ExpressionType, label: str
    ) -> ExpressionType:
        """Report a part that there is not."""
        names = list(self._fields(plain))
        if isinstance(plain, ScoredOf):
            names = [*SCORED_ATTRIBUTES]
        elif isinstance(plain, Str) and plain.grammar:
            from sglc.types.grammar_text import read_grammar

            names = list(read_grammar(plain.grammar)[1].rules)
        close = self.module.nearest(label, [*names, *methods_of(self.module.table, plain)])
        hint = f"did you mean `{close}`?" if close else ""
        if not hint and names:
            hint = "it has " + ", ".join(f"`{n}`" for n in names[:8])
        whose = self._function_with_hole(label)
        if whose and not names:
            hint = (
                f"`{label}` is a hole of `{whose.rsplit('.', 1)[-1]}`: only what a function returns leaves it"
            )
        if isinstance(plain, Json):
            hint = f'write `x["{label}"]`, or give it a type: `let y: T = x`'
        advice = size_advice(node, kind_of(plain, self.module.table))
        self.module.report(
            "E0209",
            f"{said(owner)} has no `{label}`",
            node.name.span,
            label="unknown field or method",
            hint=hint if advice is None else advice.hint,
            edits=() if advice is None else advice.edits,
        )
        return UNKNOWN

    def _function_with_hole(self, name: str) -> str:
        """The first function in sight with a hole of a name; empty if none has one."""
        signatures = self.module.program.signatures
        functions = (each.name for each in self.module.names.values() if each.kind == "function")
        return next((f for f in functions if f in signatures and name in signatures[f].holes), "")

    def _grammar_part(
        self, node: ast.Attribute, grammar: str, rule: str, part: str, count: Count
    ) -> ExpressionType:
        """`sql.table`: what the rule wrote, a text of a grammar itself."""
        self.module.symbols[id(node)] = PartSymbol(grammar, rule, count)
        type = Str(grammar=part)
        return ListOf(type) if count == "many" else Optional(type) if count == "optional" else type

    def _quiet_attribute(self, node: ast.Attribute, owner: ExpressionType, label: str) -> ExpressionType:
        mark = len(self.module.diagnostics)
        found = self._attribute_of(node, owner, label)
        del self.module.diagnostics[mark:]
        return found

    def _arm_field(
        self, node: ast.Attribute, owner: ExpressionType, arms: tuple[Type, ...], label: str
    ) -> ExpressionType:
        """A part of `A | B` can be read where all arms have it, with one type or the literals of several."""
        found = [self._quiet_attribute(node, arm, label) for arm in arms]
        if not any(isinstance(one, Unknown) for one in found):
            whole: ExpressionType | None = NEVER
            for one in found:
                whole = None if whole is None else join(whole, one, self.module.table)
            plain = [expand(one, self.module.table) for one in found]
            if all(isinstance(one, Constant) for one in plain):
                return Alternatives(tuple(dict.fromkeys(plain)))  # type: ignore[arg-type]
            if whole is not None:
                return whole
        having = [said(arm) for arm, one in zip(arms, found, strict=True) if not isinstance(one, Unknown)]
        whose = f"not every {said(owner)} has" if having else f"{said(owner)} has no"
        self.module.report(
            "E0209",
            f"{whose} `{label}`",
            node.name.span,
            label="not in all of its arms" if having else "unknown field or method",
            hint=f"`match` on it: only {', '.join(having)} {'has' if len(having) == 1 else 'have'} it"
            if having
            else "",
        )
        return UNKNOWN

    def _variant_field(self, node: ast.Attribute, union: UnionType, label: str) -> ExpressionType:
        """A field of a union can be read only where all variants have it, with one type."""
        types = [[f for f in variant.fields if f.name == label] for variant in union.variants]
        if types and all(types):
            whole: ExpressionType | None = NEVER
            for fields in types:
                whole = None if whole is None else join(whole, field_type(fields[0]), self.module.table)
            if whole is not None:
                return whole
        having = [v.name for v, fields in zip(union.variants, types, strict=True) if fields]
        if having:
            hint = (
                f"`match` on it: only {', '.join(having)} {'has' if len(having) == 1 else 'have'} this field"
            )
        else:
            every = sorted({field.name for variant in union.variants for field in variant.fields})
            close = self.module.nearest(label, every)
            hint = f"did you mean `{close}`?" if close else ""
        short = union.name.rsplit(".", 1)[-1]
        self.module.report(
            "E0209",
            f"not every `{short}` has `{label}`" if having else f"`{short}` has no `{label}`",
            node.name.span,
            label="not a field of all variants" if having else "unknown field",
            hint=hint,
        )
        return UNKNOWN
