"""Expressions of kernels as LLVM IR."""

from __future__ import annotations

import ast
import inspect
import operator as operators
from collections.abc import Callable, Mapping
from typing import NoReturn

from llvmlite import ir

from sglc.kernels.dsl import language, vectors
from sglc.kernels.dsl.language import AnyKernel, Kernel
from sglc.kernels.dsl.structs import Struct
from sglc.kernels.llvm import values as v
from sglc.kernels.llvm.signatures import LANE_CALLS, MEMORY
from sglc.kernels.llvm.vectors import LaneCode

_FLOAT_OPERATIONS: dict[type, str] = {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"}
_LANE_OPERATIONS: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
_LANE_OPERATIONS |= {ast.BitAnd: "and_", ast.BitOr: "or_"}
_INT_OPERATIONS: dict[type, str] = _LANE_OPERATIONS | {ast.BitXor: "xor", ast.LShift: "shl"}
"""By operator: what makes it of two values, where they have the same type as the result."""
_FOLDED: dict[type, Callable[[int, int], int]] = {
    ast.Add: operators.add,
    ast.Sub: operators.sub,
    ast.Mult: operators.mul,
    ast.FloorDiv: operators.floordiv,
    ast.Mod: operators.mod,
    ast.Eq: operators.eq,
    ast.NotEq: operators.ne,
    ast.Lt: operators.lt,
    ast.LtE: operators.le,
    ast.Gt: operators.gt,
    ast.GtE: operators.ge,
    ast.BitAnd: operators.and_,
}


class Expressions:
    """Translates expressions; the translation of the function supplies the context."""

    module: ir.Module
    kernel: AnyKernel
    globals: Mapping[str, object]
    constants: Mapping[str, int]
    function: ir.Function
    b: ir.IRBuilder
    code: LaneCode
    arrays: dict[str, v.Array]
    """Arguments that are arrays, and short names of arrays of records."""
    structs: dict[str, tuple[ir.Value, type[Struct]]]
    """Arguments that are records: their tables and classes."""
    fields: dict[tuple[str, str], v.Array | v.Value]
    """Fields of records that the function reads."""
    locals: dict[str, tuple[ir.Value, str]]
    """Local arrays of lanes, and the kind of their elements."""
    slots: dict[str, tuple[ir.Value, str]]
    """Variables, and their kinds."""

    def _slot(self, kind: ir.Type) -> ir.Value:
        raise TypeError("a function has slots")

    def _field(self, struct: str, name: str) -> v.Array | v.Value:
        raise TypeError("a function has records")

    def _call_kernel(self, node: ast.Call, called: AnyKernel) -> v.Value | None:
        raise TypeError("a function calls kernels")

    def _fail(self, node: ast.AST, reason: str) -> NoReturn:
        line = getattr(node, "lineno", 0)
        raise v.KernelError(f"{self.kernel.name}, line {line}: {reason}: {ast.unparse(node)}")

    def _blocks(self, *names: str) -> list[ir.Block]:
        return [self.function.append_basic_block(name) for name in names]

    def _test(self, node: ast.expr) -> ir.Value:
        return self._as("bool", self._expression(node))

    def _as(self, kind: str, value: v.Value) -> ir.Value:
        """The value as a number of another type."""
        here, found = value.kind, value.value
        if here == kind or {here, kind} == {"int", "word"}:
            return found
        if here not in v.NUMBERS or kind not in v.NUMBERS:
            raise v.KernelError(f"{self.kernel.name}: {here} in place of {kind}")
        if kind == "bool":
            if here == "float":
                return self.b.fcmp_unordered("!=", found, v.DOUBLE(0.0))
            return self.b.icmp_signed("!=", found, v.I64(0))
        if kind == "float":
            return (
                self.b.uitofp(found, v.DOUBLE) if here in ("bool", "word") else self.b.sitofp(found, v.DOUBLE)
            )
        return self.b.fptosi(found, v.I64) if here == "float" else self.b.zext(found, v.I64)

    def _expression(self, node: ast.expr) -> v.Value:
        match node:
            case ast.Constant(value=bool() as value):
                return v.Value(v.I1(int(value)), "bool")
            case ast.Constant(value=int() as value):
                return v.Value(v.I64(value), "int")
            case ast.Constant(value=float() as value):
                return v.Value(v.DOUBLE(value), "float")
            case ast.Name(id=name) if name in self.slots:
                slot, kind = self.slots[name]
                return v.Value(self.b.load(slot), kind)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.locals:
                array, kind = self.locals[name]
                return v.Value(self.b.load(self._local(array, index)), kind)
            case ast.Subscript(value=of, slice=index):
                return self._element(self._array(of), index)
            case ast.Attribute(value=ast.Name(id=name)) if name in self.structs:
                found = self._field_of(node)
                if not isinstance(found, v.Value):
                    self._fail(node, "not a number of a record")
                return found
            case ast.Name() | ast.Attribute():
                named = self._named(node)
                if not isinstance(named, bool | int | float):
                    self._fail(node, "no number of this name is known here")
                return self._expression(ast.Constant(named))
            case ast.BinOp(left=left, op=operator, right=right):
                return self._operate(node, operator, self._expression(left), self._expression(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return v.Value(self.b.not_(self._test(operand)), "bool")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self._expression(operand)
                if number.kind == "float":
                    return v.Value(self.b.fneg(number.value), "float")
                return v.Value(self.b.neg(self._as("int", number)), "int")
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                number = self._expression(operand)
                kind = "word" if number.kind == "word" else "int"
                return v.Value(self.b.not_(self._as(kind, number)), kind)
            case ast.Compare(left=left, ops=operators, comparators=others):
                return self._compare(node, left, operators, others)
            case ast.BoolOp(op=operator, values=values):
                return self._short(values, isinstance(operator, ast.And))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choose(test, body, orelse)
            case ast.Call():
                given = self._call(node)
                if given is None:
                    self._fail(node, "has no value")
                return given
            case _:
                self._fail(node, "not an expression of kernels")

    def _named(self, node: ast.expr) -> object:
        """What a constant, or a name in a class or a module, stands for; None for all else."""
        match node:
            case ast.Name(id=name) if name not in self.slots:
                return self.constants.get(name, self.globals.get(name))
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name not in self.structs:
                return getattr(self.globals.get(name), attribute, None)
        return None

    def _known(self, node: ast.expr) -> int | None:
        """The value of a whole number or a test that is known when the code is made."""
        match node:
            case ast.Constant(value=bool() | int() as value):
                return value
            case ast.Name() | ast.Attribute():
                named = self._named(node)
                return named if isinstance(named, int) else None
            case ast.Call(func=ast.Name(id="lane_registers"), args=[]):
                return self.code.target.lane_registers
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                denied = self._known(operand)
                return None if denied is None else not denied
            case ast.BoolOp(op=operator, values=values):
                found = [self._known(value) for value in values]
                if None in found:
                    return None
                return all(found) if isinstance(operator, ast.And) else any(found)
            case (
                ast.BinOp(left=left, op=operator, right=right)
                | ast.Compare(left=left, ops=[operator], comparators=[right])
            ):
                x, y, fold = self._known(left), self._known(right), _FOLDED.get(type(operator))
                return None if x is None or y is None or fold is None else fold(x, y)
        return None

    def _constant(self, node: ast.expr) -> int:
        value = self._known(node)
        if value is None:
            self._fail(node, "not a constant")
        return int(value)

    def _local(self, array: ir.Value, index: ast.expr) -> ir.Value:
        """The place of lanes in a local array."""
        return self.b.gep(array, [v.I64(0), self._as("int", self._expression(index))], inbounds=True)

    def _place(self, array: v.Array, index: ast.expr) -> ir.Value:
        return self.b.gep(array.pointer, [self._as("int", self._expression(index))], inbounds=True)

    def _element(self, array: v.Array, index: ast.expr) -> v.Value:
        memory, number = v.ELEMENTS[array.kind]
        value = array.load(self.b, self._place(array, index))
        if isinstance(memory, ir.FloatType):
            value = self.b.fpext(value, v.DOUBLE)
        elif isinstance(memory, ir.IntType) and memory.width < 64:
            value = self.b.zext(value, v.I64) if number == "word" else self.b.sext(value, v.I64)
        return v.Value(value, "word" if array.kind == "U64" else "float" if number == "float" else "int")

    def _operate(self, node: ast.AST, operator: ast.operator, left: v.Value, right: v.Value) -> v.Value:
        b = self.b
        if left.kind in v.LANE_KINDS or right.kind in v.LANE_KINDS:
            return self._operate_lanes(node, operator, left, right)
        if "float" in (left.kind, right.kind) or isinstance(operator, ast.Div):
            x, y = self._as("float", left), self._as("float", right)
            if type(operator) not in _FLOAT_OPERATIONS:
                self._fail(node, "not an operation on such numbers")
            return v.Value(getattr(b, _FLOAT_OPERATIONS[type(operator)])(x, y), "float")
        if left.kind == right.kind == "bool" and isinstance(operator, ast.BitAnd | ast.BitOr | ast.BitXor):
            kind = "bool"
        else:
            kind = "word" if "word" in (left.kind, right.kind) else "int"
        x, y = self._as(kind, left), self._as(kind, right)
        match operator:
            case _ if type(operator) in _INT_OPERATIONS:
                found = getattr(b, _INT_OPERATIONS[type(operator)])(x, y)
            case ast.RShift():
                kind = left.kind if left.kind != "bool" else "int"
                found = b.lshr(x, y) if kind == "word" else b.ashr(x, y)
            case ast.FloorDiv() | ast.Mod():
                rest = b.srem(x, y)
                below = b.icmp_signed("<", rest, v.I64(0))
                if isinstance(operator, ast.Mod):
                    found = b.select(below, b.add(rest, y), rest)
                else:
                    found = b.sub(b.sdiv(x, y), b.zext(below, v.I64))
            case _:
                self._fail(node, "not an operation of kernels")
        return v.Value(found, kind)

    def _operate_lanes(self, node: ast.AST, operator: ast.operator, left: v.Value, right: v.Value) -> v.Value:
        if left.kind != right.kind:
            self._fail(node, "lanes of two kinds")
        name = (_FLOAT_OPERATIONS if left.kind == "floats" else _LANE_OPERATIONS).get(type(operator))
        if name is None:
            self._fail(node, "not an operation on lanes")
        return v.Value(getattr(self.b, name)(left.value, right.value), left.kind)

    def _compare(
        self, node: ast.expr, left: ast.expr, operators: list[ast.cmpop], others: list[ast.expr]
    ) -> v.Value:
        before = self._expression(left)
        found: ir.Value | None = None
        for operator, other in zip(operators, others, strict=True):
            sign = v.SIGNS.get(type(operator))
            if sign is None:
                self._fail(node, "not a comparison of kernels")
            after = self._expression(other)
            if "float" in (before.kind, after.kind):
                same = self.b.fcmp_ordered if sign != "!=" else self.b.fcmp_unordered
                holds = same(sign, self._as("float", before), self._as("float", after))
            elif before.kind == after.kind == "word":
                holds = self.b.icmp_unsigned(sign, before.value, after.value)
            else:
                holds = self.b.icmp_signed(sign, self._as("int", before), self._as("int", after))
            found = holds if found is None else self.b.and_(found, holds)
            before = after
        assert found is not None
        return v.Value(found, "bool")

    def _short(self, values: list[ast.expr], conjunction: bool) -> v.Value:
        """`and` and `or` as tests: what comes later is looked at only if it matters."""
        slot = self._slot(v.I1)
        (after,) = self._blocks("decided")
        for place, value in enumerate(values):
            holds = self._test(value)
            self.b.store(holds, slot)
            if place == len(values) - 1:
                self.b.branch(after)
            else:
                (more,) = self._blocks("more")
                self.b.cbranch(holds, *((more, after) if conjunction else (after, more)))
                self.b.position_at_end(more)
        self.b.position_at_end(after)
        return v.Value(self.b.load(slot), "bool")

    def _choose(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> v.Value:
        then, otherwise, after = self._blocks("then", "otherwise", "after")
        self.b.cbranch(self._test(test), then, otherwise)
        ends = []
        for block, node in ((then, body), (otherwise, orelse)):
            self.b.position_at_end(block)
            ends.append((self._expression(node), self.b.block))
        kinds = {value.kind for value, _ in ends}
        kind = kinds.pop() if len(kinds) == 1 else "float" if "float" in kinds else "int"
        slot = self._slot(v.VALUES[kind])
        for value, block in ends:
            self.b.position_at_end(block)
            self.b.store(self._as(kind, value), slot)
            self.b.branch(after)
        self.b.position_at_end(after)
        return v.Value(self.b.load(slot), kind)

    def _call(self, node: ast.Call) -> v.Value | None:
        if not isinstance(node.func, ast.Name) or node.keywords:
            self._fail(node, "not a call of kernels")
        name = node.func.id
        if name in ("min", "max") and len(node.args) == 2:
            x, y = (self._expression(argument) for argument in node.args)
            kind = "float" if "float" in (x.kind, y.kind) else "int"
            first, second = self._as(kind, x), self._as(kind, y)
            sign = "<" if name == "min" else ">"
            less = self.b.fcmp_ordered if kind == "float" else self.b.icmp_signed
            return v.Value(self.b.select(less(sign, first, second), first, second), kind)
        if name in ("int", "float", "bool") and len(node.args) == 1:
            return v.Value(self._as(name, self._expression(node.args[0])), name)
        if name == "abs" and len(node.args) == 1:
            value = self._expression(node.args[0])
            if value.kind == "float":
                below = self.b.fcmp_ordered("<", value.value, v.DOUBLE(0.0))
                return v.Value(self.b.select(below, self.b.fneg(value.value), value.value), "float")
            number = self._as("int", value)
            below = self.b.icmp_signed("<", number, v.I64(0))
            return v.Value(self.b.select(below, self.b.neg(number), number), "int")
        called = self.globals.get(name)
        if callable(called) and called is getattr(vectors, name, None):
            return self._call_lanes(node, name)
        if called in (language.bit_count, language.trailing_zeros):
            bits = self._as("int", self._expression(node.args[0]))
            count = self.b.ctpop(bits) if called is language.bit_count else self.b.cttz(bits, v.I1(0))
            return v.Value(count, "int")
        if isinstance(called, Kernel):
            return self._call_kernel(node, called)
        self._fail(node, "not a function of kernels")

    # Arrays

    def _array(self, node: ast.expr) -> v.Array:
        found = self._array_or_none(node)
        if found is None:
            self._fail(node, "not an array")
        return found

    def _array_or_none(self, node: ast.expr) -> v.Array | None:
        """An array by its name or as a field of a record."""
        if isinstance(node, ast.Name):
            return self.arrays.get(node.id)
        found = self._field_of(node)
        return found if isinstance(found, v.Array) else None

    def _field_of(self, node: ast.expr) -> v.Array | v.Value | None:
        """A field of a record; None for what is no part of one."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in self.structs:
                kind = self.structs[name][1]
                if attribute not in kind.fields:
                    self._fail(node, f"{kind.__name__} has no such field")
                return self._field(name, attribute)
        return None

    # Lanes

    def _lanes_place(self, array: v.Array, index: ast.expr, memory: ir.Type) -> tuple[ir.Value, int]:
        """Where an index of an array leads, as a place of another type, and how it is aligned."""
        element = v.ELEMENTS[array.kind][0]
        size = element.width // 8 if isinstance(element, ir.IntType) else 4
        return self.b.bitcast(self._place(array, index), memory.as_pointer()), size

    def _call_lanes(self, node: ast.Call, name: str) -> v.Value | None:
        """A call of a function of `sglc.kernels.dsl.vectors`."""
        expected = len(inspect.signature(getattr(vectors, name)).parameters)
        if len(node.args) != expected:
            self._fail(node, f"{name} takes {expected} arguments")
        if name in ("float_lanes", "int_lanes"):
            return self._local_lanes("floats" if name == "float_lanes" else "ints", node.args[0])
        if name in ("maxima", "sums"):
            reduced = getattr(self.code, name)
            return v.Value(reduced(self._sixteen(node.args[0])), "floats")
        if name in ("rolled", "lane"):
            one = self._as("floats", self._expression(node.args[0]))
            found = getattr(self.code, name)(one, self._constant(node.args[1]))
            return v.Value(found, "floats" if name == "rolled" else "float")
        if name in MEMORY:
            return self._memory(node, name)
        arguments = [self._expression(argument) for argument in node.args]
        kinds, result = LANE_CALLS[name]
        values = [self._as(kind, value) for kind, value in zip(kinds, arguments, strict=True)]
        b, code = self.b, self.code
        match name:
            case "spread":
                found = code.splat(b.fptrunc(values[0], v.FLOAT))
            case "spread_int":
                found = code.splat(b.trunc(values[0], v.I32))
            case "shift_right":
                found = b.lshr(values[0], code.splat(b.trunc(values[1], v.I32)))
            case "shift_left":
                found = b.shl(values[0], code.splat(b.trunc(values[1], v.I32)))
            case "to_floats":
                found = b.sitofp(values[0], v.FLOATS)
            case "as_floats" | "as_ints":
                found = b.bitcast(values[0], v.LANE_KINDS[result])
            case "magnitudes":
                found = code.intrinsic(f"llvm.fabs.v{vectors.LANES}f32", v.FLOATS, values)
            case "sum_floats":
                found = code.tree_sum(values[0])
            case "max_floats":
                found = code.tree_max(values[0])
            case _:
                found = getattr(code, name)(*values)
        return v.Value(found, result)

    def _local_lanes(self, kind: str, count: ast.expr) -> v.Value:
        number = self._constant(count)
        slot = self._slot(ir.ArrayType(v.LANE_KINDS[kind], number))
        for place in range(number):
            where = self.b.gep(slot, [v.I64(0), v.I64(place)], inbounds=True)
            self.b.store(ir.Constant(v.LANE_KINDS[kind], None), where)
        return v.Value(slot, f"array of {kind}")

    def _sixteen(self, node: ast.expr) -> list[ir.Value]:
        """The elements of a local array of 16 lanes of floats."""
        array, kind = self.locals.get(node.id, (None, "")) if isinstance(node, ast.Name) else (None, "")
        if array is None or kind != "floats" or array.type.pointee.count != vectors.LANES:
            self._fail(node, "not a local array of 16 lanes of floats")
        return [
            self.b.load(self.b.gep(array, [v.I64(0), v.I64(place)], inbounds=True))
            for place in range(vectors.LANES)
        ]

    def _memory(self, node: ast.Call, name: str) -> v.Value | None:
        """Loads and stores of lanes, and the counters of threads."""
        b, code = self.b, self.code
        kinds, memory, result = MEMORY[name]
        array = self._array(node.args[0])
        if array.kind not in kinds:
            self._fail(node, f"{name} takes an array {' or '.join(kinds)}")
        values = [self._expression(argument) for argument in node.args[2:]]
        place, align = self._lanes_place(array, node.args[1], memory)
        match name:
            case "load_halves":
                return v.Value(code.from_halves(array.load(b, place, align)), "floats")
            case "half_at":
                return v.Value(code.from_half(array.load(b, place, 1)), "float")
            case "word_at":
                return v.Value(b.sext(array.load(b, place, align), v.I64), "int")
            case "load_floats" | "load_ints":
                return v.Value(array.load(b, place, align), result)
            case "store_floats":
                array.store(b, self._as("floats", values[0]), place, align)
            case "store_ints":
                array.store(b, self._as("ints", values[0]), place, align)
            case "put_word":
                array.store(b, b.trunc(self._as("int", values[0]), v.I32), place, align)
            case "store_bytes":
                array.store(b, b.trunc(self._as("ints", values[0]), v.BYTES), place, align)
            case "prefetch":
                code.prefetch(place)
            case "take":
                return v.Value(code.take(place, self._as("int", values[0])), "int")
            case "arrive":
                code.arrive(place)
            case "wait_for":
                code.wait_for(place, self._as("int", values[0]))
        return None
