"""`sglc explain`: the catalogue of diagnostics, one entry or all; `explain mask` is a command of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sglc.commands.shared.invocation import Invocation, fail, fault, print_json

if TYPE_CHECKING:
    from sglc.diagnostics.catalogue.entry import Entry
    from sglc.diagnostics.diagnostic import Edit


class Explain(click.Command):
    """`explain CODE`, and `explain mask …`, a command of its own that is imported when it is called."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: object
    ) -> click.Context:
        """As of click; the context is that of `explain mask` where the first argument is `mask`."""
        if args and args[0] == "mask":
            from sglc.commands.explain_mask import command as mask

            return mask.make_context(f"{info_name} mask", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command("explain", cls=Explain)
@click.argument("code", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.pass_obj
def command(invocation: Invocation, code: str | None, as_json: bool) -> None:
    """Say what a diagnostic's code means, with examples; without a code, list them all.

    `sglc explain mask FILE` says what a hole allows behind a text, and why: see `sglc explain mask --help`.

    \b
    Examples:
      sglc explain E0101
      sglc explain | grep retry
      sglc explain mask examples/orders.sgl --hole row --text '{"id": '
    """
    from sglc.diagnostics.catalogue.codes import CATALOGUE

    def as_data(entry: Entry) -> dict[str, object]:
        return {
            "code": entry.code,
            "title": entry.title,
            "explanation": entry.explanation,
            "bad": entry.bad or entry.bad_python,
            "good": entry.good or entry.good_python,
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
    edits, offered = _edits(wanted)
    if as_json:
        from sglc.diagnostics.render import edit_to_json

        print_json({**as_data(wanted), "edits": [edit_to_json(edit) for edit in edits]})
        return
    bold = (lambda text: click.style(text, bold=True)) if invocation.color_stdout else str
    click.echo(bold(f"{wanted.code}: {wanted.title}") + "\n")
    click.echo(wanted.explanation.strip() + "\n")
    from sglc.diagnostics.render import render_edits

    edit = render_edits(edits, color=invocation.color_stdout)
    how = f" --accept {wanted.code}" if offered else ""
    examples = (
        ("Refused:", wanted.bad or wanted.bad_python),
        (f"What `sglc check --fix{how}` does:", edit),
        ("Accepted:", wanted.good or wanted.good_python),
    )
    for label, example in examples:
        if example.strip():
            click.echo(bold(label))
            click.echo(
                "\n".join("    " + line if line else "" for line in example.strip("\n").split("\n")) + "\n"
            )


def _edits(entry: Entry) -> tuple[tuple[Edit, ...], bool]:
    """The edits that the refused program's finding carries, and whether they are only offered."""
    from sglc.advice.examine import examine
    from sglc.library import Library
    from sglc.source import Source

    found = examine(Source("example.sgl", entry.bad), Library()) if entry.bad else []
    shown = (d for d in found if d.code == entry.code)
    return next(((d.edits or d.offered, not d.edits) for d in shown if d.edits or d.offered), ((), False))
