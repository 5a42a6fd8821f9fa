"""What each assignment of a function does: Python has one kind, the language has `let`, `var` and `=`.

A variable of the language lives in the block that it is bound in, so the first assignment in a block binds
it and those that follow, there or in blocks inside, give it another value. A message is no block.
"""

from __future__ import annotations

import ast as python
import re
from collections.abc import Iterator
from dataclasses import dataclass

from sglc.frontend.body.context import Binding, Context, HoleUse


def find_bindings(context: Context) -> None:
    """Fill `bindings` and `local` of the context from the body of its function."""
    walk = _Walk(context.states)
    parameters = [*context.node.args.posonlyargs, *context.node.args.args, *context.node.args.kwonlyargs]
    scope: dict[str, int] = {}
    for parameter in parameters:
        scope[parameter.arg] = id(parameter)
        context.local.add(parameter.arg)
    walk.block(context.node.body, [scope])
    context.bindings = walk.bindings
    context.local |= walk.names


@dataclass(frozen=True, slots=True)
class Choice:
    """One branch of an `if` that only gives a variable its value; the last one has no condition."""

    condition: python.expr | None
    target: python.Name
    value: python.expr


def choice_of(node: python.If) -> list[Choice] | None:
    """The branches of an `if` that gives one variable a value in each of them; None for any other."""
    made: list[Choice] = []
    rest: list[python.stmt] = [node]
    while len(rest) == 1:
        match rest[0]:
            case python.If(test=test, body=[python.Assign(targets=[python.Name() as target], value=value)]):
                made.append(Choice(test, target, value))
                rest = rest[0].orelse
            case python.Assign(targets=[python.Name() as target], value=value) if made:
                made.append(Choice(None, target, value))
                return made if len({each.target.id for each in made}) == 1 else None
            case _:
                return None
    return None


class _Walk:
    def __init__(self, states: set[str]) -> None:
        self.bindings: dict[int, Binding] = {}
        self.names: set[str] = set()
        self.states = states

    def block(self, body: list[python.stmt], scopes: list[dict[str, int]]) -> None:
        for statement in body:
            self.statement(statement, scopes)

    def statement(self, node: python.stmt, scopes: list[dict[str, int]]) -> None:
        match node:
            case python.Assign(targets=targets):
                for target in targets:
                    for name in _names(target):
                        self.bind(name, scopes)
            case python.AnnAssign(target=python.Name() as name):
                self.bind(name, scopes)
            case python.AugAssign(target=python.Name() as name):
                self.change(name, name.id, scopes)
            case python.Expr(
                value=python.Call(func=python.Attribute(value=python.Name(id=name), attr="append" | "extend"))
            ):
                self.change(node, name, scopes)
            case python.For(target=target, body=body):
                inner = [*scopes, {}]
                for name in _names(target):
                    self.names.add(name.id)
                    inner[-1][name.id] = id(name)
                self.block(body, inner)
            case python.With(body=body):
                self.block(body, scopes)
            case python.If() if (choice := choice_of(node)) is not None:
                self.bind(choice[0].target, scopes)
            case python.If() | python.While() | python.Try() | python.Match():
                for inner_body in _blocks(node):
                    self.block(inner_body, [*scopes, {}])

    def bind(self, name: python.Name, scopes: list[dict[str, int]]) -> None:
        self.names.add(name.id)
        if any(name.id in scope for scope in scopes):
            self.change(name, name.id, scopes)
        else:
            scopes[-1][name.id] = id(name)
            self.bindings[id(name)] = "let"

    def change(self, place: python.AST, name: str, scopes: list[dict[str, int]]) -> None:
        if name in self.states:
            return
        self.bindings[id(place)] = "assign"
        for scope in scopes:
            if name in scope and scope[name] in self.bindings:
                self.bindings[scope[name]] = "var"


def _names(target: python.expr) -> Iterator[python.Name]:
    if isinstance(target, python.Name):
        yield target
    elif isinstance(target, python.Tuple | python.List):
        for each in target.elts:
            yield from _names(each)


def _blocks(node: python.stmt) -> Iterator[list[python.stmt]]:
    match node:
        case python.If(body=body, orelse=orelse) | python.While(body=body, orelse=orelse):
            yield body
            yield orelse
        case python.Try(body=body, handlers=handlers):
            yield body
            yield from (handler.body for handler in handlers)
        case python.Match(cases=cases):
            yield from (case.body for case in cases)


