"""`sglc explain mask`: what a hole allows behind a text, and why a token is not allowed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sglc.commands.shared.invocation import Invocation, fail, fault, outside_option, print_json

if TYPE_CHECKING:
    from sglc.bytecode.code import Program
    from sglc.commands.shared.holes import Hole
    from sglc.runtime.mask.explanation import Explanation, Place
    from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary


@click.command("mask")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--hole", "name", metavar="NAME", help="The hole: `function.hole`, or `hole` if only one has the name."
)
@click.option("--text", default="", help="What has been written of its value so far.")
@click.option("--token", metavar="TEXT", help="Say of this token whether it may come next, and why not.")
@click.option("--token-id", type=int, metavar="N", help="The same by its number in the model's vocabulary.")
@click.option("--model", metavar="NAME", help="Count the tokens of this model that may come next.")
@click.option("--top", type=click.IntRange(0), default=10, help="Tokens to list with --model; default 10.")
@click.option("--trace", is_flag=True, help="With --model: say what finding the mask took.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@outside_option
@click.pass_obj
def command(
    invocation: Invocation,
    file: Path,
    name: str | None,
    text: str,
    token: str | None,
    token_id: int | None,
    model: str | None,
    top: int,
    trace: bool,
    as_json: bool,
) -> None:
    """Say what a hole of a program allows behind a text, and why.

    Whether the text is legal so far, or from which byte on it is not; whether it may end; which bytes may
    come next, which must; what of the hole's type or grammar is read there. Of a token: whether it may
    follow, or which of its bytes cannot, and what could stand there instead. Only with --model a tokenizer
    is read.

    \b
    Examples:
      sglc explain mask examples/orders.sgl --hole order.row --text '{"id": 12'
      sglc explain mask examples/orders.sgl --hole row --text '{"id": ' --token '"'
      sglc explain mask examples/orders.sgl --hole row --model smollm2 --trace
    """
    from sglc.commands.shared.programs import load_program

    if model is None and (token_id is not None or trace):
        raise click.UsageError(f"{'--trace' if trace else '--token-id'} needs --model")
    if token is not None and token_id is not None:
        raise click.UsageError("--token and --token-id ask about one token: give one of them")
    if token == "":
        raise click.UsageError("--token needs a text: a token without bytes is never allowed")
    program = load_program(invocation, file)
    hole = _hole(invocation, program, file, name)
    vocabulary = None
    if model is not None:
        vocabulary = _vocabulary(invocation, model)
        if token_id is not None and not 0 <= token_id < vocabulary.size:
            what = f"{model} has no token {token_id}"
            raise fail(
                invocation, fault("E0816", what, reason=f"it has {vocabulary.size:,} of them, from 0 on")
            )
    invocation.stage = f"explaining hole {hole.spec.name}"
    asked: int | str | None = token if token_id is None else token_id
    found = _explained(invocation, hole, program, text, asked, vocabulary, top, trace)
    if as_json:
        print_json(_as_data(found, hole, program))
    else:
        click.echo(_shown(found, hole, program))


def described(
    invocation: Invocation,
    program: Program,
    file: Path,
    name: str,
    text: str,
    vocabulary: Vocabulary | None,
    top: int = 10,
) -> str:
    """What a hole of a program allows behind a text, for a person to read. Raises CommandFailed."""
    hole = _hole(invocation, program, file, name)
    return _shown(_explained(invocation, hole, program, text, None, vocabulary, top, False), hole, program)


def _hole(invocation: Invocation, program: Program, file: Path, name: str | None) -> Hole:
    """The hole of a name, or the only one; a hole whose texts are known before the run."""
    from sglc.commands.shared.holes import find_holes, holes_of

    holes = holes_of(program)
    found = holes if name is None else find_holes(holes, name)
    if len(found) != 1:
        from sglc.diagnostics.suggest import nearest

        names = [hole.spec.name for hole in holes]
        close = (
            None if name is None else nearest(name, [*names, *(each.rpartition(".")[2] for each in names)])
        )
        told = f"`--hole` says which one is meant of {len(found)}" if found else f"there is no hole {name}"
        told = f"{file} has no holes" if not holes else told
        hint = f"did you mean {close}? " if close and not found else ""
        listed = f"holes: {', '.join(sorted(each.spec.name for each in found or holes))}" if holes else ""
        raise fail(invocation, fault("E0814", told, hint=(hint + listed).strip()))
    (hole,) = found
    from sglc.types.dependent import given_types

    if hole.type is None or given_types(hole.type):
        reason = "; ".join(hole.depends_on)
        what = f"what hole {hole.spec.name} allows is known only in a run"
        hint = f"`sglc build {file} --emit constraint` shows what is known before"
        raise fail(invocation, fault("E0815", what, reason=reason, hint=hint))
    return hole


def _explained(
    invocation: Invocation,
    hole: Hole,
    program: Program,
    text: str,
    token: int | str | None,
    vocabulary: Vocabulary | None,
    top: int,
    trace: bool,
) -> Explanation:
    from sglc.runtime.mask.constraint import compile_constraint
    from sglc.runtime.mask.core.errors import ConstraintError

    language = hole.language(program)
    assert language is not None, "holes that have none before the run are refused"
    try:
        constraint = compile_constraint(language=language)
        return constraint.explain(text, token, vocabulary, top=top, trace=trace)
    except ConstraintError as problem:
        raise fail(invocation, fault("E0344", f"hole {hole.spec.name}: {problem}")) from None


def _vocabulary(invocation: Invocation, model: str) -> Vocabulary:
    from sglc.commands.building.masks import read_tokenizer

    vocabulary: Vocabulary = read_tokenizer(invocation, model).vocabulary()
    return vocabulary


def _shown(found: Explanation, hole: Hole, program: Program) -> str:
    lines = [f"{'hole':<10}{hole.spec.name}, {hole.where}"]
    for line in str(found).split("\n"):
        lines.append(line)
        if line.startswith("at "):
            lines += [f"{'type':<10}{shown}" for shown in _types(found.place, hole, program)]
    lines += [f"{'not asked':<10}{reason}" for reason in hole.depends_on]
    return "\n".join(lines)


def _types(place: Place, hole: Hole, program: Program) -> list[str]:
    """The types of what is read at a place of a JSON text, in the notation of the language."""
    from sglc.types.notation.sgl import show_type
    from sglc.types.parts import types_at

    if hole.type is None or place.path is None:
        return []
    shown = " or ".join(map(show_type, types_at(hole.type, place.path, program.table)))
    return [shown] if shown else []


def _as_data(found: Explanation, hole: Hole, program: Program) -> dict[str, object]:
    from sglc.runtime.mask.json_position import show_path

    def text(data: bytes | None) -> str | None:
        return None if data is None else data.decode("utf-8", "backslashreplace")

    def place(of: Place) -> dict[str, object]:
        return {
            "bytes": len(of.read),
            "may_end": of.may_end,
            "next_bytes": list(of.next_bytes),
            "forced": text(of.forced),
            "path": None if of.path is None else show_path(of.path),
            "type": next(iter(_types(of, hole, program)), None),
            "reads": [{"part": part.reads, "rules": list(part.rules)} for part in of.parts],
        }

    data: dict[str, object] = {
        "hole": hole.spec.name,
        "where": hole.where,
        "text": text(found.text),
        "legal": found.legal,
        **place(found.place),
    }
    if found.tokens is not None:
        data["tokens"] = found.tokens
        data["sample"] = [{"id": id, "text": text(piece)} for id, piece in found.sample]
    if found.token is not None:
        token = found.token
        shown: dict[str, object] = {
            "id": token.id,
            "text": text(token.data),
            "allowed": token.allowed,
            "legal_bytes": token.at,
        }
        if not token.allowed:
            shown["place"] = place(token.place)
        data["token"] = shown
    if found.trace is not None:
        data["trace"] = dataclasses.asdict(found.trace)
    return data
