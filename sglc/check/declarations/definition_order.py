"""The order in which types and constants are read, and how deep types nest through their names.

What a declaration is made of is read before it, so that reading needs no more of Python's stack for a chain
of thousands of declarations than for two. Types that contain each other are read one after the other, each
of them known as empty meanwhile. Types that nest deeper than everything after may recurse are refused, and
so are aliases and constants that are defined by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sglc.check.core.context import Entity, ModuleContext, ProgramState
from sglc.check.types.kinds import UNKNOWN
from sglc.check.types.nesting import MAX_LEVELS, parts_by_level
from sglc.syntax.tree import ast
from sglc.types.type import AliasType, RecordType, UnionType

_DECLARED = (
    ast.TypeDeclaration,
    ast.EnumDeclaration,
    ast.RecordDeclaration,
    ast.UnionDeclaration,
    ast.ConstDeclaration,
)


@dataclass(slots=True)
class _Node:
    """A declared type or constant. `below`: what it uses, by the levels that are around it (0 for values)."""

    entity: Entity
    own: int = 0
    below: dict[str, int] = field(default_factory=dict)


def read_in_order(module: ModuleContext) -> None:
    """Define the types of a module, and the constants that other constants are made of. Those of the modules
    that it uses are known."""
    program = module.program
    nodes = {
        entity.name: _node(entity, module)
        for entity in module.names.values()
        if not entity.imported and entity.declaration.__class__ in _DECLARED
    }
    for node in nodes.values():
        node.below = {
            name: level for name, level in node.below.items() if name in nodes or name in program.levels
        }
    _refuse_cycles(program, nodes)
    own = {name: [other for other in node.below if other in nodes] for name, node in nodes.items()}
    for component in _components(own):
        together = set(component)
        _note_levels(program, nodes, together)
        if len(component) > 1:
            for name in component:
                _placeholder(program, nodes[name].entity)
        for name in component:
            entity = nodes[name].entity
            reader = program.reader_of(entity)
            if entity.kind == "type":
                reader.define_contents(entity)
            elif any(_is_constant(program, nodes, other) for other in nodes[name].below):
                reader.constant(entity)


def _is_constant(program: ProgramState, nodes: dict[str, _Node], name: str) -> bool:
    return nodes[name].entity.kind == "const" if name in nodes else name in program.constants


def _node(entity: Entity, module: ModuleContext) -> _Node:
    node = _Node(entity)
    start = 0 if isinstance(entity.declaration, ast.ConstDeclaration) else 1
    for part, level in parts_by_level(entity.declaration, start):
        if isinstance(part, ast.TypeName):
            node.own = max(node.own, level)
        elif not isinstance(part, ast.Reference):
            continue
        target = module.names.get(part.name)
        if target is not None:
            depth = level if isinstance(part, ast.TypeName) else 0
            node.below[target.name] = max(node.below.get(target.name, 0), depth)
    return node


def _components(below: dict[str, list[str]]) -> Iterator[list[str]]:
    """Strongly connected components, those that others lead to first, by Tarjan's algorithm (1972)."""
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    for root in below:
        if root in number:
            continue
        calls = [(root, iter(below[root]))]
        number[root] = lowest[root] = len(number)
        path.append(root)
        on_path.add(root)
        while calls:
            name, rest = calls[-1]
            for other in rest:
                if other not in number:
                    number[other] = lowest[other] = len(number)
                    path.append(other)
                    on_path.add(other)
                    calls.append((other, iter(below[other])))
                    break
                if other in on_path:
                    lowest[name] = min(lowest[name], number[other])
            else:
                calls.pop()
                if calls:
                    above = calls[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
                if lowest[name] == number[name]:
                    found = [path.pop()]
                    while found[-1] != name:
                        found.append(path.pop())
                    on_path.difference_update(found)
                    yield found


# -- cycles ---------------------------------------------------------------------------------------


def _refuse_cycles(program: ProgramState, nodes: dict[str, _Node]) -> None:
    """Aliases of aliases, and constants of constants, that lead back to themselves."""
    for kind, what in ((ast.TypeDeclaration, "an alias"), (ast.ConstDeclaration, "a constant")):
        chosen = {
            name: [
                other
                for other in node.below
                if other in nodes and isinstance(nodes[other].entity.declaration, kind)
            ]
            for name, node in nodes.items()
            if isinstance(node.entity.declaration, kind)
        }
        for component in _components(chosen):
            if len(component) > 1 or component[0] in chosen[component[0]]:
                _refuse_cycle(program, nodes, chosen, set(component), what)


def _refuse_cycle(
    program: ProgramState,
    nodes: dict[str, _Node],
    below: dict[str, list[str]],
    cycle: set[str],
    what: str,
) -> None:
    first = min(cycle, key=lambda name: (nodes[name].entity.module.name, nodes[name].entity.span.start))
    round_: list[str] = []
    name = first
    while name not in round_:
        round_.append(name)
        name = next(other for other in below[name] if other in cycle)
    short = [part.rsplit(".", 1)[-1] for part in [*round_, name]]
    alias = what == "an alias"
    program.report(
        "E0309",
        f"`{short[0]}` is defined by itself",
        nodes[first].entity.span,
        label=f"{what} that goes round in a cycle",
        reason=" → ".join(short if len(short) < 10 else [*short[:4], "…", *short[-4:]]) if alias else "",
        hint="only records and unions may contain themselves" if alias else "",
    )
    for name in cycle:
        if alias:
            program.broken.add(name)
            program.table[name] = AliasType(name, UNKNOWN)  # type: ignore[arg-type]
        else:
            program.constants[name] = (UNKNOWN, None)


# -- levels ----------------------------------------------------------------------------------------


def _note_levels(program: ProgramState, nodes: dict[str, _Node], together: set[str]) -> None:
    """How deep types that contain each other nest, a round through all of them counted once."""
    around = 0
    if len(together) > 1:
        around = max(_longest_walk(nodes, together, name) for name in together)
    deepest = max(
        max([node.own, *(level + program.levels.get(name, 0) for name, level in node.below.items())])
        for node in (nodes[name] for name in together)
    )
    for name in together:
        program.levels[name] = around + deepest
    first = min((nodes[name].entity for name in together), key=lambda entity: entity.span.start)
    if around + deepest <= MAX_LEVELS or first.kind != "type" or not program.broken.isdisjoint(together):
        return
    inner = {other for name in together for other in nodes[name].below}
    if not any(other in program.too_deep for other in inner):
        program.report(
            "E0342",
            f"`{first.name.rsplit('.', 1)[-1]}` is nested too deeply",
            first.span,
            label=f"{around + deepest} levels of types, counted through their names",
            reason=f"the limit is {MAX_LEVELS} levels: lists, maps, tuples, options, unions, fields, aliases",
            hint="leave out levels, or let a record contain itself",
        )
    for name in together:
        program.too_deep.add(name)
        program.broken.add(name)
        program.table[name] = AliasType(name, UNKNOWN)  # type: ignore[arg-type]


def _longest_walk(nodes: dict[str, _Node], together: set[str], start: str) -> int:
    """Levels of the longest way that a walk from `start` goes before it is where it has been."""
    longest = 0
    seen = {start}
    waiting = [(start, 0)]
    while waiting:
        name, level = waiting.pop()
        longest = max(longest, level)
        for other, levels in reversed(nodes[name].below.items()):
            if other in together and other not in seen:
                seen.add(other)
                waiting.append((other, level + levels))
    return longest


def _placeholder(program: ProgramState, entity: Entity) -> None:
    """What stands for a record or union until its fields are read."""
    if entity.name in program.table:
        return
    if isinstance(entity.declaration, ast.RecordDeclaration):
        program.table[entity.name] = RecordType(entity.name, (), entity.declaration.doc)
    elif isinstance(entity.declaration, ast.UnionDeclaration):
        program.table[entity.name] = UnionType(entity.name, (), entity.declaration.doc)
