"""What names and parts of values mean: variables, members, fields, items."""

from __future__ import annotations

from typing import Any

from sglc.check.core.result import (
    BranchOf,
    BuiltinSymbol,
    ConstantSymbol,
    ElementSymbol,
    ErrorOf,
    ExpressionType,
    ListValue,
    LocalSymbol,
    Never,
    PartSymbol,
    ScoredOf,
    Unknown,
    VariantSymbol,
)
from sglc.check.core.state import Local
from sglc.check.names.builtins import (
    LIST_METHODS,
    MAP_METHODS,
    SCORED_ATTRIBUTES,
    SCORED_METHODS,
    STR_METHODS,
    Builtin,
)
from sglc.check.names.declarations import WORDS
from sglc.check.names.foreign_names import kind_of, size_advice
from sglc.check.names.scopes import path_of
from sglc.check.names.unknown_names import UnknownNames
from sglc.check.types.assignability import (
    FLOAT,
    INT,
    JSON,
    NEVER,
    STR,
    UNKNOWN,
    allows_null,
    expand,
    is_enum,
    is_text,
    item_of,
    join,
    list_of,
    numeric_rank,
    said,
    without_null,
)
from sglc.diagnostics.diagnostic import Edit
from sglc.diagnostics.suggest import nearest
from sglc.syntax import ast
from sglc.types.grammar_text import Count, part_type, read_grammar
from sglc.types.type import (
    Alternatives,
    Constant,
    FieldType,
    Json,
    ListOf,
    MapOf,
    Named,
    Null,
    Optional,
    RecordType,
    Str,
    TupleOf,
    Type,
    UnionType,
)
from sglc.types.values import EnumValue


