"""`sglc explain`: the catalogue of diagnostics, one entry or all."""

from __future__ import annotations

import click

from sglc.commands.invocation import Invocation, fail, fault, print_json


@click.command("explain")
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def command(invocation: Invocation, code: str | None, as_json: bool) -> None:
    """Say what a diagnostic's code means, with examples; without a code, list them all.

    \b
    Examples:
      sglc explain E0101
      sglc explain | grep retry
    """
    from sglc.diagnostics.codes import CATALOGUE, Entry

    def as_data(entry: Entry) -> dict[str, str]:
        return {
            "code": entry.code,
            "title": entry.title,
            "explanation": entry.explanation,
            "bad": entry.bad,
            "good": entry.good,
        }

    if code is None:
        entries = [CATALOGUE[key] for key in sorted(CATALOGUE)]
        if as_json:
            print_json([as_data(entry) for entry in entries])
        else:
            for entry in entries:
                click.echo(f"{entry.code}  {entry.title}")
        return
    wanted = CATALOGUE.get(code.upper())
    if wanted is None:
        from sglc.diagnostics.suggest import nearest

        close = nearest(code.upper(), CATALOGUE)
        hint = f"did you mean {close}? " if close else ""
        raise fail(
            invocation, fault("E0806", f"there is no code {code}", hint=hint + "`sglc explain` lists all")
        )
    if as_json:
        print_json(as_data(wanted))
        return
    bold = (lambda text: click.style(text, bold=True)) if invocation.color_stdout else str
    click.echo(bold(f"{wanted.code}: {wanted.title}") + "\n")
    click.echo(wanted.explanation.strip() + "\n")
    for label, example in (("Refused:", wanted.bad), ("Accepted:", wanted.good)):
        if example.strip():
            click.echo(bold(label))
            click.echo(
                "\n".join("    " + line if line else "" for line in example.strip("\n").split("\n")) + "\n"
            )
