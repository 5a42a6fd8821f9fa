"""Random sound IR: structured programs of every kind of control flow, built block by block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from sglc.ir import ops, terminators
from sglc.ir.builder import FunctionBuilder
from sglc.ir.module import Function, HoleInfo, Module, Parameter, RetryPolicy
from sglc.types.type import Int, Str

VALUES = st.one_of(
    st.integers(-3, 12), st.booleans(), st.sampled_from(["", "a", "b\n", "two words", "é"]), st.none()
)

STATEMENTS = (
    *(
        "text",
        "text",
        "line",
        "line",
        "glue",
        "insert",
        "insert",
        "store",
        "store",
        "store",
        "if",
        "for",
        "try",
    ),
    *(
        "hole",
        "ensure",
        "ensure",
        "part",
        "call",
        "role",
        "leave",
        "unused",
        "fork",
        "fork",
        "check",
        "ahead",
        "forget",
    ),
)


@dataclass
class Writer:
    """Draws the body of one function. `known` are the variables that surely have a value."""

    draw: Any
    name: str
    kind: str
    module: list[Function]
    holes: list[HoleInfo]
    parts: list[str]
    known: list[str] = field(default_factory=list)
    build: FunctionBuilder = field(default_factory=FunctionBuilder)
    variables: int = 0
    in_loop: tuple[str, str] | None = None
    budget: int = 18
    forks: int = 0

    def one_of(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def variable(self) -> str:
        if self.known and self.one_of(True, True, False):
            return self.one_of(*self.known)
        self.variables += 1
        return f"v{self.variables}" if self.kind != "fork" else f"{self.name}.v{self.variables}"

    # -- expressions: each gives a temporary of the current block --------------------------------------

    def expression(self, depth: int = 2) -> int:
        build = self.build
        kind = self.one_of("const", "const", "load", "unary", "binary", "concat", "list", "method", "reuse")
        if kind == "load" and self.known:
            return build.load(self.one_of(*self.known))
        if depth and kind == "unary":
            return build.value(ops.Unary, self.one_of("not", "-"), self.expression(depth - 1))
        if depth and kind == "binary":
            left, right = self.expression(depth - 1), self.expression(depth - 1)
            if self.draw(st.booleans()) and self.draw(st.booleans()):
                left, right = right, left
            operator = self.one_of("+", "-", "*", "==", "!=", "<", ">=", "//")
            return build.value(ops.Binary, operator, left, right)
        if depth and kind == "concat":
            return build.value(ops.Concat, (self.expression(depth - 1), self.expression(depth - 1)))
        if depth and kind == "list":
            return build.value(ops.MakeList, (self.expression(depth - 1), self.expression(depth - 1)))
        if depth and kind == "method":
            one = self.expression(depth - 1)
            return build.value(ops.CallMethod, "m", (one, one) if self.draw(st.booleans()) else (one,))
        if depth and kind == "reuse":
            one = self.expression(depth - 1)
            self.expression(0)
            return build.value(ops.Binary, "==", one, one)
        return build.const(self.draw(VALUES))

    # -- statements ------------------------------------------------------------------------------------

    def statements(self, most: int, least: int = 0) -> None:
        for _ in range(self.draw(st.integers(least, most))):
            if not self.build.open or self.budget <= 0:
                return
            self.budget -= 1
            kind = self.one_of(*(["part"] * 4 if self.parts else []), *STATEMENTS)
            getattr(self, kind)()

    def scope(self, most: int) -> None:
        """Statements whose variables are not known afterwards."""
        known = list(self.known)
        self.statements(most)
        self.known = known

    def text(self) -> None:
        self.build.add(ops.Text(self.one_of("", "x", "a b", "\n")))

    def line(self) -> None:
        self.build.add(ops.Line())

    def glue(self) -> None:
        self.build.add(ops.Glue())

    def insert(self) -> None:
        if self.known and self.draw(st.booleans()):
            self.build.add(ops.Insert(self.build.load(self.one_of(*self.known))))
        else:
            self.build.add(ops.Insert(self.expression()))

    def unused(self) -> None:
        self.expression()

    def store(self) -> None:
        value = self.expression(self.one_of(0, 0, 2))
        slot = self.variable()
        self.build.store(slot, value)
        if slot not in self.known:
            self.known.append(slot)

    def check(self) -> None:
        self.build.add(ops.RecordCheck(self.draw(st.booleans()), self.expression(0)))

    def role(self) -> None:
        self.build.add(ops.OpenRole(self.one_of("user", "assistant")))
        if self.draw(st.booleans()):
            self.build.add(ops.Line())
            self.build.add(ops.Text("said"))
            self.build.add(ops.CloseRole())

    def hole(self) -> None:
        options = (self.expression(0),) if self.draw(st.booleans()) else ()
        self.holes.append(
            HoleInfo(f"{self.name}.h{len(self.holes)}", type=Int(0, 6), options=("seed",) * len(options))
        )
        slot = self.variable()
        self.build.store(slot, self.build.value(ops.Generate, len(self.holes) - 1, options))
        if slot not in self.known:
            self.known.append(slot)

    def ensure(self) -> None:
        """A hole, something after it, and a condition that may draw it again."""
        build = self.build
        self.holes.append(HoleInfo(f"{self.name}.e{len(self.holes)}", type=Int(0, 6)))
        slot = self.variable()
        strategy = self.one_of("resample", "repair")
        retry = len(build.retries)
        build.retries.append(RetryPolicy(strategy, self.one_of(0, 1, 3), len(self.holes) - 1, slot))
        build.add(ops.Snapshot(retry))
        build.store(slot, build.value(ops.Generate, len(self.holes) - 1, ()))
        if slot not in self.known:
            self.known.append(slot)
        if self.draw(st.booleans()):
            self.text()
        holds, fails = build.fresh_label("holds"), build.fresh_label("fails")
        test = build.value(ops.Binary, self.one_of("<", "=="), build.load(slot), build.const(4))
        build.end(terminators.Branch(test, holds, fails))
        build.start(fails)
        build.add(ops.TryAgain(retry, build.const("no")))
        if self.draw(st.booleans()):
            build.end(terminators.RaiseError("Rejected", (build.const("no"),)))
        build.start(holds)

    def leave(self) -> None:
        build = self.build
        kind = self.one_of("return", "raise", "break", "continue")
        if self.in_loop and kind in ("break", "continue"):
            build.end(terminators.Jump(self.in_loop[0 if kind == "break" else 1]))
        elif kind == "raise":
            build.end(terminators.RaiseError(self.one_of("A", "B"), (self.expression(0),)))
        elif kind == "return" and not self.tries:
            build.end(terminators.Return(self.expression(0)))

    tries: int = 0

    def part(self) -> None:
        if self.parts:
            name, count = self.one_of(*self.parts)
            arguments = tuple(self.expression(0) for _ in range(count))
            before = self.expression(0)
            value = self.build.value(ops.CallPart, name, arguments)
            self.build.add(ops.Insert(value if self.draw(st.booleans()) else before))

    def call(self) -> None:
        pure = [f for f in self.module if f.kind == "pure"]
        if pure:
            value = self.build.value(ops.Call, self.one_of(*[f.name for f in pure]), ())
            self.build.add(ops.Insert(value))

    def ahead(self) -> None:
        """A call whose arguments are computed ahead, quietly."""
        helpers = [f.name for f in self.module if f.kind == "fn"]
        if not helpers:
            return
        build, name = self.build, self.one_of(*helpers)
        body, failed, done = (build.fresh_label(stem) for stem in ("ahead", "none", "begun"))
        build.end(terminators.Try(body, failed, True))
        build.start(body)
        build.add(ops.Start(name, (self.expression(),)))
        build.add(ops.EndTry())
        build.end(terminators.Jump(done))
        build.start(failed)
        build.end(terminators.Jump(done))
        build.start(done)
        build.add(ops.Insert(build.value(ops.Call, name, (self.expression(0),))))

    # Python keywords as method names are reached through getattr only.
    def _if(self) -> None:
        build = self.build
        then, otherwise, done = (build.fresh_label(stem) for stem in ("then", "else", "done"))
        build.end(terminators.Branch(self.expression(), then, otherwise))
        build.start(then)
        self.scope(3)
        build.end(terminators.Jump(done))
        build.start(otherwise)
        self.scope(2)
        build.end(terminators.Jump(done))
        build.join(done)

    def _for(self) -> None:
        build = self.build
        iterator = build.fresh_slot("iterator")
        items = self.draw(st.lists(VALUES, max_size=2))
        made = build.value(ops.MakeList, tuple(build.const(v) for v in items))
        build.store(iterator, build.value(ops.Iterate, made))
        each, body, done = (build.fresh_label(stem) for stem in ("each", "body", "done"))
        build.start(each)
        slot = self.variable()
        build.end(terminators.Next(iterator, slot, body, done))
        build.start(body)
        outer, self.in_loop = self.in_loop, (done, each)
        tries, self.tries = self.tries, 1
        known = list(self.known)
        self.known = [*known, slot]
        self.statements(3)
        self.known, self.in_loop, self.tries = known, outer, tries
        build.end(terminators.Jump(each))
        build.start(done)

    def _try(self) -> None:
        build = self.build
        body, failed, done = (build.fresh_label(stem) for stem in ("try", "failed", "done"))
        build.end(terminators.Try(body, failed, False))
        build.start(body)
        outer, self.in_loop = self.in_loop, None
        tries, self.tries = self.tries, 1
        self.scope(3)
        self.in_loop, self.tries = outer, tries
        build.add(ops.EndTry())
        build.end(terminators.Jump(done))
        build.start(failed)
        caught, other = build.fresh_label("caught"), build.fresh_label("other")
        build.end(terminators.Branch(build.value(ops.Catch, self.one_of("A", "Failure", "")), caught, other))
        build.start(other)
        build.end(terminators.Reraise(build.value(ops.HandledError)))
        build.start(caught)
        build.add(ops.Insert(build.value(ops.HandledError)))
        kept = build.fresh_slot("caught")
        build.store(kept, build.value(ops.HandledError))
        self.scope(2)
        if build.open and self.draw(st.booleans()):
            build.end(terminators.Reraise(build.load(kept)))
        build.end(terminators.Jump(done))
        build.join(done)

    def forget(self) -> None:
        self.build.add(ops.Mark())
        outer, self.in_loop = self.in_loop, None
        tries, self.tries = self.tries, 1
        self.scope(3)
        self.in_loop, self.tries = outer, tries
        if self.build.open:
            self.build.add(ops.Line())
            self.build.add(ops.Forget())
            self.text()

    def fork(self) -> None:
        if self.kind != "fn":
            return
        name = f"{self.name}.fork{self.forks}"
        self.forks += 1
        place = len(self.module)
        body = Writer(self.draw, name, "fork", self.module, self.holes, [], list(self.known), budget=5)
        body.known.append(f"{name}.i")
        body.statements(4)
        if body.build.open:
            body.build.end(terminators.Return(body.expression(0)))
        self.module.insert(
            place,
            Function(
                name,
                "fork",
                (Parameter("i", f"{name}.i", Int()),),
                tuple(body.build.blocks),
                retries=tuple(body.build.retries),
                parent=self.name,
            ),
        )
        items = self.build.value(ops.MakeList, (self.build.const(1), self.build.const(2)))
        result = self.build.value(ops.RunFork, name, items, False)
        self.build.add(ops.Insert(result))


setattr(Writer, "if", Writer._if)
setattr(Writer, "for", Writer._for)
setattr(Writer, "try", Writer._try)


def _function(writer: Writer, parameters: int, place: int) -> None:
    """Draw a function and put it before the fork bodies in it."""
    names = [f"p{index}" for index in range(parameters)]
    writer.known.extend(names)
    writer.statements(8, 3)
    if writer.build.open:
        writer.build.end(terminators.Return(writer.expression(0)))
    kind: Any = writer.kind
    writer.module.insert(
        place,
        Function(
            writer.name,
            kind,
            tuple(Parameter(n, n, Str()) for n in names),
            tuple(writer.build.blocks),
            retries=tuple(writer.build.retries),
            module="other" if kind in ("part", "pure") else "",
        ),
    )


@st.composite
def modules(draw: Any) -> Module:
    """Modules with one `fn main(p0)`, up to two parts, maybe a pure function, a `fn helper(p0)` or forks."""
    functions: list[Function] = []
    holes: list[HoleInfo] = []
    parts: list[Any] = []
    if draw(st.booleans()):
        build = FunctionBuilder()
        build.end(terminators.Return(build.const(draw(VALUES))))
        functions.append(Function("pure", "pure", (), tuple(build.blocks), module="other"))
    if draw(st.booleans()):
        _function(Writer(draw, "helper", "fn", functions, holes, [], budget=4), 1, len(functions))
    for index in range(draw(st.integers(0, 2))):
        count = draw(st.integers(0, 2))
        writer = Writer(draw, f"part{index}", "part", functions, holes, list(parts), budget=8)
        _function(writer, count, len(functions))
        parts.append((f"part{index}", count))
    _function(Writer(draw, "main", "fn", functions, holes, parts), 1, len(functions))
    return Module("random", tuple(functions), tuple(holes))
