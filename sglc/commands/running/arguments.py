"""Arguments of a call from the command line: `--arg name=value`, `--args file.json`, rows of data.

Every value is read by the type in the signature, so a wrong one is refused before anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sglc.bytecode.code import Code, Program
from sglc.bytecode.signatures import signature
from sglc.commands.shared.invocation import fault
from sglc.diagnostics.diagnostic import Diagnostic
from sglc.diagnostics.suggest import nearest
from sglc.types.language.membership import MemberError
from sglc.types.notation.sgl import show_type
from sglc.types.text.plain_json import from_json, from_text, parse_json
from sglc.types.values import Value

LARGEST_ARGUMENTS = 64 * 1024 * 1024


def read_pairs(pairs: Sequence[str]) -> tuple[dict[str, str], list[Diagnostic]]:
    """`name=value` texts as a mapping; what is not of that form is reported."""
    values: dict[str, str] = {}
    problems = []
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            problems.append(
                fault(
                    "E0803",
                    f"`--arg {pair}` is not NAME=VALUE",
                    hint='write for example --arg theme="the sea"',
                )
            )
        elif name in values:
            problems.append(fault("E0803", f"the argument {name} is given twice"))
        else:
            values[name] = value
    return values, problems


def read_file(path: Path) -> tuple[dict[str, Value], list[Diagnostic]]:
    """The JSON object in a file."""
    from sglc.commands.shared.programs import read_text

    text, problem = read_text(path, LARGEST_ARGUMENTS)
    if problem is not None:
        return {}, [problem]
    try:
        values = parse_json(text)
    except MemberError as wrong:
        return {}, [fault("E0804", f"{path} is not JSON", reason=wrong.reason)]
    if not isinstance(values, dict):
        return {}, [
            fault(
                "E0804",
                f"{path} holds no JSON object",
                hint='write {"name": value, …} with the arguments by name',
            )
        ]
    return values, []


def bind(
    program: Program, code: Code, texts: Mapping[str, str], data: Mapping[str, Value], where: str = ""
) -> tuple[dict[str, Value], list[Diagnostic]]:
    """Typed arguments of a function from texts (which win) and JSON data, and all that is wrong with them.

    `where` names the place of the data in messages, such as `row 3`.
    """
    parameters = {parameter.name: parameter for parameter in code.parameters}
    prefix = f"{where}: " if where else ""
    values: dict[str, Value] = {}
    problems: list[Diagnostic] = []
    for name in [*data, *(name for name in texts if name not in data)]:
        parameter = parameters.get(name)
        if parameter is None:
            close = nearest(name, parameters)
            problems.append(
                fault(
                    "E0714",
                    f"{prefix}{code.name} has no parameter {name}",
                    reason=f"it is {signature(program, code)}",
                    hint=f"did you mean {close}?" if close else "",
                )
            )
            continue
        wanted = program.types[parameter.type]
        try:
            if name in texts:
                values[name] = from_text(texts[name], wanted, program.table)
            else:
                values[name] = from_json(data[name], wanted, program.table)
        except MemberError as problem:
            problems.append(
                fault(
                    "E0715",
                    f"{prefix}the value of {name} is no {show_type(wanted)}",
                    reason=str(problem),
                )
            )
    missing = [
        parameter
        for parameter in code.parameters
        if not parameter.has_default and parameter.name not in data and parameter.name not in texts
    ]
    for parameter in missing:
        wanted = program.types[parameter.type]
        problems.append(
            fault(
                "E0713",
                f"{prefix}the argument {parameter.name} is missing",
                reason=f"it is {signature(program, code)}",
                hint=f"add {parameter.name}"
                if where
                else f"add --arg {parameter.name}=VALUE ({show_type(wanted)})",
            )
        )
    return values, problems


def choose_function(program: Program, name: str | None) -> tuple[Code | None, list[Diagnostic]]:
    """The function to run: the named one, else the only public one, else the only one that asks a model.

    A program of one function needs no name. Where several are meant equally, the name is asked for.
    """
    functions = {
        entry: program.codes[index]
        for entry, index in program.entry.items()
        if program.codes[index].kind in ("fn", "pure")
    }
    if name is not None:
        code = functions.get(name)
        if code is not None:
            return code, []
        close = nearest(name, functions)
        known = ", ".join(functions) or "none"
        return None, [
            fault(
                "E0712",
                f"{program.name} has no function {name}",
                reason=f"its functions are: {known}",
                hint=f"did you mean {close}?" if close else "",
            )
        ]
    if not functions:
        return None, [
            fault("E0712", f"{program.name} has no function to run", hint="write `fn name(…) -> T:` in it")
        ]
    public = [code for code in functions.values() if code.public]
    asking = [code for code in functions.values() if code.kind == "fn"]
    for meant in (public, asking, list(functions.values())):
        if len(meant) == 1:
            return meant[0], []
    listed = "\n".join(f"  {signature(program, code)}" for code in public or asking or functions.values())
    return None, [
        fault(
            "E0717",
            f"{program.name} has several functions: name the one to run",
            reason=f"they are\n{listed}",
            hint=f"sglc run FILE {next(iter(public or asking or functions.values())).name}",
        )
    ]
