"""Kernels of `sglc.kernels.typed` as LLVM IR.

One pass over the syntax tree of each function: expressions become values with a type, variables stack slots,
which LLVM's optimiser turns into registers. A kernel that another one calls becomes a function of the module
that is inlined.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NoReturn

from llvmlite import ir

from sglc.kernels import typed
from sglc.kernels.typed import Kernel

_I1, _I64, _DOUBLE = ir.IntType(1), ir.IntType(64), ir.DoubleType()
_ELEMENTS: dict[str, tuple[ir.Type, str]] = {
    "U8": (ir.IntType(8), "word"),
    "I32": (ir.IntType(32), "int"),
    "U32": (ir.IntType(32), "word"),
    "I64": (_I64, "int"),
    "U64": (_I64, "word"),
    "F32": (ir.FloatType(), "float"),
    "F64": (_DOUBLE, "float"),
}
"""By kind of array: the type of an element in memory, and of its value."""
_NUMBERS: dict[str, ir.Type] = {"int": _I64, "word": _I64, "float": _DOUBLE, "bool": _I1}
_COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


class KernelError(TypeError):
    """A kernel that is not written in the language."""


@dataclass(frozen=True, slots=True)
class _Value:
    """A number of the type `int`, `word` (unsigned), `float` or `bool`."""

    value: ir.Value
    kind: str


def translate(kernels: Iterable[Kernel], name: str) -> str:
    """The IR text of a module with some kernels, as `sglc_` and their name. Raises KernelError."""
    module = ir.Module(name=name)
    made: dict[str, ir.Function] = {}
    for kernel in kernels:
        _Function(module, kernel, made, exported=True)
    return str(module)


class _Function:
    """The translation of one kernel."""

    def __init__(
        self, module: ir.Module, kernel: Kernel, made: dict[str, ir.Function], exported: bool
    ) -> None:
        self.module, self.kernel, self.made = module, kernel, made
        self.globals = kernel.function.__globals__
        source = textwrap.dedent(inspect.getsource(kernel.function))
        tree = ast.parse(source).body[0]
        assert isinstance(tree, ast.FunctionDef)
        kinds = kernel.annotations
        self.result = kinds.pop("return", "None")
        arguments = [(name, *self._argument(name, kind)) for name, kind in kinds.items()]
        result = ir.VoidType() if self.result == "None" else _NUMBERS[self.result]
        self.function = ir.Function(
            module, ir.FunctionType(result, [kind for _, kind, _ in arguments]),
            name=("sglc_" if exported else "inner_") + kernel.name,
        )  # fmt: skip
        if not exported:
            self.function.linkage = "internal"
            self.function.attributes.add("alwaysinline")
            made[kernel.name] = self.function
        slots = self.function.append_basic_block("slots")
        start = self.function.append_basic_block("start")
        self.b = ir.IRBuilder(slots)
        self._jump = self.b.branch(start)
        self.b.position_at_end(start)
        self.arrays: dict[str, tuple[ir.Value, str]] = {}
        self.slots: dict[str, tuple[ir.Value, str]] = {}
        self.loops: list[tuple[ir.Block, ir.Block]] = []
        for (name, _, kind), value in zip(arguments, self.function.args, strict=True):
            value.name = name
            if kind in _ELEMENTS:
                value.add_attribute("noalias")
                self.arrays[name] = value, kind
            else:
                self._set(name, _Value(value, kind))
        self._block(tree.body)
        if not self.b.block.is_terminated:
            if self.result == "None":
                self.b.ret_void()
            else:
                self.b.unreachable()

    def _argument(self, name: str, kind: str) -> tuple[ir.Type, str]:
        if kind in _ELEMENTS:
            return _ELEMENTS[kind][0].as_pointer(), kind
        if kind not in ("int", "float", "bool"):
            raise KernelError(f"{self.kernel.name}: {name} has the unknown kind {kind}")
        return _NUMBERS[kind], kind

    def _fail(self, node: ast.AST, reason: str) -> NoReturn:
        line = getattr(node, "lineno", 0)
        raise KernelError(f"{self.kernel.name}, line {line}: {reason}: {ast.unparse(node)}")

    # Statements

    def _block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.b.block.is_terminated:
                return
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return
            case ast.Expr(value=ast.Call() as call):
                self._call(call)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                found = [self._expression(value) for value in values]
                for target, value in zip(targets, found, strict=True):
                    self._assign(target, value)
            case ast.Assign(targets=targets, value=value):
                one = self._expression(value)
                for target in targets:
                    self._assign(target, one)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._expression(value))
            case ast.AugAssign(target=target, op=operator, value=value):
                before = self._expression(target)
                self._assign(target, self._operate(node, operator, before, self._expression(value)))
            case ast.If():
                self._if(node)
            case ast.While(orelse=[]):
                self._while(node)
            case ast.For(orelse=[]):
                self._for(node)
            case ast.Break():
                self.b.branch(self.loops[-1][1])
            case ast.Continue():
                self.b.branch(self.loops[-1][0])
            case ast.Return(value=None):
                self.b.ret_void()
            case ast.Return(value=ast.expr() as value):
                self.b.ret(self._as(self.result, self._expression(value)))
            case _:
                self._fail(node, "not a statement of kernels")

    def _assign(self, target: ast.expr, value: _Value) -> None:
        match target:
            case ast.Name(id=name):
                self._set(name, value)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.arrays:
                place, kind = self._place(name, index)
                memory, number = _ELEMENTS[kind]
                stored = self._as("float" if number == "float" else "int", value)
                if isinstance(memory, ir.FloatType):
                    stored = self.b.fptrunc(stored, memory)
                elif isinstance(memory, ir.IntType) and memory.width < 64:
                    stored = self.b.trunc(stored, memory)
                self.b.store(stored, place)
            case _:
                self._fail(target, "cannot be assigned to")

    def _set(self, name: str, value: _Value) -> None:
        known = self.slots.get(name)
        if known is None:
            known = self.slots[name] = self._slot(_NUMBERS[value.kind]), value.kind
        slot, kind = known
        self.b.store(self._as(kind, value), slot)

    def _slot(self, kind: ir.Type) -> ir.Value:
        here = self.b.block
        self.b.position_before(self._jump)
        slot = self.b.alloca(kind)
        self.b.position_at_end(here)
        return slot

    def _if(self, node: ast.If) -> None:
        then, otherwise, after = self._blocks("then", "otherwise", "after")
        self.b.cbranch(self._test(node.test), then, otherwise)
        for block, body in ((then, node.body), (otherwise, node.orelse)):
            self.b.position_at_end(block)
            self._block(body)
            if not self.b.block.is_terminated:
                self.b.branch(after)
        self.b.position_at_end(after)

    def _while(self, node: ast.While) -> None:
        head, body, after = self._blocks("head", "body", "after")
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(self._test(node.test), body, after)
        self._loop_body(node.body, body, head, after)
        if not self.b.block.is_terminated:
            self.b.branch(head)
        self.b.position_at_end(after)

    def _for(self, node: ast.For) -> None:
        match node:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=bounds)):
                pass
            case _:
                self._fail(node, "loops are over range")
        values = [self._expression(bound) for bound in bounds[:2]]
        start, stop = values if len(values) == 2 else (_Value(_I64(0), "int"), values[0])
        step = ast.literal_eval(bounds[2]) if len(bounds) == 3 else 1
        end = self._as("int", stop)
        # As in Python, the variable keeps its last value behind the loop.
        count = self._slot(_I64)
        self.b.store(self._as("int", start), count)
        head, body, onward, after = self._blocks("head", "body", "onward", "after")
        self.b.branch(head)
        self.b.position_at_end(head)
        here = self.b.load(count)
        self.b.cbranch(self.b.icmp_signed("<" if step > 0 else ">", here, end), body, after)
        self.b.position_at_end(body)
        self._set(name, _Value(here, "int"))
        self._loop_body(node.body, body, onward, after)
        if not self.b.block.is_terminated:
            self.b.branch(onward)
        self.b.position_at_end(onward)
        self.b.store(self.b.add(self.b.load(count), _I64(step)), count)
        self.b.branch(head)
        self.b.position_at_end(after)

    def _loop_body(self, statements: list[ast.stmt], body: ir.Block, head: ir.Block, after: ir.Block) -> None:
        self.loops.append((head, after))
        self.b.position_at_end(body)
        self._block(statements)
        self.loops.pop()

    def _blocks(self, *names: str) -> list[ir.Block]:
        return [self.function.append_basic_block(name) for name in names]

    # Expressions

    def _test(self, node: ast.expr) -> ir.Value:
        return self._as("bool", self._expression(node))

    def _as(self, kind: str, value: _Value) -> ir.Value:
        """The value as a number of another type."""
        here, found = value.kind, value.value
        if here == kind or {here, kind} == {"int", "word"}:
            return found
        if kind == "bool":
            if here == "float":
                return self.b.fcmp_unordered("!=", found, _DOUBLE(0.0))
            return self.b.icmp_signed("!=", found, _I64(0))
        if kind == "float":
            return (
                self.b.uitofp(found, _DOUBLE) if here in ("bool", "word") else self.b.sitofp(found, _DOUBLE)
            )
        return self.b.fptosi(found, _I64) if here == "float" else self.b.zext(found, _I64)

    def _expression(self, node: ast.expr) -> _Value:
        match node:
            case ast.Constant(value=bool() as value):
                return _Value(_I1(int(value)), "bool")
            case ast.Constant(value=int() as value):
                return _Value(_I64(value), "int")
            case ast.Constant(value=float() as value):
                return _Value(_DOUBLE(value), "float")
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.arrays:
                return self._element(name, index)
            case ast.BinOp(left=left, op=operator, right=right):
                return self._operate(node, operator, self._expression(left), self._expression(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return _Value(self.b.not_(self._test(operand)), "bool")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                number = self._expression(operand)
                if number.kind == "float":
                    return _Value(self.b.fneg(number.value), "float")
                return _Value(self.b.neg(self._as("int", number)), "int")
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                number = self._expression(operand)
                kind = "word" if number.kind == "word" else "int"
                return _Value(self.b.not_(self._as(kind, number)), kind)
            case ast.Compare(left=left, ops=operators, comparators=others):
                return self._compare(node, left, operators, others)
            case ast.BoolOp(op=operator, values=values):
                return self._short(values, isinstance(operator, ast.And))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self._choose(test, body, orelse)
            case ast.Call():
                found = self._call(node)
                if found is None:
                    self._fail(node, "has no value")
                return found
            case _:
                self._fail(node, "not an expression of kernels")

    def _name(self, node: ast.expr, name: str) -> _Value:
        if name in self.slots:
            slot, kind = self.slots[name]
            return _Value(self.b.load(slot), kind)
        value = self.globals.get(name)
        if isinstance(value, bool | int | float):
            return self._expression(ast.Constant(value))
        self._fail(node, "no number of this name is known here")

    def _place(self, name: str, index: ast.expr) -> tuple[ir.Value, str]:
        array, kind = self.arrays[name]
        return self.b.gep(array, [self._as("int", self._expression(index))], inbounds=True), kind

    def _element(self, name: str, index: ast.expr) -> _Value:
        place, kind = self._place(name, index)
        memory, number = _ELEMENTS[kind]
        value = self.b.load(place)
        if isinstance(memory, ir.FloatType):
            value = self.b.fpext(value, _DOUBLE)
        elif isinstance(memory, ir.IntType) and memory.width < 64:
            value = self.b.zext(value, _I64) if number == "word" else self.b.sext(value, _I64)
        return _Value(value, "word" if kind == "U64" else "float" if number == "float" else "int")

    def _operate(self, node: ast.AST, operator: ast.operator, left: _Value, right: _Value) -> _Value:
        b = self.b
        if "float" in (left.kind, right.kind) or isinstance(operator, ast.Div):
            x, y = self._as("float", left), self._as("float", right)
            floats: dict[type, Callable[[ir.Value, ir.Value], ir.Value]] = {
                ast.Add: b.fadd, ast.Sub: b.fsub, ast.Mult: b.fmul, ast.Div: b.fdiv,
            }  # fmt: skip
            if type(operator) not in floats:
                self._fail(node, "not an operation on such numbers")
            return _Value(floats[type(operator)](x, y), "float")
        if left.kind == right.kind == "bool" and isinstance(operator, ast.BitAnd | ast.BitOr | ast.BitXor):
            kind = "bool"
        else:
            kind = "word" if "word" in (left.kind, right.kind) else "int"
        x, y = self._as(kind, left), self._as(kind, right)
        match operator:
            case ast.Add():
                found = b.add(x, y)
            case ast.Sub():
                found = b.sub(x, y)
            case ast.Mult():
                found = b.mul(x, y)
            case ast.BitAnd():
                found = b.and_(x, y)
            case ast.BitOr():
                found = b.or_(x, y)
            case ast.BitXor():
                found = b.xor(x, y)
            case ast.LShift():
                found = b.shl(x, y)
            case ast.RShift():
                kind = left.kind if left.kind != "bool" else "int"
                found = b.lshr(x, y) if kind == "word" else b.ashr(x, y)
            case ast.FloorDiv() | ast.Mod():
                rest = b.srem(x, y)
                below = b.icmp_signed("<", rest, _I64(0))
                if isinstance(operator, ast.Mod):
                    found = b.select(below, b.add(rest, y), rest)
                else:
                    found = b.sub(b.sdiv(x, y), b.zext(below, _I64))
            case _:
                self._fail(node, "not an operation of kernels")
        return _Value(found, kind)

    def _compare(
        self, node: ast.expr, left: ast.expr, operators: list[ast.cmpop], others: list[ast.expr]
    ) -> _Value:
        before = self._expression(left)
        found: ir.Value | None = None
        for operator, other in zip(operators, others, strict=True):
            sign = _COMPARE.get(type(operator))
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
        return _Value(found, "bool")

    def _short(self, values: list[ast.expr], conjunction: bool) -> _Value:
        """`and` and `or` as tests: what comes later is looked at only if it matters."""
        slot = self._slot(_I1)
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
        return _Value(self.b.load(slot), "bool")

    def _choose(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> _Value:
        then, otherwise, after = self._blocks("then", "otherwise", "after")
        self.b.cbranch(self._test(test), then, otherwise)
        ends = []
        for block, node in ((then, body), (otherwise, orelse)):
            self.b.position_at_end(block)
            ends.append((self._expression(node), self.b.block))
        kinds = {value.kind for value, _ in ends}
        kind = kinds.pop() if len(kinds) == 1 else "float" if "float" in kinds else "int"
        slot = self._slot(_NUMBERS[kind])
        for value, block in ends:
            self.b.position_at_end(block)
            self.b.store(self._as(kind, value), slot)
            self.b.branch(after)
        self.b.position_at_end(after)
        return _Value(self.b.load(slot), kind)

    def _call(self, node: ast.Call) -> _Value | None:
        if not isinstance(node.func, ast.Name) or node.keywords:
            self._fail(node, "not a call of kernels")
        name = node.func.id
        if name in ("min", "max") and len(node.args) == 2:
            x, y = (self._expression(argument) for argument in node.args)
            kind = "float" if "float" in (x.kind, y.kind) else "int"
            first, second = self._as(kind, x), self._as(kind, y)
            sign = "<" if name == "min" else ">"
            less = self.b.fcmp_ordered if kind == "float" else self.b.icmp_signed
            return _Value(self.b.select(less(sign, first, second), first, second), kind)
        if name in ("int", "float", "bool") and len(node.args) == 1:
            return _Value(self._as(name, self._expression(node.args[0])), name)
        if name == "abs" and len(node.args) == 1:
            value = self._expression(node.args[0])
            if value.kind == "float":
                below = self.b.fcmp_ordered("<", value.value, _DOUBLE(0.0))
                return _Value(self.b.select(below, self.b.fneg(value.value), value.value), "float")
            number = self._as("int", value)
            below = self.b.icmp_signed("<", number, _I64(0))
            return _Value(self.b.select(below, self.b.neg(number), number), "int")
        called = self.globals.get(name)
        if called is typed.bit_count:
            value = self._as("int", self._expression(node.args[0]))
            return _Value(self.b.ctpop(value), "int")
        if called is typed.trailing_zeros:
            value = self._as("int", self._expression(node.args[0]))
            return _Value(self.b.cttz(value, _I1(0)), "int")
        if isinstance(called, Kernel):
            return self._call_kernel(node, called)
        self._fail(node, "not a function of kernels")

    def _call_kernel(self, node: ast.Call, called: Kernel) -> _Value | None:
        function = self.made.get(called.name) or _Function(self.module, called, self.made, False).function
        kinds = called.annotations
        result = kinds.pop("return", "None")
        if len(kinds) != len(node.args):
            self._fail(node, f"{called.name} takes {len(kinds)} arguments")
        values = []
        for argument, kind in zip(node.args, kinds.values(), strict=True):
            if kind in _ELEMENTS:
                if not isinstance(argument, ast.Name) or self.arrays.get(argument.id, (None, ""))[1] != kind:
                    self._fail(argument, f"{called.name} takes an array {kind} here")
                values.append(self.arrays[argument.id][0])
            else:
                values.append(self._as(kind, self._expression(argument)))
        found = self.b.call(function, values)
        return None if result == "None" else _Value(found, result)
