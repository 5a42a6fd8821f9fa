"""A program as one Python module of the standard library, which asks any model by a function of its caller.

fn crew(theme: str) -> Crew:                   def crew(theme: str) -> Crew:
    user: | Invent one for ${theme}.               c = Conversation()
    assistant: | ?{member: Crew}          →        with c.role("user"):
    return member                                      c.line("Invent one for ", theme, ".")
                                                   with c.role("assistant"):
                                                       c.line()
                                                       member: Crew = c.fill(CREW_MEMBER)
                                                   return member

Nothing constrains the model while it writes unless the caller's provider does: an answer is checked when it
is there, and asked for again with what is wrong about it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sglc.automata.regex.portable import looks_back_freely
from sglc.check.core.result import CheckedModule, FunctionSymbol
from sglc.syntax.tree import ast
from sglc.targets.core.comments import docstring, in_docstring, lost
from sglc.targets.core.names import Names
from sglc.targets.core.places import PROGRAM
from sglc.targets.core.target import Subject, Written
from sglc.targets.core.type_parts import losses_of
from sglc.targets.python import carried
from sglc.targets.python.context import Context, Program
from sglc.targets.python.statements import Statements
from sglc.targets.python.types import Types
from sglc.targets.python.walking import MODEL, nodes
from sglc.types.json_text import json_text
from sglc.types.type import Json, Str, Type

_HEAD = '''\
"""{title}

Written by `sglc build --emit python`. Call a function with a model:

    run({example}, complete=ask)

