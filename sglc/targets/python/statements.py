"""Statements of a program as statements of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sglc.check.core.result import DependentType
from sglc.format.quoted import quoted
from sglc.syntax.tree import ast
from sglc.targets.python.context import Context, Text, annotated
from sglc.targets.python.dependents import Dependents
from sglc.targets.python.expressions import Expressions
from sglc.targets.python.holes import Holes
from sglc.targets.python.patterns import Patterns
from sglc.targets.python.walking import MODEL, asks, outside_forks, root_of
from sglc.types.json_text import json_text


@dataclass(frozen=True, slots=True)
class Step:
    """Lines that are written together, and the holes that a condition further down may go back to."""

    write: Callable[[], None]
    holes: frozenset[int]
    conditions: frozenset[int]


class Statements:
    """Writes the statements of one function."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.program = context.program
        self.checked = context.checked
        self.expressions = Expressions(context, lambda node: self.holes.text(node))
        self.holes = Holes(context, self.expressions, self.block)
        self.dependents = Dependents(context, self.expressions)
        self.patterns = Patterns(context)
        self.due: DependentType | None = None
        """The type of the result, where it depends on values of the run."""
        self.result: str | None = None
        """The annotation of what the function returns."""
        self.tries = 0

    # -- blocks ----------------------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.Statement]) -> None:
        """Statements in turn."""
        self.steps([step for statement in statements for step in self.steps_of(statement)])

    def steps(self, steps: Sequence[Step]) -> None:
        """Steps in turn; from a hole that a condition draws again to that condition, in a loop."""
        at = 0
        while at < len(steps):
            target = next((hole for hole in steps[at].holes if self.last(hole, steps, at) is not None), None)
            if target is None or target in self.context.points:
                steps[at].write()
                at += 1
                continue
            last = self.last(target, steps, at)
            assert last is not None
            for inner in range(at, len(steps)):  # loops inside each other must not overlap
                if inner <= last:
                    ends = (self.last(hole, steps, inner) for hole in steps[inner].holes)
                    last = max(last, *(end for end in ends if end is not None), last)
            self.again(target, steps[at : last + 1])
            at = last + 1

    def last(self, hole: int, steps: Sequence[Step], start: int) -> int | None:
        """The last step with a condition that draws a hole again."""
        wanted = {id_ for id_, node in self.checked.retries.items() if id(node) == hole}
        found = [at for at in range(start, len(steps)) if steps[at].conditions & wanted]
        return found[-1] if found else None

    def again(self, hole: int, steps: Sequence[Step]) -> None:
        """Steps that begin again with their hole where a condition says so."""
        context = self.context
        point = context.names.fresh("point")
        context.points[hole] = point
        before = dict(context.slots)
        context.add(f"{point} = Point(c.state)")
        mark = len(context.lines)
        context.add("while True:")
        context.loops.append("point")
        with context.inside():
            context.add("try:")
            with context.inside():
                self.steps(steps)
                context.add("break")
            context.add("except Again as again:")
            with context.inside():
                context.add(f"if again.point is not {point}:", "    raise", f"c.restore({point}.state)")
                changed = self.changed(context.lines[mark:], before)
                if changed:
                    kept = context.names.fresh("kept")
                    context.add(f"{', '.join(changed)} = {kept}")
        context.loops.pop()
        if changed:
            names = ", ".join(changed)
            context.lines.insert(mark, "    " * context.depth + f"{kept} = {names}")

    def changed(self, lines: Sequence[str], before: dict[str, Text]) -> list[str]:
        """Variables from before that lines assign to."""
        names = [text.code for text in before.values()]
        return [name for name in names if any(line.strip().startswith(f"{name} = ") for line in lines)]

    def steps_of(self, node: ast.Statement) -> Iterator[Step]:
        """What a statement does, cut where a hole begins: each step with its holes and conditions."""
        if isinstance(node, ast.PipeLine):
            yield from self.line(node)
            return
        if isinstance(node, ast.Think):
            none: frozenset[int] = frozenset()
            yield Step(lambda: self.put("line", ()), none, none)
            yield Step(lambda: self.context.add(self.holes.value(node.content).code), none, none)
            return
        conditions = frozenset(id(part) for part in outside_forks(node) if isinstance(part, ast.Ensure))
        plain = isinstance(node, ast.Let | ast.Evaluate | ast.Assign)
        inside = outside_forks(node) if plain else ()
        holes = frozenset(id(part) for part in inside if isinstance(part, MODEL))
        yield Step(lambda: _WRITE[type(node)](self, node), holes, conditions)

    # -- text ------------------------------------------------------------------------------------------

    def line(self, node: ast.PipeLine) -> Iterator[Step]:
        """A line of text, cut at its holes."""
        none: frozenset[int] = frozenset()
        pending: list[ast.Text | ast.Insert] = []
        begun = False

        def flush() -> Iterator[Step]:
            nonlocal begun, pending
            if pending or not begun:
                parts, how, pending, begun = pending, "text" if begun else "line", [], True
                yield Step(lambda: self.put(how, parts), none, none)

        for part in node.parts:
            if isinstance(part, ast.Hole):
                yield from flush()
                yield Step(lambda part=part: self.hole(part), frozenset((id(part.content),)), none)  # type: ignore[misc]
            else:
                if isinstance(part, ast.Insert) and asks(part.value):
                    yield from flush()
                pending.append(part)
        yield from flush()
        if node.glued:
            yield Step(lambda: self.context.add("c.glue()"), none, none)

    def put(self, how: str, parts: Sequence[ast.Text | ast.Insert]) -> None:
        """Write texts and values to the conversation; `how` is its method, `line` or `text`."""
        shown = [
            json_text(part.text) if isinstance(part, ast.Text) else self.expressions.code(part.value)
            for part in parts
        ]
        self.context.add(f"c.{how}({', '.join(shown)})")

    def hole(self, part: ast.Hole) -> None:
        """Ask the model for the value of a hole and bind it."""
        slot = self.checked.slot_of(part.content)
        facts = self.checked.holes[id(part.content)]
        sampled = any(option.kind == "n" for option in part.content.options)
        known = facts.type is not None and not isinstance(part.content, ast.Select)
        kind = self.program.annotation(facts.type) if known and facts.type is not None else None
        self.bind(slot, f"list[{kind}]" if sampled and kind else kind, self.holes.value(part.content).code)

    def bind(self, slot: str, kind: str | None, code: str) -> None:
        """A variable with its first value."""
        new = slot not in self.context.slots
        name = self.context.variable(slot, kind)
        self.context.add(f"{annotated(name, kind or 'Any') if new else name} = {code}")

    def _include(self, node: ast.Include) -> None:
        self.context.add(f"c.line({json_text(str(self.checked.constants[id(node)]))})")

    def _role(self, node: ast.Role) -> None:
        if node.tools:
            self.context.lose("messages with tools")
        self.context.add(f"with c.role({json_text(node.role)}):")
        with self.context.inside():
            self.block(node.body)

    def _part(self, node: ast.Part) -> None:
        name, arguments = self.checked.name_of(node.call), self.checked.arguments[id(node.call)]
        code = self.expressions.call(name, arguments, "c, ").code
        code = code.replace("c, )", "c)")
        if node.kind == "aside":
            self._forgotten(lambda: self._bound(node, code))
        else:
            self._bound(node, code)

    def _bound(self, node: ast.Part, code: str) -> None:
        if node.binding is None:
            self.context.add(code)
        else:
            self.bind(self.checked.slot_of(node), None, code)

    def _forget(self, node: ast.Forget) -> None:
        self._forgotten(lambda: self.block(node.body))

    def _forgotten(self, write: Callable[[], None]) -> None:
        """What is written, and text of it that does not stay."""
        before = self.context.names.fresh("before")
        self.context.add(f"{before} = c.state", "try:")
        with self.context.inside():
            write()
        self.context.add("finally:", f"    c.restore({before})")

    # -- variables -------------------------------------------------------------------------------------

    def _let(self, node: ast.Let) -> None:
        slot = self.checked.slot_of(node)
        known = self.checked.resolved.get(id(node.type)) if node.type is not None else None
        kind = self.program.annotation(known or self.checked.types[id(node.value)])
        held = self.dependents.first(node)
        self.bind(slot, kind, held or self.expressions.fitting(node.value, kind))

    def _assign(self, node: ast.Assign) -> None:
        """`a.b[i] = e`: the parts on the way are changed in copies, from the inside out."""
        slot = self.checked.slot_of(root_of(node.target))
        variable = self.context.slots[slot]
        path: list[tuple[str, str]] = []
        target: ast.Expression = node.target
        steps: list[ast.Attribute | ast.Index] = []
        while isinstance(target, ast.Attribute | ast.Index):
            steps.append(target)
            target = target.value
        for step in reversed(steps):
            if isinstance(step, ast.Attribute):
                path.append(("field", json_text(step.name.text)))
            else:
                index = self.context.names.fresh("index")
                self.context.add(f"{index} = {self.expressions.code(step.index)}")
                path.append(("item", index))
        if node.operator == "=" and not path:
            code = self.expressions.fitting(node.value, variable.kind)
            self.context.add(f"{variable.code} = {self.dependents.later(slot, code)}")
            return
        value = self.expressions.code(node.value)
        if node.operator != "=":
            value = f"calculate({json_text(node.operator[0])}, {_read(variable.code, path)}, {value})"
            due = self.checked.coercions.get(id(node))
            value = value if due is None else f"check({value}, {self.program.types.shown(due)})"
        for depth in range(len(path) - 1, -1, -1):
            kind, name = path[depth]
            value = f"with_{kind}({_read(variable.code, path[:depth])}, {name}, {value})"
        self.context.add(f"{variable.code} = {self.dependents.later(slot, value)}")

    def _evaluate(self, node: ast.Evaluate) -> None:
        self.context.add(self.expressions.code(node.value))

    # -- control flow ----------------------------------------------------------------------------------

    def _if(self, node: ast.If) -> None:
        word = "if"
        for condition, statements in node.branches:
            code = self.expressions.condition(condition)
            self.context.add(f"{word} {code}:")
            with self.context.inside():
                self.block(statements)
            word = "elif"
        if node.otherwise:
            self.context.add("else:")
            with self.context.inside():
                self.block(node.otherwise)

    def _loop(self, statements: Sequence[ast.Statement]) -> None:
        self.context.loops.append("loop")
        with self.context.inside():
            self.block(statements)
        self.context.loops.pop()

    def _for(self, node: ast.For) -> None:
        iterable, kind = self.expressions.iterated(node.iterable)
        slot = self.checked.slot_of(node)
        self.context.add(f"for {self.context.variable(slot, kind)} in {iterable}:")
        self._loop(node.body)

    def _stream(self, node: ast.StreamFor) -> None:
        """One round with the whole result: what asks models there gives it at its end."""
        self.context.lose("the parts of a stream", "one round with the whole result")
        whole = self.context.names.fresh("whole")
        slot = self.checked.slot_of(node)
        self.context.add(f"{whole}: Any = {self.expressions.code(node.call)}")
        if node.whole is not None:
            behind = self.checked.slot_of(node.whole)
            self.bind(behind, None, "None")
        self.context.add(f"for {self.context.variable(slot, None)} in [{whole}]:")
        self._loop(node.body)
        if node.whole is not None:
            self.context.add("else:", f"    {self.context.variable(behind, None)} = {whole}")

    def _while(self, node: ast.While) -> None:
        rounds = ""
        if node.limit is not None:
            rounds = self.context.names.fresh("rounds")
            self.context.add(f"{rounds} = {self.expressions.code(node.limit)}")
        self.context.add(f"while {self.expressions.condition(node.condition)}:")
        if rounds:
            text = f"`while {quoted(node.condition.span)}`"
            self.context.depth += 1
            self.context.add(f"{rounds} = spend({rounds}, {json_text(text)})")
            self.context.depth -= 1
        self._loop(node.body)

    def _jump(self, word: str) -> None:
        if self.context.loops[-1] == "point":
            self.context.lose(f"`{word}` between a hole and a condition that draws it again")
        self.context.add(word)

    def _match(self, node: ast.Match) -> None:
        """The cases as a chain of conditions, each with what it binds."""
        subject = self.context.names.fresh("subject")
        self.context.add(f"{subject}: Any = {self.expressions.code(node.subject)}")
        word = "if"
        for case in node.cases:
            test = self.patterns.test(case.pattern, subject)
            if case.guard is not None:
                test = f"{test} and {self.expressions.condition(case.guard)}"
            self.context.add(f"{word} {test}:")
            with self.context.inside():
                self.block(case.body)
            word = "elif"
        self.context.add("else:", '    raise Failure("no case matches this value")')

    def _return(self, node: ast.Return) -> None:
        if node.value is None:
            self.context.add("return None" if self.result != "None" else "return")
        else:
            held = self.dependents.result(node, self.due)
            self.context.add(f"return {held or self.expressions.returned(node.value, self.result)}")

    def _yield(self, node: ast.Yield) -> None:
        self.context.add(f"return {self.expressions.code(node.value)}")

    def _adopt(self, node: ast.Adopt) -> None:
        self.context.add(f"c.adopt({self.expressions.code(node.value)})")

    # -- errors ----------------------------------------------------------------------------------------

    def _raise(self, node: ast.Raise) -> None:
        self.context.add(f"raise {self.expressions.error(node)}")

    def _try(self, node: ast.Try) -> None:
        context = self.context
        before = context.names.fresh("before")
        if context.writes:
            context.add(f"{before} = c.state")
        context.add("try:")
        with context.inside():
            self.block(node.body)
        for handler in node.handlers:
            errors = [self.program.errors[self.checked.name_of(name)] for name in handler.errors]
            names = errors or ["SglError"]
            caught = context.names.fresh("error" if handler.binding is None else handler.binding.text)
            if handler.binding is not None:
                context.slots[self.checked.slot_of(handler)] = Text(caught, "SglError")
            kinds = names[0] if len(names) == 1 else f"({', '.join(names)})"
            context.add(f"except {kinds} as {caught}:")
            context.caught.append(caught)
            with context.inside():
                context.add(f"c.restore({before})" if context.writes else "pass")
                self.block(handler.body)
            context.caught.pop()

    def _ensure(self, node: ast.Ensure) -> None:
        if node.each is None:
            self.one(node)
            return
        slot = self.checked.slot_of(node)
        items, kind = self.expressions.iterated(node.each[1])
        self.context.add(f"for {self.context.variable(slot, kind)} in {items}:")
        with self.context.inside():
            self.one(node)

    def one(self, node: ast.Ensure) -> None:
        """One condition, and what follows where it does not hold."""
        context = self.context
        if node.hard:
            context.add(f"if not {self.expressions.condition(node.condition)}:")
        else:
            context.add(f"if {self.expressions.condition(node.condition)}:", '    note(True, "")', "else:")
        with context.inside():
            why = f"`{quoted(node.condition.span)}` does not hold"
            reason = json_text(why) if node.message is None else self.expressions.code(node.message)
            hole = self.checked.retries.get(id(node))
            point = None if hole is None else context.points.get(id(hole))
            if node.retry is not None and point is not None:
                kept = context.names.fresh("reason")
                context.add(f"{kept} = {reason}")
                reason = kept
                self.tries += 1
                count = self.checked.constants[id(node.retry.count)]
                strategy = node.retry.strategy
                context.add(f"{point}.retry({self.tries}, {count}, {json_text(strategy)}, {reason})")
            if not node.hard:
                context.add(f"note(False, {reason})")
            elif node.fallback is not None:
                context.add(f"raise {self.expressions.error(node.fallback)}")
            else:
                context.add(f"raise Rejected({reason})")


def _read(variable: str, path: Sequence[tuple[str, str]]) -> str:
    for kind, name in path:
        variable = f"{'attribute' if kind == 'field' else 'item'}({variable}, {name})"
    return variable


_WRITE: dict[type, Callable[[Statements, Any], None]] = {
    ast.Include: Statements._include,
    ast.Role: Statements._role,
    ast.Using: lambda self, node: self.block(node.body),
    ast.Parallel: lambda self, node: self.block(node.body),
    ast.Part: Statements._part,
    ast.Forget: Statements._forget,
    ast.Let: Statements._let,
    ast.Assign: Statements._assign,
    ast.Evaluate: Statements._evaluate,
    ast.If: Statements._if,
    ast.For: Statements._for,
    ast.StreamFor: Statements._stream,
    ast.While: Statements._while,
    ast.Match: Statements._match,
    ast.Return: Statements._return,
    ast.Break: lambda self, node: self._jump("break"),
    ast.Continue: lambda self, node: self._jump("continue"),
    ast.Raise: Statements._raise,
    ast.Try: Statements._try,
    ast.Ensure: Statements._ensure,
    ast.Yield: Statements._yield,
    ast.Adopt: Statements._adopt,
}
