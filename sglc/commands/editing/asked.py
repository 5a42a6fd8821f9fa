"""What an editor asks for before it runs a function: its parameters, with what can be chosen."""

from __future__ import annotations

from sglc.bytecode.code import Code, ParameterSpec, Program
from sglc.bytecode.signatures import signature
from sglc.types.notation.sgl import show_type
from sglc.types.text.plain_json import to_json, write_json
from sglc.types.type import Alternatives, Bool, Constant, EnumType, Named, Type
from sglc.types.values import Value

Row = dict[str, object]
MOST_CHOICES = 200
"""Values of a parameter that are offered."""


def asked_of(program: Program) -> list[Row]:
    """The functions of the main module: name, kind, signature, documentation, parameters.

    `choices` of a parameter are the texts of its values where it has few, else absent; `default` is the text
    of its default, absent without one.
    """
    codes = [program.codes[index] for index in program.entry.values()]
    return [_function(program, code) for code in codes if code.kind in ("fn", "pure")]


def _function(program: Program, code: Code) -> Row:
    return {
        "name": code.name,
        "kind": code.kind,
        "public": code.public,
        "signature": signature(program, code),
        "doc": code.doc,
        "parameters": [_parameter(program, each) for each in code.parameters],
    }


def _parameter(program: Program, parameter: ParameterSpec) -> Row:
    wanted = program.types[parameter.type]
    row: Row = {"name": parameter.name, "type": show_type(wanted), "optional": parameter.has_default}
    choices = _choices(program, wanted)
    if choices:
        row["choices"] = choices
    if parameter.has_default:
        row["default"] = _text(parameter.default, wanted, program)
    return row


def _text(value: Value, wanted: Type, program: Program) -> str:
    """A value as `--arg` reads it: a text or member as it is, all else as JSON."""
    data = to_json(value, wanted, program.table)
    return data if isinstance(data, str) else write_json(data)


def _choices(program: Program, wanted: Type) -> list[str]:
    """The texts of all values of a type that has few; none where it has many."""
    match wanted:
        case Bool():
            return ["true", "false"]
        case Constant(value=value):
            return [str(value).lower() if isinstance(value, bool) else str(value)]
        case Named(name=name):
            declared = program.table[name]
            return list(declared.members)[:MOST_CHOICES] if isinstance(declared, EnumType) else []
        case Alternatives(arms=arms):
            every = [_choices(program, each) for each in arms]
            return [each for some in every for each in some][:MOST_CHOICES] if all(every) else []
    return []
