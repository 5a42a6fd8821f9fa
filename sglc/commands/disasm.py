"""`sglc disasm`: the bytecode of a program as text."""

from __future__ import annotations

from pathlib import Path

import click

from sglc.commands.shared.invocation import Invocation, outside_option


@click.command("disasm")
@click.argument("file", type=click.Path(path_type=Path))
@outside_option
@click.pass_obj
def command(invocation: Invocation, file: Path) -> None:
    """Print the bytecode of a program, from a compiled file or from source.

    Shows every function with its instructions, the depth of the stack before each, and the constants, types
    and holes that they speak of. A damaged file is reported, never run.

    \b
    Examples:
      sglc disasm examples/character.sglb
      sglc disasm examples/character.sgl | less
    """
    from sglc.bytecode.disasm import disassemble
    from sglc.commands.shared.programs import load_program

    program = load_program(invocation, file)
    invocation.stage = f"printing {file}"
    click.echo(disassemble(program).rstrip("\n"))
