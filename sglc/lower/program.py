"""The API of the lowering: a checked program to an IR module.

Functions of the main module come first, in the order of the file, each followed by the fork bodies in it;
then its tests; then what the other modules declare. Only a program without errors may come here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sglc.callables.extern_spec import ExternSpec
from sglc.check.core.result import CheckedModule, CheckedProgram, Effects, ErrorSymbol, LocalSymbol
from sglc.ir import ops, terminators
from sglc.ir.flow import calls
from sglc.ir.module import TEST_MARK, ErrorInfo, Function, Module, Parameter
from sglc.ir.ops import CheckType
from sglc.lower.context import Context, ProgramContext
from sglc.lower.function import FunctionLowering
from sglc.lower.tools import offer
from sglc.syntax.tree import ast
from sglc.types.language.predicates import predicates_of

CONDITION = Effects(pure=True)
"""Of the condition of a type, which is no function that a program declares."""


def lower(program: CheckedProgram, *, only_called: bool = False) -> Module:
    """The linked module, functions of all its source modules in it.

    With `only_called`, of other modules than the main one those alone that its functions and tests lead to,
    in the order in which they are found: for what is asked of the main module.
    """
    context = ProgramContext(program.table)
    errors: list[ErrorInfo] = []
    for checked in program.modules:
        for node in checked.module.declarations:
            if isinstance(node, ast.ErrorDeclaration):
                fields = tuple(field.name.text for field in node.fields)
                errors.append(ErrorInfo(_qualified(checked, node.name.text), fields))
        if checked is program.main or not only_called:
            for one in _functions(program, checked):
                _lower_function(context, one)
        titles: set[str] = set()
        for node in checked.module.declarations:
            if isinstance(node, ast.TestDeclaration) and not checked.name:
                _test(context, checked, node, titles)
    if only_called:
        others = (one for checked in program.modules[1:] for one in _functions(program, checked))
        _lower_called(context, {one.name: one for one in others})
    functions = tuple(function for function in context.functions if function is not None)
    return Module(
        name=program.main.module.source.name,
        functions=functions,
        holes=tuple(context.holes),
        table=dict(program.table),
        errors=tuple(errors),
        sources=tuple(checked.module.source for checked in program.modules),
    )


@dataclass(frozen=True, slots=True)
class _Declared:
    """A function that is to be lowered: the module with its tables, its declaration, its name."""

    checked: CheckedModule
    node: ast.FunctionDeclaration | ast.ExternDeclaration
    name: str


def _functions(program: CheckedProgram, checked: CheckedModule) -> Iterator[_Declared]:
    """The functions of a module: of those with type parameters the copies, and behind all the conditions."""
    for node in checked.module.declarations:
        match node:
            case ast.FunctionDeclaration(type_parameters=()) | ast.ExternDeclaration():
                yield _Declared(checked, node, _qualified(checked, node.name.text))
            case ast.FunctionDeclaration():
                for copy in program.copies.get(id(node), ()):
                    yield _Declared(copy.checked, node, copy.name)
    for condition in checked.conditions:
        yield _Declared(checked, condition, _qualified(checked, condition.name.text))


def _lower_called(context: ProgramContext, others: dict[str, _Declared]) -> None:
    """Lower those of some functions that the functions of a program lead to."""
    for caller in context.functions:  # which grows meanwhile
        for name in calls(caller) if caller is not None else ():
            if name in others:
                _lower_function(context, others.pop(name))


def _lower_function(context: ProgramContext, one: _Declared) -> None:
    if isinstance(one.node, ast.ExternDeclaration):
        context.functions.append(_extern(context, one.checked, one.node))
    else:
        _function(context, one.checked, one.node, one.name)


def _qualified(checked: CheckedModule, name: str) -> str:
    return f"{checked.name}.{name}" if checked.name else name


def _context(program: ProgramContext, checked: CheckedModule, name: str, known_as: str = "") -> Context:
    context = Context(program, checked, name, name, known_as or name)
    for condition, hole in checked.retries.items():
        context.policies.setdefault(id(hole), []).append(condition)
    return context


def _function(
    program: ProgramContext, checked: CheckedModule, node: ast.FunctionDeclaration, name: str
) -> None:
    """Lower a function, or a copy of one with type parameters, whose name is not that of its declaration."""
    known_as = _qualified(checked, node.name.text)
    place = len(program.functions)
    program.functions.append(None)
    context = _context(program, checked, name, known_as)
    parameters = tuple(
        _parameter(checked, parameter, context.slot_of(parameter)) for parameter in node.parameters
    )
    for entry in parameters:
        # Whoever calls a function from outside asks no predicates.
        if predicates_of(entry.type, program.table):
            build = context.build
            value = build.load(entry.slot, node.name.span)
            found = build.value(CheckType, value, entry.type, span=node.name.span)
            build.store(entry.slot, found, node.name.span)
    context.result = checked.dependents.get(id(node.result))
    lowering = FunctionLowering(context)
    lowering.dependents.parameters(node)
    blocks = lowering.blocks(node.body, node.span)
    offered = program.offered.get(name)
    if offered:
        blocks = (replace(blocks[0], ops=(offer(offered), *blocks[0].ops)), *blocks[1:])
    within = None
    if node.within is not None:
        within = checked.constants[id(node.within)]
    effects = checked.effects.get(id(node), CONDITION)
    program.functions[place] = Function(
        name=name,
        kind="pure" if effects.pure else node.kind if node.kind != "aside" else "part",
        parameters=parameters,
        blocks=blocks,
        result=None if node.result is None else checked.resolved[id(node.result)],
        retries=tuple(context.build.retries),
        within=within,  # type: ignore[arg-type]
        public=node.public,
        doc=node.doc,
        raises=effects.raises,
        module=checked.name,
        copy_of=known_as if name != known_as else "",
        span=node.name.span,
    )


def _parameter(checked: CheckedModule, node: ast.Parameter, slot: str) -> Parameter:
    default = None if node.default is None else checked.constants[id(node.default)]
    type = checked.resolved[id(node.type)]
    return Parameter(node.name.text, slot, type, node.default is not None, default, node.untrusted)


def _raises(checked: CheckedModule, errors: tuple[ast.Name, ...]) -> tuple[str, ...]:
    found = [checked.symbols.get(id(error)) for error in errors]
    return tuple(
        symbol.name if isinstance(symbol, ErrorSymbol) else error.text
        for symbol, error in zip(found, errors, strict=True)
    )


def _extern(program: ProgramContext, checked: CheckedModule, node: ast.ExternDeclaration) -> Function:
    """A function of Python: a body that calls it."""
    names = [parameter.name.text for parameter in node.parameters]
    spec = ExternSpec(
        node.target,
        node.effects,
        None if node.timeout is None else int(node.timeout[0].value * 1000),
        None if node.key is None else names.index(node.key.text),
    )
    name = _qualified(checked, node.name.text)
    context = _context(program, checked, name)
    build, dependents = context.build, FunctionLowering(context).dependents
    dependents.parameters(node)
    given = tuple(build.load(name) for name in names)
    result = build.value(ops.CallPython, spec, given, span=node.name.span)
    due = checked.dependents.get(id(node.result))
    if due is not None:
        kept = LocalSymbol("result", build.fresh_slot("result"))
        build.store(kept.slot, result, node.name.span)
        result = dependents.value(kept, due, node.name.span)
    build.end(terminators.Return(result, node.name.span))
    return Function(
        name=name,
        kind="extern",
        parameters=tuple(_parameter(checked, each, each.name.text) for each in node.parameters),
        blocks=tuple(build.blocks),
        result=None if node.result is None else checked.resolved[id(node.result)],
        public=node.public,
        doc=node.doc,
        raises=_raises(checked, node.raises),
        module=checked.name,
        span=node.name.span,
    )


def _test(
    program: ProgramContext, checked: CheckedModule, node: ast.TestDeclaration, titles: set[str]
) -> None:
    # No function has a blank in its name, so that a test may be titled like one.
    name = TEST_MARK + node.title
    count = 2
    while name in titles:
        name = f"{TEST_MARK}{node.title} ({count})"
        count += 1
    titles.add(name)
    place = len(program.functions)
    program.functions.append(None)
    context = _context(program, checked, name)
    blocks = FunctionLowering(context).blocks(node.body, node.span)
    program.functions[place] = Function(
        name=name, kind="test", parameters=(), blocks=blocks, tags=node.tags, span=node.span
    )
