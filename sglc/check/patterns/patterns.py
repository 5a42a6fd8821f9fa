"""What each pattern of a `match` means for the type of its subject, and what it binds."""

from __future__ import annotations

from decimal import Decimal

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import (
    ConstantSymbol,
    ExpressionType,
    RecordSymbol,
    TypeSymbol,
    Unknown,
    VariantSymbol,
)
from sglc.check.names.scopes import Scopes
from sglc.check.patterns.case_forms import WILD, AnyOf, Constructed, Form, NumberRange, OfType
from sglc.check.patterns.constructors import RecordKey
from sglc.check.types.assignability import comparable
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import (
    BOOL,
    STR,
    UNKNOWN,
    allows_null,
    expand,
    field_type,
    is_enum,
    numeric,
    numeric_rank,
    said,
)
from sglc.check.types.resolve import BUILTIN_TYPES
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Alternatives, EnumType, Named, Optional, RecordType, TupleOf, Type, UnionType
from sglc.types.values import EnumValue


@node
class Patterns:
    """A pattern that was understood has its meaning in the module's table."""

    module: ModuleContext
    facts: TypeFacts
    scopes: Scopes

    def form(self, node: ast.Pattern, type: ExpressionType, binds: bool = True) -> Form:
        """Check a pattern against the subject's type; what it matches, for the search of missing cases."""
        match node:
            case ast.WildcardPattern():
                return WILD
            case ast.LiteralPattern(value):
                return self._literal(node, value, type)
            case ast.RangePattern():
                return self._range(node, type)
            case ast.NamePattern(name):
                return self._name(node, name, type, binds)
            case ast.ConstructorPattern():
                return self._constructor(node, type, binds)
            case ast.AlternativesPattern(patterns):
                return AnyOf(tuple(self.form(part, type, False) for part in patterns))
            case ast.SequencePattern(items):
                return self._sequence(node, items, type, binds)

    def _literal(
        self, node: ast.LiteralPattern, value: str | int | Decimal | bool | None, type: ExpressionType
    ) -> Form:
        if isinstance(type, Unknown):
            return WILD
        if value is None:
            if not allows_null(type, self.module.table):
                self._never(node.span, f"{said(type)} is never null")
            return Constructed(None)
        own: Type = BOOL if isinstance(value, bool) else STR
        if not isinstance(value, str | bool):
            own = numeric(1 if isinstance(value, Decimal) else 0)
        if not comparable(own, type, self.module.table):
            enum = is_enum(type, self.module.table)
            hint = f"write the member without quotes: `{value}`" if enum and value in enum.members else ""
            self._never(node.span, f"{said(own)} is never equal to {said(type)}", hint)
            return WILD
        words = self._words(type) if isinstance(value, str) else None
        if words is not None and value not in words and is_enum(type, self.module.table) is None:
            close = self.module.nearest(str(value), words)
            self._never(
                node.span, f'"{value}" is none of {said(type)}', f'did you mean "{close}"?' if close else ""
            )
            return Constructed(value)
        if isinstance(value, Decimal) and numeric_rank(type, self.module.table) == 0:
            self._never(node.span, "an int never has a fraction")
        return Constructed(value)

    def _words(self, type: ExpressionType) -> dict[str, None] | None:
        """All values of a type as texts, where it has few."""
        key = ("words", id(type))
        known = self.module.program.memo.get(key)
        if known is None:
            words = self.facts.words(type)
            known = self.module.program.memo[key] = (type, None if words is None else dict.fromkeys(words))
        return known[1]

    def _never(self, span: Span, reason: str, hint: str = "") -> None:
        self.module.report(
            "E0335", "this pattern never matches", span, label="no such value", reason=reason, hint=hint
        )

    def _range(self, node: ast.RangePattern, type: ExpressionType) -> Form:
        if isinstance(type, Unknown):
            return WILD
        low, high = node.minimum, node.maximum
        if low is not None and high is not None and (low > high or (node.below and low == high)):
            self._never(
                node.span,
                "the range is empty",
                f"write `{high}..{low}`" if low > high else f"`{low}..{high}` includes {high}",
            )
        elif numeric_rank(self.not_null(type), self.module.table) is None:
            self._never(node.span, f"{said(type)} is no number")
            return WILD
        return NumberRange(low, high, node.below)

    def not_null(self, type: ExpressionType) -> ExpressionType:
        """The type without null."""
        plain = expand(type, self.module.table)
        return plain.item if isinstance(plain, Optional) else type

    def _arms(self, type: ExpressionType) -> list[ExpressionType]:
        plain = expand(type, self.module.table)
        if isinstance(plain, Optional):
            return self._arms(plain.item)
        if isinstance(plain, Alternatives):
            return [inner for arm in plain.arms for inner in self._arms(arm)]
        return [type]

    def _cases_by_name(
        self, type: ExpressionType
    ) -> dict[str, tuple[EnumType | UnionType, RecordType | None]]:
        """The members of enums and the variants of unions that a value can be, by their names."""
        key = ("cases", id(type))
        known = self.module.program.memo.get(key)
        if known is None:
            found: dict[str, tuple[EnumType | UnionType, RecordType | None]] = {}
            for arm in self._arms(type):
                plain = expand(arm, self.module.table)
                declared = self.module.table.get(plain.name) if isinstance(plain, Named) else None
                if isinstance(declared, EnumType):
                    for member in declared.members:
                        found.setdefault(member, (declared, None))
                elif isinstance(declared, UnionType):
                    for variant in declared.variants:
                        found.setdefault(variant.name, (declared, variant))
            # The type is kept too, so that no other one gets its identity.
            known = self.module.program.memo[key] = (type, found)
        return known[1]

    def _name(self, node: ast.NamePattern, name: ast.Name, type: ExpressionType, binds: bool) -> Form:
        label = name.text
        cases = self._cases_by_name(type)
        if label in cases:
            declared, variant = cases[label]
            self.module.use(declared.name)
            if variant is None:
                self.module.symbols[id(node)] = ConstantSymbol(EnumValue(declared.name, label))
            else:
                self.module.symbols[id(node)] = VariantSymbol(declared.name, label)
            return Constructed((declared.name, label))
        found = self._type(node, label, type)
        if found is not None:
            return found
        entity = self.module.look_up(label)
        if entity is not None and entity.kind == "const":
            entity.used = True
            constant = self.module.program.reader_of(entity).constant(entity)
            if constant is None:
                return WILD
            self.module.symbols[id(node)] = ConstantSymbol(constant[1])
            value = constant[1]
            if isinstance(value, EnumValue):
                return Constructed((value.enum, value.name))
            return Constructed(value) if isinstance(value, str | int | Decimal) else Constructed(object())
        members = list(cases)
        close = self.module.nearest(label, members)
        if members and (close is not None or label[:1].isupper()):
            self._never(
                node.span,
                f"{said(type)} has no `{label}`",
                f"did you mean `{close}`?" if close else "it has " + ", ".join(f"`{m}`" for m in members[:8]),
            )
            return WILD
        known = label in self.module.members or label in self.module.variants
        if isinstance(type, Unknown) and (known or label[:1].isupper()):
            return WILD
        if not binds:
            self.module.report(
                "E0336",
                "a pattern with alternatives binds no names",
                node.span,
                label=f"`{label}` would be bound",
            )
            return WILD
        self.scopes.bind(node, name, type, "binding")
        return WILD

    def _type(self, node: ast.NamePattern, label: str, type: ExpressionType) -> Form | None:
        """A type used as a pattern over `A | B`."""
        target: Type | None = BUILTIN_TYPES.get(label)
        if target is None:
            entity = self.module.names.get(label)
            if entity is None or entity.kind != "type":
                return None
            self.module.look_up(label)
            entity.used = True
            target = Named(entity.name)
        plain = expand(target, self.module.table)
        forms: list[Form] = []
        for arm in self._arms(type):
            inner = expand(arm, self.module.table)
            if inner == plain or (not isinstance(plain, Named) and plain.__class__ is inner.__class__):
                forms.append(OfType(inner.name if isinstance(inner, Named) else inner.__class__))
        if not forms:
            self._never(node.span, f"{said(type)} has no arm {label}")
            return WILD
        self.module.symbols[id(node)] = TypeSymbol(target)
        whole = forms[0] if len(forms) == 1 else AnyOf(tuple(forms))
        return WILD if len(self._arms(type)) == 1 and not allows_null(type, self.module.table) else whole

    def _constructor(self, node: ast.ConstructorPattern, type: ExpressionType, binds: bool) -> Form:
        label = node.name.text
        record: RecordType | None = None
        key: object = None
        cases = self._cases_by_name(type)
        names = [name for name, (_, variant) in cases.items() if variant is not None]
        if cases.get(label, (None, None))[1] is not None:
            union, record = cases[label]
            key = (union.name, label)
            self.module.symbols[id(node)] = VariantSymbol(union.name, label)
            self.module.use(union.name)
        for arm in self._arms(type) if record is None else ():
            plain = expand(arm, self.module.table)
            declared = self.module.table.get(plain.name) if isinstance(plain, Named) else None
            if isinstance(declared, RecordType):
                short = declared.name.rsplit(".", 1)[-1]
                names.append(short)
                entity = self.module.names.get(label)
                if short == label or (entity is not None and entity.name == declared.name):
                    record, key = declared, RecordKey(declared.name)
                    self.module.symbols[id(node)] = RecordSymbol(declared.name)
                    self.module.use(declared.name)
        if record is None:
            for field in node.fields:
                self.form(field.pattern, UNKNOWN, binds)
            if not isinstance(type, Unknown):
                close = self.module.nearest(label, names)
                hint = f"did you mean `{close}`?" if close else ""
                if not hint and names:
                    hint = "it is " + " or ".join(f"`{n}`" for n in names[:8])
                self._never(node.name.span, f"{said(type)} is never `{label}(…)`", hint)
            return WILD
        parts: list[Form] = [WILD] * len(record.fields)
        fields = {field.name: place for place, field in enumerate(record.fields)}
        for field in node.fields:
            place = fields.get(field.name.text)
            if place is None:
                self.form(field.pattern, UNKNOWN, binds)
                close = self.module.nearest(field.name.text, list(fields))
                self.module.report(
                    "E0209",
                    f"`{label}` has no field `{field.name.text}`",
                    field.name.span,
                    label="unknown field",
                    hint=f"did you mean `{close}`?"
                    if close
                    else "it has " + ", ".join(f"`{f}`" for f in fields),
                )
                continue
            parts[place] = self.form(field.pattern, field_type(record.fields[place]), binds)
        return Constructed(key, tuple(parts))

    def _sequence(
        self, node: ast.SequencePattern, items: tuple[ast.Pattern, ...], type: ExpressionType, binds: bool
    ) -> Form:
        plain = expand(self.not_null(type), self.module.table)
        if not isinstance(plain, TupleOf) or len(plain.items) != len(items):
            for item in items:
                self.form(item, UNKNOWN, binds)
            if not isinstance(plain, Unknown):
                self._never(node.span, f"{said(type)} is no tuple of {len(items)} items")
            return WILD
        parts = tuple(self.form(item, due, binds) for item, due in zip(items, plain.items, strict=True))
        return Constructed(TupleOf, parts)
