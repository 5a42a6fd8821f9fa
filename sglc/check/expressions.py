"""Types of expressions.

`infer` gives an expression's own type, with the expected type as a hint for enum members, empty lists and
numbers; `expect` also demands that it fits and notes where a check or widening is left for run time. Every
answer is kept in the module's `types` table. An unknown part has been reported and agrees with everything.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from sglc.check.builtins import (
    LIST_METHODS,
    MAP_METHODS,
    SCORED_ATTRIBUTES,
    SCORED_METHODS,
    STR_METHODS,
    Builtin,
)
from sglc.check.declarations import WORDS, Declarations
from sglc.check.relations import (
    BOOL,
    DEC,
    FLOAT,
    INT,
    NEVER,
    NULL,
    RANGE,
    STR,
    UNKNOWN,
    Fit,
    allows_null,
    comparable,
    expand,
    fit,
    is_bool,
    is_enum,
    is_text,
    item_of,
    join,
    list_of,
    numeric,
    numeric_rank,
    show,
    without_null,
)
from sglc.check.result import (
    BranchOf,
    BuiltinSymbol,
    ConstantSymbol,
    ElementSymbol,
    ErrorOf,
    ExpressionType,
    ListValue,
    LocalSymbol,
    Never,
    RangeOf,
    ScoredOf,
    Unknown,
    VariantSymbol,
)
from sglc.check.state import FunctionState, Local, ModuleState, ProgramState, Scope
from sglc.diagnostics.diagnostic import Label
from sglc.diagnostics.suggest import nearest
from sglc.source import Span
from sglc.syntax import ast
from sglc.types.member import MemberError, check_member
from sglc.types.schema import schema_text
from sglc.types.type import (
    Bool,
    FieldType,
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


class Expressions(Declarations):
    def __init__(self, program: ProgramState, module: ModuleState) -> None:
        super().__init__(program, module)
        self.types = module.types
        self.symbols = module.symbols
        self.function = FunctionState(None, "const")

    # -- doors -------------------------------------------------------------------------------------

    def infer(self, node: ast.Expression, expected: ExpressionType | None = None) -> ExpressionType:
        """The type of an expression; `expected` is a hint, not a demand."""
        found = _METHODS[node.__class__](self, node, expected)
        self.types[id(node)] = found
        return found

    def expect(self, node: ast.Expression, target: ExpressionType, what: str) -> ExpressionType:
        """The type of an expression that must fit `target`; `what` names the place in messages."""
        before = len(self.program.diagnostics)
        found = self.infer(node, target)
        self.fits(node, found, target, what, quiet=len(self.program.diagnostics) > before)
        return found

    def fits(
        self, node: ast.Expression, found: ExpressionType, target: ExpressionType, what: str, quiet: bool = False
    ) -> bool:
        """Demand that an expression of type `found` may stand where `target` is due."""
        answer = fit(found, target, self.table)
        if answer is Fit.ALWAYS:
            return True
        known, value = self.fold(node)
        if known and (answer is Fit.CHECK or _same_shape(found, target, self)):
            reason = self.not_a_member(value, target)
            if reason is None:
                self.module.coercions[id(node)] = target  # type: ignore[assignment]
                return True
            if not quiet:
                self.program.report(
                    "E0302",
                    f"{_shown(value)} is not a value of {show(target)}",
                    node.span,
                    label=f"given for {what}",
                    reason=reason,
                )
            return False
        if answer is Fit.CHECK:
            self.module.coercions[id(node)] = target  # type: ignore[assignment]
            return True
        if not quiet:
            self.mismatch(node.span, found, target, what)
        return False

    def mismatch(self, span: Span, found: ExpressionType, target: ExpressionType, what: str) -> None:
        hint = ""
        if allows_null(found, self.table) and fit(without_null(found, self.table), target, self.table).value:
            hint = "it may be null: test it first, as in `x if x != null else …`"
        elif is_text(target, self.table) and not isinstance(found, BranchOf | ListValue | RangeOf):
            hint = "make a text of it: `str(x)` or \"${x}\""
        elif numeric_rank(target, self.table) is not None and numeric_rank(found, self.table) is not None:
            hint = "convert it: `int(x)` cuts, `round(x)` rounds, `decimal(x)` is exact"
        elif numeric_rank(target, self.table) is not None and is_text(found, self.table):
            hint = f"read it: `{'int' if numeric_rank(target, self.table) == 0 else 'decimal'}(x)`"
        self.program.report(
            "E0301",
            f"{what} is {show(target)}, not {show(found)}",
            span,
            label=f"this is {show(found)}",
            hint=hint,
        )

    def not_a_member(self, value: Any, target: ExpressionType) -> str | None:
        """Why a constant is no member of a type; None if it is one, or the type is faulty already."""
        if isinstance(target, Unknown | Never) or not self.facts.sound(target):  # type: ignore[arg-type]
            return None
        try:
            check_member(value, target, self.table)  # type: ignore[arg-type]
        except MemberError as error:
            path = f"at {error.path}: " if error.path else ""
            return f"{path}{error.reason}"
        return None

    @property
    def facts(self) -> Any:
        return self.program.facts

    # -- literals ----------------------------------------------------------------------------------

    def _number(self, node: ast.Number, expected: ExpressionType | None) -> ExpressionType:
        return DEC if isinstance(node.value, Decimal) else INT

    def _string(self, node: ast.String, expected: ExpressionType | None) -> ExpressionType:
        for part in node.parts:
            if not isinstance(part, str):
                self.displayable(part, self.infer(part))
        return STR

    def displayable(self, node: ast.Expression, found: ExpressionType) -> None:
        """Demand that a value can be written as text."""
        if isinstance(found, RangeOf | BranchOf | ScoredOf | ListValue | ErrorOf):
            hint = ""
            if isinstance(found, ScoredOf):
                hint = "write `.top` for the best option"
            elif isinstance(found, BranchOf):
                hint = "write `.value`, or a hole of the branch by its name"
            elif isinstance(found, ErrorOf):
                hint = "write `.message`"
            self.program.report(
                "E0312", f"{show(found)} has no text", node.span, label="cannot be inserted", hint=hint
            )

    def _boolean(self, node: ast.Boolean, expected: ExpressionType | None) -> ExpressionType:
        return BOOL

    def _null(self, node: ast.Null, expected: ExpressionType | None) -> ExpressionType:
        return NULL

    def _list(self, node: ast.ListDisplay, expected: ExpressionType | None) -> ExpressionType:
        due = None if expected is None else item_of(self._list_arm(expected), self.table)
        if not node.items:
            return ListValue(NEVER)
        whole: ExpressionType = NEVER
        for item in node.items:
            found = self.infer(item, due)
            merged = join(whole, found, self.table)
            if merged is None and due is not None and fit(found, due, self.table).value:
                merged = due
            if merged is None:
                self.program.report(
                    "E0313",
                    f"items of one list are of one type, here {show(whole)} and {show(found)}",
                    item.span,
                    label=f"this is {show(found)}",
                    secondary=(Label(node.items[0].span, f"this is {show(whole)}"),),
                )
                return UNKNOWN
            whole = merged
        if isinstance(whole, Unknown):
            return UNKNOWN
        found = list_of(whole)
        if isinstance(found, ListOf):
            return ListOf(found.item, len(node.items), len(node.items))
        return found

    def _list_arm(self, expected: ExpressionType) -> ExpressionType:
        return without_null(expected, self.table)

    def _tuple(self, node: ast.TupleDisplay, expected: ExpressionType | None) -> ExpressionType:
        due: tuple[ExpressionType | None, ...] = (None,) * len(node.items)
        if expected is not None:
            plain = expand(without_null(expected, self.table), self.table)
            if isinstance(plain, TupleOf) and len(plain.items) == len(node.items):
                due = plain.items
        items = tuple(self.infer(item, want) for item, want in zip(node.items, due, strict=True))
        return UNKNOWN if UNKNOWN in items else TupleOf(items)  # type: ignore[arg-type]

    def _map(self, node: ast.MapDisplay, expected: ExpressionType | None) -> ExpressionType:
        due = None
        if expected is not None:
            plain = expand(without_null(expected, self.table), self.table)
            due = plain.value if isinstance(plain, MapOf) else None
        whole: ExpressionType = NEVER
        seen: dict[str, Span] = {}
        for key, value in node.entries:
            self.expect(key, STR, "a key of a map")
            known, constant = self.fold(key)
            if known and isinstance(constant, str):
                if constant in seen:
                    self.program.report(
                        "E0203",
                        f"key {constant!r} is written twice",
                        key.span,
                        label="again",
                        secondary=(Label(seen[constant], "first written here"),),
                    )
                seen.setdefault(constant, key.span)
            found = self.infer(value, due)
            merged = join(whole, found, self.table)
            if merged is None and due is not None and fit(found, due, self.table).value:
                merged = due
            if merged is None:
                self.program.report(
                    "E0313",
                    f"values of one map are of one type, here {show(whole)} and {show(found)}",
                    value.span,
                    label=f"this is {show(found)}",
                )
                return UNKNOWN
            whole = merged
        if isinstance(whole, Never):
            return expected if due is not None and expected is not None else MapOf(STR, NULL)
        count = len(node.entries)
        return UNKNOWN if isinstance(whole, Unknown) else MapOf(STR, whole, count, count)  # type: ignore[arg-type]

    def _range(self, node: ast.Range, expected: ExpressionType | None) -> ExpressionType:
        self.expect(node.start, INT, "the start of a range")
        self.expect(node.stop, INT, "the end of a range")
        first, low = self.fold(node.start)
        last, high = self.fold(node.stop)
        if first and last and isinstance(low, int) and isinstance(high, int):
            if low > high or (low == high and not node.inclusive):
                self.program.report(
                    "W0204", "this range is empty", node.span, label="no number lies in it",
                    hint="`a..b` leaves b out, `a..=b` includes it" if low == high else "swap its ends",
                )  # fmt: skip
        return RANGE

    def _regex(self, node: ast.Regex, expected: ExpressionType | None) -> ExpressionType:
        self.program.report(
            "E0314", "a pattern is not a value", node.span, label="stands only after `matches`"
        )
        return UNKNOWN

    # -- names -------------------------------------------------------------------------------------

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
            if enum is not None and name in enum.members:
                return self._member(node, enum.name, name)
        entity = self.look_up(name)
        if entity is not None:
            entity.used = True
            return self._entity(node, name, entity)
        owners = self.module.members.get(name)
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
        return self._unbound(node, name)

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
        self.program.report(
            "E0315", f"`{name}` is {WORDS[entity.kind]}, not a value", node.span, label="a value is due here",
            hint=hint,
        )  # fmt: skip
        return UNKNOWN

    def _unbound(self, node: ast.Reference, name: str) -> ExpressionType:
        closed = self.function.closed.get(name)
        secondary: tuple[Label, ...] = ()
        if closed is not None:
            hint = "bind it before that block with `var`, and assign it inside"
            secondary = (Label(closed, "bound here, in a block that has ended"),)
        else:
            pool = [*self.function.scope.visible(), *self.module.names, *self.module.members]
            close = nearest(name, pool)
            hint = f"did you mean `{close}`?" if close else ""
            if not hint and name == "it":
                hint = "`it` is the result inside `fuzz`, and the element inside `by = …`"
        self.program.report(
            "E0201", f"there is no `{name}` here", node.span, label="unknown name", hint=hint, secondary=secondary
        )
        return UNKNOWN

    # -- parts of values ---------------------------------------------------------------------------

    def _attribute(self, node: ast.Attribute, expected: ExpressionType | None) -> ExpressionType:
        label = node.name.text
        if isinstance(node.value, ast.Reference):
            found = self._through_type(node, node.value, label)
            if found is not None:
                return found
        owner = self.infer(node.value)
        path = path_of(node)
        if path is not None:
            narrowed = self.function.scope.narrowing(path)
            if narrowed is not None:
                return narrowed
        return self.attribute_of(node, owner, label)

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
            if label in enum.members:
                return self._member(node, enum.name, label)
            close = nearest(label, list(enum.members))
            self.program.report(
                "E0209", f"`{name}` has no member `{label}`", node.name.span, label="unknown member",
                hint=f"did you mean `{close}`?" if close else "it has " + ", ".join(enum.members[:8]),
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
        self.program.report("E0315", f"`{name}` is a type, not a value", value.span, label="a value is due here")
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
            case Str():
                methods = STR_METHODS
            case ListOf() | ListValue():
                methods = LIST_METHODS
            case MapOf():
                methods = MAP_METHODS
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
        self.program.report(
            "E0209", f"{show(owner)} has no `{label}`", span, label="unknown field or method", hint=hint
        )
        return UNKNOWN

    def _quiet_attribute(self, node: ast.Attribute, owner: ExpressionType, label: str) -> ExpressionType:
        mark = len(self.program.diagnostics)
        found = self.attribute_of(node, owner, label)
        del self.program.diagnostics[mark:]
        return found

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
            hint = f"`match` on it: only {', '.join(having)} {'has' if len(having) == 1 else 'have'} this field"
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
                if known and isinstance(place, int) and maximum is not None and not -maximum <= place < maximum:
                    self.program.report(
                        "E0317", f"this list has at most {maximum} items", node.index.span,
                        label=f"place {place} is never there", reason="places are counted from 0",
                    )  # fmt: skip
                return item
            case MapOf(key, value):
                self.expect(node.index, STR, "the key of a map")
                return value
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
        self.program.report(
            "E0318", f"{show(owner)} has no items", node.span, label="cannot be indexed",
            hint="it may be null: test it first" if allows_null(owner, self.table) else "",
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
        self.program.report("E0318", f"{show(owner)} cannot be sliced", node.span, label="no list, no text")
        return UNKNOWN

    # -- operators ---------------------------------------------------------------------------------

    def _unary(self, node: ast.Unary, expected: ExpressionType | None) -> ExpressionType:
        if node.operator == "not":
            self.condition(node.operand)
            return BOOL
        found = self.infer(node.operand, expected)
        rank = numeric_rank(found, self.table)
        if isinstance(found, Unknown):
            return UNKNOWN
        if rank is None:
            self.program.report(
                "E0319", f"`-` needs a number, not {show(found)}", node.operand.span, label=f"this is {show(found)}"
            )
            return UNKNOWN
        return numeric(rank)

    def condition(self, node: ast.Expression) -> None:
        """Demand a bool: nothing else counts as true or false."""
        found = self.infer(node, BOOL)
        if isinstance(found, Unknown | Never) or is_bool(found, self.table):
            return
        hint = ""
        if allows_null(found, self.table):
            hint = "compare it: `x != null`"
        elif is_text(found, self.table):
            hint = 'compare it: `x != ""`'
        elif numeric_rank(found, self.table) is not None:
            hint = "compare it: `x != 0`"
        elif item_of(found, self.table) is not None:
            hint = "compare it: `len(x) > 0`"
        self.program.report(
            "E0320", f"a condition is a bool, not {show(found)}", node.span, label=f"this is {show(found)}", hint=hint
        )

    def _binary(self, node: ast.Binary, expected: ExpressionType | None) -> ExpressionType:
        operator = node.operator
        if operator in ("and", "or"):
            self.condition(node.left)
            proved = self.narrowings(node.left, operator == "and")
            if proved:
                self.inside(proved, lambda: self.condition(node.right))
            else:
                self.condition(node.right)
            return BOOL
        if operator == "matches":
            self.expect(node.left, STR, "what a pattern is matched against")
            if isinstance(node.right, ast.Regex):
                self.types[id(node.right)] = STR
                self.check_regex(node.right.pattern, node.right.span)
            else:
                self.infer(node.right)
                self.program.report(
                    "E0314", "`matches` needs a pattern", node.right.span, label="write it as `/…/`"
                )
            return BOOL
        if operator in ("==", "!="):
            return self._equality(node)
        if operator in ("in", "not in"):
            return self._membership(node, node.left, node.right)
        if operator == "contains":
            return self._membership(node, node.right, node.left)
        left = self.infer(node.left, expected)
        right = self.infer(node.right, expected)
        if isinstance(left, Unknown) or isinstance(right, Unknown):
            return BOOL if operator in ("<", "<=", ">", ">=") else UNKNOWN
        ranks = numeric_rank(left, self.table), numeric_rank(right, self.table)
        if ranks[0] is not None and ranks[1] is not None:
            rank = max(ranks[0], ranks[1])
            if operator in ("<", "<=", ">", ">="):
                return BOOL
            if operator in ("/", "//", "%"):
                known, value = self.fold(node.right)
                if known and value == 0:
                    self.program.report("E0321", "division by zero", node.right.span, label="this is zero")
                if operator == "//":
                    return numeric(rank) if rank else INT
                return numeric(max(rank, 1)) if operator == "/" else numeric(rank)
            return numeric(rank)
        texts = is_text(left, self.table) and is_text(right, self.table)
        if texts and operator in ("<", "<=", ">", ">="):
            return BOOL
        if texts and operator == "+":
            return STR
        items = item_of(left, self.table), item_of(right, self.table)
        if operator == "+" and items[0] is not None and items[1] is not None:
            whole = join(items[0], items[1], self.table)
            if whole is not None:
                return list_of(whole)
        self._refuse_operands(node, left, right)
        return BOOL if operator in ("<", "<=", ">", ">=") else UNKNOWN

    def _refuse_operands(self, node: ast.Binary, left: ExpressionType, right: ExpressionType) -> None:
        hint = ""
        if allows_null(left, self.table) or allows_null(right, self.table):
            hint = "one side may be null: test it first, as in `x if x != null else …`"
        elif node.operator == "+" and (is_text(left, self.table) or is_text(right, self.table)):
            hint = "insert it into the text instead: \"…${x}\""
        elif node.operator in ("<", "<=", ">", ">="):
            hint = "only numbers and texts have an order"
        self.program.report(
            "E0319", f"`{node.operator}` does not take {show(left)} and {show(right)}", node.span,
            label="these do not go together", hint=hint,
            secondary=(
                Label(node.left.span, f"this is {show(left)}"), Label(node.right.span, f"this is {show(right)}"),
            ),
        )  # fmt: skip

    def _equality(self, node: ast.Binary) -> ExpressionType:
        left = self.infer(node.left)
        mark = len(self.program.diagnostics)
        right = self.infer(node.right, left)
        if isinstance(left, Unknown) and len(self.program.diagnostics) == mark:
            return BOOL
        if not comparable(left, right, self.table):
            self.program.report(
                "E0322", f"{show(left)} and {show(right)} are never equal", node.span,
                label="always " + ("false" if node.operator == "==" else "true"),
            )  # fmt: skip
            return BOOL
        for side, other in ((node.left, right), (node.right, left)):
            known, value = self.fold(side)
            words = self.facts.words(other) if known and isinstance(value, str) else None
            if words is not None and is_text(other, self.table) and value not in words:
                close = nearest(value, words)
                self.program.report(
                    "E0322", f"{_shown(value)} is none of {show(other)}", side.span,
                    label="always " + ("false" if node.operator == "==" else "true"),
                    hint=f"did you mean {_shown(close)}?" if close else "",
                )  # fmt: skip
        return BOOL

    def _membership(self, node: ast.Binary, member: ast.Expression, whole: ast.Expression) -> ExpressionType:
        # The container may need the member's type to read enum names, and the other way round.
        if isinstance(whole, ast.ListDisplay):
            found = self.infer(member)
            container = self.infer(whole, list_of(found))
        else:
            container = self.infer(whole)
            found = self.infer(member, item_of(container, self.table))
        if isinstance(container, Unknown) or isinstance(found, Unknown):
            return BOOL
        plain = expand(container, self.table)
        if isinstance(plain, RangeOf):
            fine = numeric_rank(found, self.table) is not None
        elif isinstance(plain, MapOf) or is_text(plain, self.table):
            fine = is_text(found, self.table)
        else:
            item = item_of(plain, self.table)
            fine = item is not None and comparable(item, found, self.table)
        if not fine:
            self.program.report(
                "E0319", f"{show(found)} cannot be in {show(container)}", node.span, label="never true",
                secondary=(
                    Label(member.span, f"this is {show(found)}"), Label(whole.span, f"this is {show(container)}"),
                ),
            )  # fmt: skip
        return BOOL

    def _conditional(self, node: ast.Conditional, expected: ExpressionType | None) -> ExpressionType:
        self.condition(node.condition)
        then = self.inside(self.narrowings(node.condition, True), lambda: self.infer(node.then, expected))
        other = self.inside(self.narrowings(node.condition, False), lambda: self.infer(node.otherwise, expected))
        whole = join(then, other, self.table)
        if whole is None and expected is not None:
            if fit(then, expected, self.table).value and fit(other, expected, self.table).value:
                return expected
        if whole is None:
            self.program.report(
                "E0313", f"both sides must have one type, here {show(then)} and {show(other)}", node.span,
                label="two types",
                secondary=(
                    Label(node.then.span, f"this is {show(then)}"), Label(node.otherwise.span, f"this is {show(other)}"),
                ),
            )  # fmt: skip
            return UNKNOWN
        return whole

    def _comprehension(self, node: ast.Comprehension, expected: ExpressionType | None) -> ExpressionType:
        item = self.iterated(node.iterable)
        due = None if expected is None else item_of(without_null(expected, self.table), self.table)
        self.open()
        self.bind(node, node.variable, item, "loop")
        if node.condition is not None:
            self.condition(node.condition)
            self.function.scope.narrowed.update(self.narrowings(node.condition, True))
        element = self.infer(node.element, due)
        self.close()
        return UNKNOWN if isinstance(element, Unknown) else list_of(element)

    def iterated(self, node: ast.Expression) -> ExpressionType:
        """Type of the items of what a loop goes over."""
        found = self.infer(node)
        plain = expand(found, self.table)
        if isinstance(plain, Unknown | Never):
            return UNKNOWN
        if isinstance(plain, RangeOf):
            return INT
        if isinstance(plain, MapOf):
            return STR
        item = item_of(plain, self.table)
        if item is not None:
            return UNKNOWN if isinstance(item, Never) else item
        hint = ""
        if is_text(plain, self.table):
            hint = "go over `.lines()`, `.words()` or `.split(…)` of it"
        elif isinstance(plain, TupleOf):
            hint = "take its items by place: `x[0]`"
        elif allows_null(plain, self.table):
            hint = "it may be null: test it first"
        elif numeric_rank(plain, self.table) == 0:
            hint = "write a range: `0..n`"
        self.program.report(
            "E0323", f"{show(found)} cannot be gone over", node.span, label="no list, map or range", hint=hint
        )
        return UNKNOWN

    def _schema(self, node: ast.SchemaOf, expected: ExpressionType | None) -> ExpressionType:
        type = self.resolve(node.type)
        if node.style not in (None, "json", "typescript", "prose"):
            close = nearest(node.style, ["json", "typescript", "prose"])
            self.program.report(
                "E0324", f"there is no schema style `{node.style}`", node.span, label="unknown style",
                hint=f"did you mean `{close}`?" if close else "there are json, typescript and prose",
            )  # fmt: skip
            return STR
        self.function.schemas.append(type)
        if not isinstance(type, Unknown) and self.facts.sound(type):
            key = ("schema", type, node.style)
            if key not in self.program.memo:
                self.program.memo[key] = schema_text(type, self.table, node.style)
            self.module.constants[id(node)] = self.program.memo[key]
        return STR

    # -- scopes ------------------------------------------------------------------------------------

    def open(self) -> None:
        self.function.scope = Scope(self.function.scope)

    def close(self) -> None:
        scope = self.function.scope
        for name, local in scope.names.items():
            self.function.closed[name] = local.span
        assert scope.parent is not None
        self.function.scope = scope.parent

    def inside(self, proved: dict[str, ExpressionType], action: Callable[[], Any]) -> Any:
        """Do something where a condition is known to hold."""
        if not proved:
            return action()
        self.open()
        self.function.scope.narrowed.update(proved)
        found = action()
        self.close()
        return found

    def bind(
        self, node: object, name: ast.Name, type: ExpressionType, kind: str, **facts: Any
    ) -> Local:
        """Enter a variable into the innermost block; no name is ever shadowed."""
        function = self.function
        label = name.text
        known = function.scope.find(label)
        taken = known.span if known is not None else None
        what = "a variable"
        if known is None:
            entity = self.module.names.get(label)
            if entity is not None:
                taken, what = entity.span, WORDS[entity.kind]
            elif label in self.module.members and label not in self.module.names:
                owner = self.module.members[label][0].rsplit(".", 1)[-1]
                taken, what = self._declared_at(owner), f"a member of `{owner}`"
        if taken is not None and label != "_":
            self.program.report(
                "E0210", f"`{label}` is already {what}", name.span, label="a second meaning",
                reason="no name may hide another one, so that every line can be read by itself",
                secondary=(Label(taken, "first meaning"),) if taken is not name.span else (),
                hint="choose another name",
            )  # fmt: skip
        slot = label
        number = 2
        while slot in function.slots:
            slot = f"{label}.{number}"
            number += 1
        function.slots.add(slot)
        local = Local(label, slot, type, kind, name.span, 0, boundary=function.boundary, **facts)
        function.scope.names[label] = local
        function.locals.append(local)
        self.symbols[id(node)] = LocalSymbol(label, slot)
        return local

    def _declared_at(self, name: str) -> Span | None:
        entity = self.module.names.get(name)
        return None if entity is None else entity.span

    # -- what conditions prove ---------------------------------------------------------------------

    def narrowings(self, node: ast.Expression, holds: bool) -> dict[str, ExpressionType]:
        """Paths that are known not to be null where the condition holds (or does not)."""
        match node:
            case ast.Unary("not", operand):
                return self.narrowings(operand, not holds)
            case ast.Binary("and" | "or" as operator, left, right):
                if (operator == "and") == holds:
                    return {**self.narrowings(left, holds), **self.narrowings(right, holds)}
                return {}
            case ast.Binary("==" | "!=" as operator, left, right):
                if (operator == "!=") != holds:
                    return {}
                if isinstance(left, ast.Null):
                    left, right = right, left
                if not isinstance(right, ast.Null):
                    return {}
                path = path_of(left)
                type = self.types.get(id(left))
                if path is None or type is None or not allows_null(type, self.table):
                    return {}
                return {path: without_null(type, self.table)}
        return {}

    # -- constants ---------------------------------------------------------------------------------

    def fold(self, node: ast.Expression) -> tuple[bool, Any]:
        """Whether an expression has one value known now, and the value. See `Constants`."""
        raise KeyError(node)

    # Forms that are typed in the classes built on this one.

    def _call(self, node: ast.Call, expected: ExpressionType | None) -> ExpressionType:
        return self.call(node, expected)

    def call(self, node: ast.Call, expected: ExpressionType | None) -> ExpressionType:
        raise KeyError(node)

    def _or_else(self, node: ast.OrElse, expected: ExpressionType | None) -> ExpressionType:
        return self.or_else(node, expected)

    def or_else(self, node: ast.OrElse, expected: ExpressionType | None) -> ExpressionType:
        raise KeyError(node)

    def _hole(self, node: Any, expected: ExpressionType | None) -> ExpressionType:
        return self.hole_expression(node)

    def hole_expression(self, node: Any) -> ExpressionType:
        raise KeyError(node)

    def _fork(self, node: ast.Fork, expected: ExpressionType | None) -> ExpressionType:
        return self.fork(node)

    def fork(self, node: ast.Fork) -> ExpressionType:
        raise KeyError(node)


def field_type(field: FieldType) -> Type:
    """Type of a field when it is read: null where it may be absent."""
    if field.optional and not field.has_default and not isinstance(field.type, Optional | Null):
        return Optional(field.type)
    return field.type


def path_of(node: ast.Expression) -> str | None:
    """`x.note` for a variable and its fields, None for anything that could change between two readings."""
    if isinstance(node, ast.Reference):
        return node.name
    if isinstance(node, ast.Attribute):
        inner = path_of(node.value)
        return None if inner is None else f"{inner}.{node.name.text}"
    return None


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f'"{value}"' if len(value) <= 60 else f'"{value[:57]}…"'
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value) if len(str(value)) <= 80 else str(value)[:77] + "…"


def _same_shape(found: ExpressionType, target: ExpressionType, checker: Expressions) -> bool:
    """Whether a constant of this type could be a member at all, so that the better message is about values."""
    table = checker.table
    target = without_null(target, table)
    if is_text(found, table) and is_text(target, table):
        return True
    if is_bool(found, table) and is_bool(target, table):
        return True
    ranks = numeric_rank(found, table), numeric_rank(target, table)
    if ranks[0] is not None and ranks[1] is not None:
        return ranks[0] <= ranks[1]
    plain = expand(target, table)
    return isinstance(plain, ListOf) and item_of(found, table) is not None and isinstance(found, ListOf) and (
        _same_shape(found.item, plain.item, checker)
    )


_METHODS: dict[type, Any] = {
    ast.Number: Expressions._number,
    ast.String: Expressions._string,
    ast.Boolean: Expressions._boolean,
    ast.Null: Expressions._null,
    ast.Reference: Expressions._reference,
    ast.Attribute: Expressions._attribute,
    ast.Index: Expressions._index,
    ast.Slice: Expressions._slice,
    ast.Call: Expressions._call,
    ast.Unary: Expressions._unary,
    ast.Binary: Expressions._binary,
    ast.Conditional: Expressions._conditional,
    ast.ListDisplay: Expressions._list,
    ast.TupleDisplay: Expressions._tuple,
    ast.MapDisplay: Expressions._map,
    ast.Comprehension: Expressions._comprehension,
    ast.Range: Expressions._range,
    ast.Regex: Expressions._regex,
    ast.OrElse: Expressions._or_else,
    ast.SchemaOf: Expressions._schema,
    ast.Gen: Expressions._hole,
    ast.Choose: Expressions._hole,
    ast.Select: Expressions._hole,
    ast.Fork: Expressions._fork,
}