def find_branches(context: Context) -> None:
    """Fill `branches` of the context: the loop variables that stand for the conversations of forks."""
    forks: set[str] = set()
    for node in python.walk(context.node):  # an outer statement comes before those inside it
        if isinstance(node, python.Assign) and isinstance(node.targets[0], python.Name):
            if _is_fork(context, node.value):
                forks.add(node.targets[0].id)
        elif isinstance(node, python.For):
            over = unnumbered(node.iter)
            if _is_fork(context, over) or (isinstance(over, python.Name) and over.id in forks):
                context.branches.update(list(name.id for name in _names(node.target))[-1:])


def _is_fork(context: Context, node: python.expr) -> bool:
    match node:
        case python.Call(func=python.Attribute(value=python.Name(id=name), attr="fork")):
            return name in context.states or name in context.branches
    return False


def unnumbered(node: python.expr) -> python.expr:
    """What `enumerate` goes over; anything else as it is."""
    match node:
        case python.Call(func=python.Name(id="enumerate"), args=[inner]):
            return inner
    return node


def find_holes(context: Context) -> None:
    """Fill `holes` of the context: every `gen`, `choose` and `select` with a name."""
    _look(context, context.node.body, [])


def _look(context: Context, body: list[python.stmt], loops: list[python.For]) -> None:
    for statement in body:
        inner = [*loops, statement] if isinstance(statement, python.For) else loops
        for node in _own_parts(statement):
            if isinstance(node, python.Call) and context.word(node) in ("gen", "choose", "select"):
                _enter(context, node, loops)
        for block in _all_blocks(statement):
            _look(context, block, inner)


def _enter(context: Context, call: python.Call, loops: list[python.For]) -> None:
    named = next((each.value for each in call.keywords if each.arg == "name"), None)
    name = call.args[0] if call.args else named
    word = context.word(call)
    plain = None if name is None else plain_name(name)
    if plain is not None:
        context.holes.setdefault(plain, HoleUse(plain, call, word))
    elif isinstance(name, python.JoinedStr):
        stem, loop = stem_of(name), _loop_of(name, loops)
        context.holes.setdefault(stem, HoleUse(stem, call, word, loop, python.dump(name)))


def plain_name(node: python.expr) -> str | None:
    """The name of a hole that is written out; None for any other."""
    if isinstance(node, python.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, python.JoinedStr) and all(isinstance(part, python.Constant) for part in node.values):
        return "".join(str(part.value) for part in node.values if isinstance(part, python.Constant))
    return None


def stem_of(name: python.JoinedStr) -> str:
    """What is left of `f"step_{i}"` without the numbers: `step`."""
    kept = [part.value for part in name.values if isinstance(part, python.Constant)]
    return "_".join(piece for each in kept if (piece := str(each).strip("_")))


def _loop_of(name: python.JoinedStr, loops: list[python.For]) -> python.For | None:
    used = {node.id for node in python.walk(name) if isinstance(node, python.Name)}
    for loop in reversed(loops):
        if any(target.id in used for target in _names(loop.target)):
            return loop
    return None


def find_lists(context: Context) -> None:
    """Fill `lists` of the context: holes in loops whose values are read outside of their round."""
    for use in context.holes.values():
        if use.loop is not None and any(_reads(context, use)):
            name = f"{use.name}_list"
            while name in context.local or name in context.holes:
                name += "_"
            context.lists[use.name] = name


def _reads(context: Context, use: HoleUse) -> Iterator[python.Subscript]:
    """Where the values of a hole in a loop are read, but those of the same round."""
    inside = set(map(id, python.walk(use.loop))) if use.loop is not None else set()
    numbered = re.compile(rf"{re.escape(use.name)}_?\d+")
    for node in python.walk(context.node):
        if not isinstance(node, python.Subscript) or not context.is_state(node.value):
            continue
        key = node.slice
        if isinstance(key, python.Constant) and isinstance(key.value, str):
            whole = key.value == use.name and id(node) not in inside
            if whole or (key.value not in context.holes and numbered.fullmatch(key.value)):
                yield node
        elif isinstance(key, python.JoinedStr) and stem_of(key) == use.name:
            if id(node) not in inside or python.dump(key) != use.key:
                yield node


def _own_parts(statement: python.stmt) -> Iterator[python.AST]:
    """All nodes of a statement but those of its blocks."""
    todo: list[python.AST] = [
        child for child in python.iter_child_nodes(statement) if not _is_block_part(child)
    ]
    while todo:
        node = todo.pop(0)
        yield node
        todo[:0] = list(python.iter_child_nodes(node))


def _is_block_part(node: python.AST) -> bool:
    return isinstance(node, python.stmt | python.ExceptHandler | python.match_case)


def _all_blocks(statement: python.stmt) -> Iterator[list[python.stmt]]:
    if isinstance(statement, python.For | python.With):
        yield statement.body
    yield from _blocks(statement)