where `ask` is a `Complete`. Nothing constrains the model while it writes, unless what `ask` calls keeps to
the schema or pattern that it is given. Answers are checked when they are there, wrong ones asked for again.
"""

from __future__ import annotations

'''
BEGIN = "    c = Conversation()"
_LANGUAGE = (
    "Failure Rejected Truncated Budget Refused Unsatisfiable Unsupported Timeout Backend Cancelled".split()
)


def write(subject: Subject) -> Written:
    """The functions of the main module, and of other modules what they call."""
    return _Module(subject).written()


def unsaid(type: Type) -> tuple[str, str] | None:
    """What the module does not check of a type, and what it checks instead."""
    match type:
        case Str(grammar=grammar) if grammar:
            return "a grammar", "any text"
        case Str(patterns=patterns) if any(map(looks_back_freely, patterns)):
            return "a look behind over no fixed number of characters", "a text without this pattern"
        case Json(schema) if schema:
            return "a JSON Schema", "any JSON value"
    return None


class _Module:
    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        checked = subject.checked
        names = Names(taken=carried.names() | {"c", "it", "text", "again", "complete", "attempts"})
        self.program = Program(checked.table, Types(checked.table, names), names)
        self.declared: dict[str, tuple[CheckedModule, ast.FunctionDeclaration]] = {}
        for module in checked.modules:
            for node in module.module.declarations:
                if not isinstance(node, ast.FunctionDeclaration):
                    continue
                if not node.type_parameters:
                    name = f"{module.name}.{node.name.text}" if module.name else node.name.text
                    self.declare(module, node, name)
                for copy in checked.copies.get(id(node), ()):
                    self.declare(copy.checked, node, copy.name)

    def declare(self, module: CheckedModule, node: ast.FunctionDeclaration, name: str) -> None:
        """Give a function its name, and say what it takes and returns."""
        program = self.program
        self.declared[name] = (module, node)
        program.functions[name] = program.names.fresh(name)
        result = None if node.result is None else module.resolved[id(node.result)]
        program.results[name] = "None" if result is None else program.types.annotation(result)
        program.parameters[name] = [
            program.annotation(module.resolved[id(parameter.type)]) for parameter in node.parameters
        ]

    def written(self) -> Written:
        program, checked = self.program, self.subject.checked
        program.losses.update(dict.fromkeys(losses_of(checked.table, unsaid)))
        errors = "".join(self.errors())
        constants = "".join(self.constants())
        functions = self.functions()
        if not functions:
            program.lose("a program whose main module has no functions", PROGRAM)
        types = "\n\n".join(program.types.declaration(name) for name in checked.table)
        shapes = "".join(program.types.registration(name) for name in checked.table)
        example = next((program.functions[name] for name in functions if "[" not in name), "function")
        title = checked.main.module.doc or f"The program {checked.main.module.source.name}."
        parts = (
            _HEAD.format(title=in_docstring(title), example=example) + carried.imports(),
            carried.support(),
            "# The program.\n\n" + types if types else "# The program.",
            shapes + errors,
            constants,
            "".join(program.holes),
            "\n\n".join(functions.values()),
            "".join(self.signatures(functions)),
        )
        text = "\n\n".join(part for part in parts if part)
        comments = lost(program.losses, "#")
        return Written(text + ("\n\n" + comments if comments else ""), tuple(program.losses))

    def errors(self) -> Iterator[str]:
        """A class for each declared error."""
        self.program.errors.update({name: name for name in _LANGUAGE})
        for module in self.subject.checked.modules:
            for node in module.module.declarations:
                if isinstance(node, ast.ErrorDeclaration):
                    name = f"{module.name}.{node.name.text}" if module.name else node.name.text
                    here = self.program.errors[name] = self.program.names.fresh(name)
                    fields = "".join(f"{json_text(field.name.text)}, " for field in node.fields)
                    lines = [
                        f"class {here}(SglError):",
                        f"    {docstring(node.doc or f'The error {node.name.text}.')}",
                        "",
                        f"    fields = ({fields})",
                        f"    called = {json_text(name)}",
                    ]
                    yield "\n\n" + "\n".join(lines) + "\n"

    def constants(self) -> Iterator[str]:
        """The constants of the main module."""
        main, program = self.subject.checked.main, self.program
        for node in main.module.declarations:
            if isinstance(node, ast.ConstDeclaration) and id(node.value) in main.constants:
                known = main.resolved.get(id(node.type)) if node.type is not None else None
                kind = program.annotation(known or main.types[id(node.value)])
                here = program.names.fresh(node.name.text)
                program.constants[node.name.text] = (here, kind or "Any")
                yield f"{here}: {kind or 'Any'} = {program.types.literal(main.constants[id(node.value)])}\n"

    def functions(self) -> dict[str, str]:
        """The text of each function that is there."""
        program = self.program
        # A copy of a function with type parameters (`ask[Mail]`) is there where it is called.
        program.wanted += [
            name for name, (module, _) in self.declared.items() if not module.name and "[" not in name
        ]
        done: dict[str, str] = {}
        while len(program.wanted) > 0:
            name = program.wanted.pop(0)
            if name not in done:
                done[name] = self.function(name)
        return {name: done[name] for name in self.declared if name in done}

    def function(self, name: str) -> str:
        module, node = self.declared[name]
        program = self.program
        local = Names(program.names)
        context = Context(program, module, name, local, node.kind != "pure")
        parameters = ["c: Conversation"] if node.kind in ("part", "aside") else []
        statements = Statements(context)
        for parameter, kind in zip(node.parameters, program.parameters[name], strict=True):
            here = context.variable(module.slot_of(parameter), kind or "Any")
            default = ""
            if parameter.default is not None:
                default = f" = {statements.expressions.fitting(parameter.default, kind)}"
            parameters.append(f"{here}: {kind or 'Any'}{default}")
        result = statements.result = program.results[name]
        context.add(f"def {program.functions[name]}({', '.join(parameters)}) -> {result}:")
        with context.inside():
            if node.doc:
                context.add(docstring(node.doc))
            if node.kind == "fn":
                context.add(BEGIN.strip())
            if node.within is not None:
                statements.holes.within = self.within(module, node, name)
            statements.due = module.dependents.get(id(node.result))
            statements.dependents.parameters(node)
            statements.block(node.body)
            if result != "None" and not isinstance(node.body[-1], ast.Return | ast.Raise):
                context.add('raise AssertionError("the program returns before")')
        lines = context.lines
        if node.kind == "fn" and not any(re.search(r"\bc\b", line) for line in lines if line != BEGIN):
            lines = [line for line in lines if line != BEGIN]
        return "\n".join(lines) + "\n"

    def within(self, module: CheckedModule, node: ast.FunctionDeclaration, name: str) -> int:
        """The budget of a function, which is that of its hole where it has one alone."""
        inside = list(nodes(node.body))
        holes = [part for part in inside if isinstance(part, MODEL)]
        calls = any(
            isinstance(part, ast.Call)
            and isinstance(symbol := module.symbols.get(id(part)), FunctionSymbol)
            and self.declared[symbol.name][1].kind != "pure"
            for part in inside
        )
        loops = any(isinstance(part, ast.For | ast.While | ast.Fork | ast.Comprehension) for part in inside)
        retries = any(isinstance(part, ast.Retry) for part in inside)
        if len(holes) != 1 or calls or retries or (loops and self.in_loop(node)):
            self.program.lose("a budget of several answers", name, "the budget for each answer")
        found = module.constants[id(node.within)]
        assert isinstance(found, int)
        return found

    def in_loop(self, node: ast.FunctionDeclaration) -> bool:
        """Whether a hole of the function stands in a loop."""
        loops = [part for part in nodes(node.body) if isinstance(part, ast.For | ast.While | ast.Fork)]
        return any(isinstance(part, MODEL) for loop in loops for part in nodes(loop))

    def signatures(self, functions: dict[str, str]) -> Iterator[str]:
        """The types of parameters, which `run` holds arguments against."""
        for name in functions:
            module, node = self.declared[name]
            types = (self.program.types.shown(module.resolved[id(each.type)]) for each in node.parameters)
            keys = (json_text(each.name.text) for each in node.parameters)
            entries = (f"{key}: {type}" for key, type in zip(keys, types, strict=True))
            here = self.program.functions[name]
            yield f"PROGRAM[{json_text(name)}] = ({here}, {{{', '.join(entries)}}})\n"