class Names(UnknownNames):
    """Reads mark a variable as used and tell the collectors that are open."""

    def _reference(self, node: ast.Reference, expected: ExpressionType | None) -> ExpressionType:
        name = node.name
        function = self.function
        if function.element is not None:
            element, fields = function.element
            if name == "it":
                self.symbols[id(node)] = ElementSymbol(None)
                return element
            if name in fields:
                self.symbols[id(node)] = ElementSymbol(name)
                return fields[name]
        local = function.scope.find(name)
        if local is not None:
            return self.read(node, local)
        if expected is not None:
            enum = is_enum(without_null(expected, self.table), self.table)
            if enum is not None and self.is_member(enum, name):
                return self._member(node, enum.name, name)
        entity = self.look_up(name)
        owners = self.module.members.get(name)
        if entity is not None and (owners is None or entity.kind == "const"):
            entity.used = True
            return self._entity(node, name, entity)
        if owners is not None:
            if len(owners) > 1:
                self.program.report(
                    "E0208",
                    f"`{name}` is a member of {len(owners)} enums",
                    node.span,
                    label="which one?",
                    hint="write " + " or ".join(f"`{o.rsplit('.', 1)[-1]}.{name}`" for o in owners),
                )
                return UNKNOWN
            return self._member(node, owners[0], name)
        if name in self.module.variants:
            return self.variant_reference(node, name, expected)
        return self.unbound(node, name)

    def variant_reference(
        self, node: ast.Reference, name: str, expected: ExpressionType | None
    ) -> ExpressionType:
        """A variant named without parentheses."""
        self.program.report(
            "E0315", f"`{name}` makes a value only when called", node.span, label="a variant",
            hint=f"write `{name}(…)` with its fields, `{name}()` if it has none",
        )  # fmt: skip
        return UNKNOWN

    def read(self, node: ast.Reference, local: Local) -> ExpressionType:
        local.used = True
        for collector in self.function.mentioned:
            collector.add(local)
        self.symbols[id(node)] = LocalSymbol(local.name, local.slot)
        return self.function.scope.narrowing(local.name) or local.type

    def _member(self, node: ast.Expression, enum: str, member: str) -> ExpressionType:
        value = EnumValue(enum, member)
        self.symbols[id(node)] = ConstantSymbol(value)
        self._use(enum)
        return Named(enum)

    def _use(self, name: str) -> None:
        entity = self.module.names.get(name.rsplit(".", 1)[-1])
        if entity is not None and entity.name == name:
            entity.used = True
            return
        for other in self.module.names.values():
            if other.name == name:
                other.used = True

    def _entity(self, node: ast.Reference, name: str, entity: Any) -> ExpressionType:
        if entity.kind == "const":
            found = self.program.checkers[id(entity.module)].constant(entity)
            if found is None:
                return UNKNOWN
            type, value = found
            self.symbols[id(node)] = ConstantSymbol(value)
            return type
        if entity.kind == "broken":
            return UNKNOWN
        hint = f"call it: `{name}(…)`" if entity.kind == "function" else ""
        if entity.kind == "type":
            hint = f"make a value of it: `{name}(…)`"
        self.program.report(
            "E0315", f"`{name}` is {WORDS[entity.kind]}, not a value", node.span, label="a value is due here",
            hint=hint,
        )  # fmt: skip
        return UNKNOWN

    def _attribute(self, node: ast.Attribute, expected: ExpressionType | None) -> ExpressionType:
        label = node.name.text
        if isinstance(node.value, ast.Reference):
            found = self._through_type(node, node.value, label)
            if found is not None:
                return found
            if self.is_hole_of(node.value, label):
                self.program.report(
                    "E0315",
                    f"`{node.value.name}` is a function; its hole is the variable `{label}`",
                    node.span,
                    label="bound in this function",
                    hint=f"write `{label}`",
                    edits=(Edit(node.span, label),),
                )
                return UNKNOWN
        owner = self.infer(node.value)
        path = path_of(node)
        narrowed = None if path is None else self.function.scope.narrowing(path)
        if narrowed is None:
            return self.attribute_of(node, owner, label)
        if isinstance(expand(owner, self.table), Str):
            self.attribute_of(node, owner, label)
        return narrowed

    def _through_type(self, node: ast.Attribute, value: ast.Reference, label: str) -> ExpressionType | None:
        """`Mood.calm`: a member or variant named through its type."""
        name = value.name
        if self.function.scope.find(name) is not None:
            return None
        entity = self.module.names.get(name)
        if entity is None or entity.kind != "type":
            return None
        entity = self.look_up(name)
        assert entity is not None
        entity.used = True
        declared = self.table.get(entity.name)
        enum = is_enum(Named(entity.name), self.table)
        if enum is not None:
            if self.is_member(enum, label):
                return self._member(node, enum.name, label)
            close = nearest(label, list(enum.members))
            self.program.report(
                "E0209", f"`{name}` has no member `{label}`", node.name.span, label="unknown member",
                hint=f"did you mean `{close}`?" if close else "it has " + ", ".join(enum.members[:8]),
                edits=(Edit(node.name.span, close),) if close and close.lower() == label.lower() else (),
            )  # fmt: skip
            return UNKNOWN
        if isinstance(declared, UnionType):
            for variant in declared.variants:
                if variant.name == label:
                    self.symbols[id(node)] = VariantSymbol(declared.name, label)
                    self.program.report(
                        "E0315", f"`{label}` makes a value only when called", node.span, label="a variant",
                        hint=f"write `{name}.{label}(…)`",
                    )  # fmt: skip
                    return UNKNOWN
        self.program.report(
            "E0315", f"`{name}` is a type, not a value", value.span, label="a value is due here"
        )
        return UNKNOWN

    def attribute_of(self, node: ast.Attribute, owner: ExpressionType, label: str) -> ExpressionType:
        """Type of `value.label` where the value has type `owner`."""
        span = node.name.span
        plain = expand(owner, self.table)
        methods: dict[str, Builtin] = {}
        names: list[str] = []
        match plain:
            case Unknown() | Never():
                return UNKNOWN
            case Named(name):
                declared = self.table.get(name)
                if isinstance(declared, RecordType):
                    for field in declared.fields:
                        if field.name == label:
                            return field_type(field)
                    names = [field.name for field in declared.fields]
                elif isinstance(declared, UnionType):
                    return self._variant_field(node, declared, label)
            case BranchOf(value, holes):
                if label == "value":
                    return value
                for hole, type in holes:
                    if hole == label:
                        return type
                names = ["value", *(hole for hole, _ in holes)]
            case ScoredOf(option):
                if label in SCORED_ATTRIBUTES:
                    return option if label == "top" else FLOAT
                methods, names = SCORED_METHODS, [*SCORED_ATTRIBUTES]
            case ErrorOf(error):
                fields: dict[str, ExpressionType] = {"name": STR, "message": STR}
                if error is not None:
                    fields.update({f: t for f, t, _ in self.error_fields(error).fields})
                if label in fields:
                    return fields[label]
                names = list(fields)
            case Str(grammar=grammar):
                methods = STR_METHODS
                if grammar:
                    part = None if label in methods else part_type(grammar, label)
                    if part is not None:
                        return self._grammar_part(node, grammar, label, *part)
                    names = list(read_grammar(grammar)[1].rules)
            case ListOf() | ListValue():
                methods = LIST_METHODS
            case MapOf():
                methods = MAP_METHODS
            case Alternatives(arms):
                return self._arm_field(node, owner, arms, label)
            case Optional(item):
                if not isinstance(self._quiet_attribute(node, item, label), Unknown):
                    self.program.report(
                        "E0316", f"this may be null, which has no `{label}`", span, label="not on null",
                        hint="test it first: `if x != null: …`",
                    )  # fmt: skip
                    return UNKNOWN
        if is_text(plain, self.table):
            methods = STR_METHODS
        row = methods.get(label)
        if row is not None:
            if all(kind.endswith("?") for _, kind in row.parameters):
                self.symbols[id(node)] = BuiltinSymbol("." + label)
                self.module.arguments[id(node)] = ()
                return self.method_result(row, owner, (), node)
            self.program.report(
                "E0315", f"`.{label}` is a method", span, label="call it", hint=f"write `.{label}(…)`"
            )
            return UNKNOWN
        pool = [*names, *methods]
        close = nearest(label, pool)
        hint = f"did you mean `{close}`?" if close else ""
        if not hint and names:
            hint = "it has " + ", ".join(f"`{n}`" for n in names[:8])
        whose = next((s.name for s in self.program.signatures.values() if label in s.holes), "")
        if whose and not names:
            hint = (
                f"`{label}` is a hole of `{whose.rsplit('.', 1)[-1]}`: only what a function returns leaves it"
            )
        if isinstance(expand(owner, self.table), Json):
            hint = f'write `x["{label}"]`, or give it a type: `let y: T = x`'
        advice = size_advice(node, kind_of(expand(owner, self.table), self.table))
        self.program.report(
            "E0209", f"{said(owner)} has no `{label}`", span, label="unknown field or method",
            hint=hint if advice is None else advice.hint, edits=() if advice is None else advice.edits,
        )  # fmt: skip
        return UNKNOWN

    def _grammar_part(
        self, node: ast.Attribute, grammar: str, rule: str, part: str, count: Count
    ) -> ExpressionType:
        """`sql.table`: what the rule wrote, a text of a grammar itself."""
        self.symbols[id(node)] = PartSymbol(grammar, rule, count)
        type = Str(grammar=part)
        return ListOf(type) if count == "many" else Optional(type) if count == "optional" else type

    def _quiet_attribute(self, node: ast.Attribute, owner: ExpressionType, label: str) -> ExpressionType:
        mark = len(self.program.diagnostics)
        found = self.attribute_of(node, owner, label)
        del self.program.diagnostics[mark:]
        return found

    def _arm_field(
        self, node: ast.Attribute, owner: ExpressionType, arms: tuple[Type, ...], label: str
    ) -> ExpressionType:
        """A part of `A | B` can be read where all arms have it, with one type or the literals of several."""
        found = [self._quiet_attribute(node, arm, label) for arm in arms]
        if not any(isinstance(one, Unknown) for one in found):
            whole: ExpressionType | None = NEVER
            for one in found:
                whole = None if whole is None else join(whole, one, self.table)
            plain = [expand(one, self.table) for one in found]
            if all(isinstance(one, Constant) for one in plain):
                return Alternatives(tuple(dict.fromkeys(plain)))  # type: ignore[arg-type]
            if whole is not None:
                return whole
        having = [said(arm) for arm, one in zip(arms, found, strict=True) if not isinstance(one, Unknown)]
        whose = f"not every {said(owner)} has" if having else f"{said(owner)} has no"
        self.program.report(
            "E0209", f"{whose} `{label}`",
            node.name.span, label="not in all of its arms" if having else "unknown field or method",
            hint=f"`match` on it: only {', '.join(having)} {'has' if len(having) == 1 else 'have'} it"
            if having else "",
        )  # fmt: skip
        return UNKNOWN

    def _variant_field(self, node: ast.Attribute, union: UnionType, label: str) -> ExpressionType:
        """A field of a union can be read only where all variants have it, with one type."""
        types = [[f for f in variant.fields if f.name == label] for variant in union.variants]
        if types and all(types):
            whole: ExpressionType | None = NEVER
            for fields in types:
                whole = None if whole is None else join(whole, field_type(fields[0]), self.table)
            if whole is not None:
                return whole
        having = [v.name for v, fields in zip(union.variants, types, strict=True) if fields]
        if having:
            hint = (
                f"`match` on it: only {', '.join(having)} {'has' if len(having) == 1 else 'have'} this field"
            )
        else:
            every = sorted({field.name for variant in union.variants for field in variant.fields})
            close = nearest(label, every)
            hint = f"did you mean `{close}`?" if close else ""
        short = union.name.rsplit(".", 1)[-1]
        self.program.report(
            "E0209", f"not every `{short}` has `{label}`" if having else f"`{short}` has no `{label}`",
            node.name.span, label="not a field of all variants" if having else "unknown field", hint=hint,
        )  # fmt: skip
        return UNKNOWN

    def method_result(
        self, row: Builtin, owner: ExpressionType, arguments: tuple[ExpressionType, ...], node: ast.Expression
    ) -> ExpressionType:
        """Result type of a method. See `Calls`."""
        raise KeyError(row.name)

    def _index(self, node: ast.Index, expected: ExpressionType | None) -> ExpressionType:
        owner = self.infer(node.value)
        plain = expand(owner, self.table)
        match plain:
            case Unknown() | Never():
                self.infer(node.index)
                return UNKNOWN
            case ListOf(item) | ListValue(item):
                self.expect(node.index, INT, "the place in a list")
                known, place = self.fold(node.index)
                maximum = getattr(plain, "maximum", None)
                if (
                    known
                    and isinstance(place, int)
                    and maximum is not None
                    and not -maximum <= place < maximum
                ):
                    self.program.report(
                        "E0317", f"this list has at most {maximum} items", node.index.span,
                        label=f"place {place} is never there", reason="places are counted from 0",
                    )  # fmt: skip
                return item
            case MapOf(_, value):
                self.expect(node.index, STR, "the key of a map")
                return value
            case Named(name) if isinstance(self.table.get(name), RecordType):
                return self._named_field(node, name)
            case Json():
                found = self.infer(node.index)
                whole = numeric_rank(found, self.table) == 0
                if not (whole or is_text(found, self.table) or isinstance(found, Unknown)):
                    self.mismatch(node.index.span, found, STR, "the key or place in a JSON value")
                return JSON
            case TupleOf(items):
                self.expect(node.index, INT, "the place in a tuple")
                known, place = self.fold(node.index)
                if not known or not isinstance(place, int):
                    if len(set(items)) == 1:
                        return items[0]
                    self.program.report(
                        "E0317", "the place in a tuple must be a constant", node.index.span,
                        label="not known here", reason="its items have different types",
                    )  # fmt: skip
                    return UNKNOWN
                if not -len(items) <= place < len(items):
                    self.program.report(
                        "E0317", f"this tuple has {len(items)} items", node.index.span,
                        label=f"place {place} is not there", reason="places are counted from 0",
                    )  # fmt: skip
                    return UNKNOWN
                return items[place]
        self.infer(node.index)
        if is_text(plain, self.table):
            self.expect(node.index, INT, "the place in a text")
            return STR
        return self._no_items(node, owner)

    def _no_items(self, node: ast.Index, owner: ExpressionType) -> ExpressionType:
        self.program.report(
            "E0318", f"{said(owner)} has no items", node.span, label="cannot be indexed",
            hint="it may be null: test it first" if allows_null(owner, self.table) else "",
        )  # fmt: skip
        return UNKNOWN

    def _named_field(self, node: ast.Index, name: str) -> ExpressionType:
        """`row["unit price"]`: a field whose name is no word."""
        known, key = self.fold(node.index)
        record = self.table[name]
        assert isinstance(record, RecordType)
        names = {field.name: field for field in record.fields}
        index = self.infer(node.index)
        if not isinstance(index, Unknown) and not is_text(index, self.table):
            return self._no_items(node, Named(name))
        if known and isinstance(key, str) and key in names:
            return field_type(names[key])
        close = nearest(key, list(names)) if known and isinstance(key, str) else None
        self.program.report(
            "E0209", f"{said(Named(name))} has no such field", node.index.span,
            label="unknown field" if known else "not known when the program is compiled",
            hint=f'did you mean "{close}"?' if close else "",
        )  # fmt: skip
        return UNKNOWN

    def _slice(self, node: ast.Slice, expected: ExpressionType | None) -> ExpressionType:
        owner = self.infer(node.value)
        for end in (node.start, node.stop):
            if end is not None:
                self.expect(end, INT, "the end of a slice")
        item = item_of(owner, self.table)
        if item is not None:
            return list_of(item)
        if is_text(owner, self.table) or isinstance(owner, Unknown):
            return STR if not isinstance(owner, Unknown) else UNKNOWN
        self.program.report("E0318", f"{said(owner)} cannot be sliced", node.span, label="no list, no text")
        return UNKNOWN


def field_type(field: FieldType) -> Type:
    """Type of a field when it is read: null where it may be absent."""
    if field.optional and not field.has_default and not isinstance(field.type, Optional | Null):
        return Optional(field.type)
    return field.type
