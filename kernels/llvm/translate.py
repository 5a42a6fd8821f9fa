"""Kernels of `sglc.kernels.dsl.language` as LLVM IR.

One pass over the syntax tree of each function: expressions become values with a type, variables stack slots,
which LLVM's optimiser turns into registers. A kernel that another one calls becomes a function of the module
that is inlined, unless it is `noinline`; each set of constants makes a function of its own.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Mapping

from llvmlite import ir

from sglc.kernels.dsl.language import AnyKernel, Specialised
from sglc.kernels.dsl.structs import Struct
from sglc.kernels.llvm import values as v
from sglc.kernels.llvm.expressions import Expressions
from sglc.kernels.llvm.target import Target, host
from sglc.kernels.llvm.vectors import LaneCode


def translate(kernels: Iterable[AnyKernel | Specialised], name: str, target: Target | None = None) -> str:
    """The IR text of a module with some kernels, as `sglc_` and their name, for a processor (else this one).

    Raises KernelError.
    """
    within = _Module(name, target or host())
    for each in kernels:
        one = each if isinstance(each, Specialised) else Specialised(each, {})
        _Function(within, one.kernel, dict(one.constants), f"sglc_{one.name}")
    return str(within.module)


class _Module:
    """A module in the making, and the functions in it that kernels call."""

    def __init__(self, name: str, target: Target) -> None:
        self.module = ir.Module(name=name)
        self.target = target
        self.made: dict[str, ir.Function] = {}


class _Function(Expressions):
    """The translation of one kernel."""

    def __init__(
        self, within: _Module, kernel: AnyKernel, constants: Mapping[str, int], public: str = ""
    ) -> None:
        self.within, self.module, self.kernel = within, within.module, kernel
        self.globals, self.constants = kernel.function.__globals__, constants
        self.kinds = kernel.structs
        tree = ast.parse(textwrap.dedent(inspect.getsource(kernel.function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        kinds = {name: kind for name, kind in kernel.annotations.items() if kind != "Constant"}
        self.result = kinds.pop("return", "None")
        arguments = [(name, self._argument(name, kind), kind) for name, kind in kinds.items()]
        result = ir.VoidType() if self.result == "None" else v.VALUES[self.result]
        name = Specialised(kernel, constants).name
        self.function = ir.Function(
            self.module,
            ir.FunctionType(result, [kind for _, kind, _ in arguments]),
            name=public or f"inner_{name}",
        )
        if not public:
            self.function.linkage = "internal"
            self.function.attributes.add("noinline" if kernel.noinline else "alwaysinline")
            within.made[name] = self.function
        slots = self.function.append_basic_block("slots")
        start = self.function.append_basic_block("start")
        self.b = ir.IRBuilder(slots)
        self.code = LaneCode(self.module, self.b, within.target)
        self._jump = self.b.branch(start)
        self.b.position_at_end(start)
        self.arrays, self.locals, self.slots, self.structs, self.fields = {}, {}, {}, {}, {}
        self.loops: list[tuple[ir.Block, ir.Block]] = []
        for (name, _, kind), value in zip(arguments, self.function.args, strict=True):
            value.name = name
            if kind in v.ELEMENTS:
                if not kernel.parallel:
                    # Other threads write to the arrays of a parallel kernel while it runs.
                    value.add_attribute("noalias")
                self.arrays[name] = v.Array(value, kind)
            elif name in self.kinds:
                value.add_attribute("noalias")
                value.attributes.dereferenceable = 8 * len(self.kinds[name].fields)
                self.structs[name] = value, self.kinds[name]
            else:
                self._set(name, v.Value(value, kind))
        self._block(tree.body)
        if not self.b.block.is_terminated:
            if self.result == "None":
                self.b.ret_void()
            else:
                self.b.unreachable()

    def _argument(self, name: str, kind: str) -> ir.Type:
        if kind in v.ELEMENTS:
            return v.ELEMENTS[kind][0].as_pointer()
        if name in self.kinds:
            return v.I64.as_pointer()
        if kind not in v.VALUES or kind == "word":
            raise v.KernelError(f"{self.kernel.name}: {name} has the unknown kind {kind}")
        return v.VALUES[kind]

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
                found = [self._array_or_none(value) or self._expression(value) for value in values]
                for target, value in zip(targets, found, strict=True):
                    self._assign(target, value)
            case ast.Assign(targets=targets, value=value):
                one = self._array_or_none(value) or self._expression(value)
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

    def _assign(self, target: ast.expr, value: v.Value | v.Array) -> None:
        match target:
            case ast.Name(id=name) if isinstance(value, v.Array):
                if name in self.slots or self.arrays.get(name, value) is not value:
                    self._fail(target, "has another meaning already")
                self.arrays[name] = value
            case _ if isinstance(value, v.Array):
                self._fail(target, "cannot hold an array")
            case ast.Name(id=name):
                self._set(name, value)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if name in self.locals:
                local, kind = self.locals[name]
                self.b.store(self._as(kind, value), self._local(local, index))
            case ast.Subscript(value=of, slice=index):
                array = self._array(of)
                place, (memory, number) = self._place(array, index), v.ELEMENTS[array.kind]
                stored = self._as("float" if number == "float" else "int", value)
                if isinstance(memory, ir.FloatType):
                    stored = self.b.fptrunc(stored, memory)
                elif isinstance(memory, ir.IntType) and memory.width < 64:
                    stored = self.b.trunc(stored, memory)
                array.store(self.b, stored, place)
            case _:
                self._fail(target, "cannot be assigned to")

    def _set(self, name: str, value: v.Value) -> None:
        if value.kind.startswith("array of "):
            self.locals[name] = value.value, value.kind.removeprefix("array of ")
            return
        known = self.slots.get(name)
        if known is None:
            known = self.slots[name] = self._slot(v.VALUES[value.kind]), value.kind
        slot, kind = known
        self.b.store(self._as(kind, value), slot)

    def _slot(self, kind: ir.Type) -> ir.Value:
        here = self.b.block
        self.b.position_before(self._jump)
        slot = self.b.alloca(kind)
        self.b.position_at_end(here)
        return slot

    def _field(self, struct: str, name: str) -> v.Array | v.Value:
        """A field of a record, read once where the function begins: nobody writes to the table meanwhile."""
        found = self.fields.get((struct, name))
        if found is not None:
            return found
        table, kind = self.structs[struct]
        field = kind.fields[name]
        here = self.b.block
        self.b.position_before(self._jump)
        place = self.b.gep(table, [v.I64(field.place)], inbounds=True)
        if field.kind == "int":
            value = self.b.load(place, align=8)
            found = v.Value(value, "int")
        else:
            pointer = v.ELEMENTS[field.kind][0].as_pointer()
            value = self.b.load(self.b.bitcast(place, pointer.as_pointer()), align=8)
            found = v.Array(value, field.kind, self._alias(kind, name))
        value.set_metadata("invariant.load", self.module.add_metadata([]))
        self.b.position_at_end(here)
        self.fields[struct, name] = found
        return found

    def _alias(self, kind: type[Struct], name: str) -> ir.MDValue | None:
        """What tells LLVM that fields do not share memory, as types of C do not (its TBAA nodes)."""
        if self.kernel.parallel:
            return None
        root = self.module.add_metadata(["fields of records"])
        field = self.module.add_metadata([f"{kind.__module__}.{kind.__qualname__}.{name}", root, v.I64(0)])
        return self.module.add_metadata([field, field, v.I64(0)])

    def _if(self, node: ast.If) -> None:
        known = self._known(node.test)
        if known is not None:
            self._block(node.body if known else node.orelse)
            return
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
        start, stop = values if len(values) == 2 else (v.Value(v.I64(0), "int"), values[0])
        step = ast.literal_eval(bounds[2]) if len(bounds) == 3 else 1
        end = self._as("int", stop)
        # As in Python, the variable keeps its last value behind the loop.
        count = self._slot(v.I64)
        self.b.store(self._as("int", start), count)
        head, body, onward, after = self._blocks("head", "body", "onward", "after")
        self.b.branch(head)
        self.b.position_at_end(head)
        here = self.b.load(count)
        self.b.cbranch(self.b.icmp_signed("<" if step > 0 else ">", here, end), body, after)
        self.b.position_at_end(body)
        self._set(name, v.Value(here, "int"))
        self._loop_body(node.body, body, onward, after)
        if not self.b.block.is_terminated:
            self.b.branch(onward)
        self.b.position_at_end(onward)
        self.b.store(self.b.add(self.b.load(count), v.I64(step)), count)
        self.b.branch(head)
        self.b.position_at_end(after)

    def _loop_body(self, statements: list[ast.stmt], body: ir.Block, head: ir.Block, after: ir.Block) -> None:
        self.loops.append((head, after))
        self.b.position_at_end(body)
        self._block(statements)
        self.loops.pop()

    # Calls

    def _call_kernel(self, node: ast.Call, called: AnyKernel) -> v.Value | None:
        kinds = called.annotations
        result = kinds.pop("return", "None")
        if len(kinds) != len(node.args):
            self._fail(node, f"{called.name} takes {len(kinds)} arguments")
        arguments = list(zip(node.args, kinds.items(), strict=True))
        constants = {name: self._constant(value) for value, (name, kind) in arguments if kind == "Constant"}
        inner = Specialised(called, constants).name
        function = self.within.made.get(inner) or _Function(self.within, called, constants).function
        values, structs = [], called.structs
        for argument, (name, kind) in arguments:
            if kind in v.ELEMENTS:
                array = self._array_or_none(argument)
                if array is None or array.kind != kind:
                    self._fail(argument, f"{called.name} takes an array {kind} here")
                values.append(array.pointer)
            elif name in structs:
                given = argument.id if isinstance(argument, ast.Name) else ""
                if given not in self.structs or self.structs[given][1] is not structs[name]:
                    self._fail(argument, f"{called.name} takes a record {kind} here")
                values.append(self.structs[given][0])
            elif kind != "Constant":
                values.append(self._as(kind, self._expression(argument)))
        found = self.b.call(function, values)
        return None if result == "None" else v.Value(found, result)
