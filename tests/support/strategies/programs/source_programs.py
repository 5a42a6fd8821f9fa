"""Random programs of SGL: well typed, always ending, small.

Several functions of every kind, each of which may call those before it, and `main(n: int, word: str)`. A
program may raise the declared error `Odd`, and whatever the machine raises.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from strategies.programs.expressions import expression
from strategies.programs.scope import TYPES, Kind, Role, Signature, Writer
from strategies.programs.statements import body, condition_of_hole, statements

HEADER = """\
error Odd(n: int)
enum Mood: calm, glad, wild
record Card: label: str max 6 chars, score: int in 0..9
"""

MOST_HOLES = 10
"""Most holes that one call of a function fills."""
MOST_OF_MAIN = 40
"""Most holes of a run."""


@dataclass(frozen=True)
class SourceProgram:
    """A program and arguments of its `main`."""

    text: str
    arguments: dict[str, object]
    forks: bool
    """Whether branches run side by side: what they have left of a budget, and which of them fails first,
    depends on the order of their answers."""


def source_program(random: Random) -> SourceProgram:
    """A program, every choice of which comes from `random`."""
    functions: list[Signature] = []
    texts = [HEADER]
    kinds: tuple[Kind, ...] = ("fn", "fn", "fn", "pure", "part")
    for index in range(1 + random.randrange(5)):
        kind = kinds[random.randrange(len(kinds))] if index else "fn"
        text, signature = _function(random, f"f{index}", kind, functions)
        texts.append(text)
        functions.append(signature)
    text, forks = _main(random, functions)
    texts.append(text)
    arguments = {"n": random.randrange(10), "word": ("sea", "", "two words")[random.randrange(3)]}
    return SourceProgram("\n".join(texts), arguments, forks)


def source_programs() -> st.SearchStrategy[SourceProgram]:
    """`source_program` as a strategy, which shrinks."""
    return st.randoms(use_true_random=False).map(source_program)


def _function(random: Random, name: str, kind: Kind, functions: list[Signature]) -> tuple[str, Signature]:
    writer = Writer(random, name, kind, functions, MOST_HOLES)
    types = tuple(
        writer.one_of("int", "str", "int", "str", "ints", "mood", "card") for _ in range(writer.upto(2))
    )
    names = [f"p{index}_{name}" for index in range(len(types))]
    result = writer.one_of("int", "str", "int", "str", "int", "str", *TYPES)
    writer.scope.variables.update(zip(names, types, strict=True))
    role: Role = writer.one_of("user", "assistant") if kind == "part" else ""
    writer.scope.role = role
    if kind == "fn":
        lines = _conversation(writer, result)
    else:
        lines = statements(writer, 1, 2)
        lines += _early(writer, result)
        lines.append(f"return {expression(writer, result, 2)}")
    # A budget that the holes cannot keep is an error of the program.
    most = writer.one_of(5, 30) if writer.holes == 1 and len(lines) < 6 else writer.one_of(200, 400)
    within = f" within {most} tok" if kind == "fn" and not writer.forks and writer.chance(25) else ""
    text = _written(kind, name, dict(zip(names, types, strict=True)), result, within, writer.raises, lines)
    return text, Signature(name, kind, types, result, writer.holes, writer.raises, writer.forks, role)


def _conversation(writer: Writer, result: str) -> list[str]:
    """Mostly a question and its answer; sometimes anything."""
    if writer.chance(40):
        lines = statements(writer, 2, 3)
        lines += _early(writer, result)
        return [*lines, f"return {expression(writer, result, 2)}"]
    said = " ".join(f"${{{name}}}" for name in writer.scope.variables)
    asked = writer.fresh("h")
    hole, value = writer.one_of(
        ("int in 0..9", "int"), ("str max 4 chars", "str"), ("bool", "bool"), ("[int in 0..9; 1..3]", "ints")
    )
    drawn = (" temp 1", " temp 1 decode exact", " temp 1 decode smc(3)")
    heat = writer.one_of("", *drawn, " decode beam(2)")
    writer.spend(1)
    writer.scope.variables[asked] = value
    answer = [f"| ?{{{asked}: {hole}{heat}}}"]
    if writer.chance(40):
        answer += condition_of_hole(writer, asked, value)
    early = _early(writer, result)
    return [
        f"user: | {writer.name} of {said}",
        "assistant:",
        *body(answer),
        *early,
        f"return {expression(writer, result, 1)}",
    ]


def _early(writer: Writer, result: str) -> list[str]:
    """Sometimes a way out before the end: a result or an error."""
    if not writer.chance(30):
        return []
    condition = expression(writer, "bool", 1)
    if writer.chance(50):
        writer.raises = True
        return [f"if {condition}: raise Odd({expression(writer, 'int', 0)})"]
    return [f"if {condition}: return {expression(writer, result, 1)}"]


def _main(random: Random, functions: list[Signature]) -> tuple[str, bool]:
    writer = Writer(random, "main", "fn", functions, MOST_OF_MAIN)
    writer.scope.variables.update(n="int", word="str")
    result = writer.one_of("pair", "int", "str", "ints", "strs")
    lines = statements(writer, 3, 5)
    lines += _early(writer, result)
    lines.append(f"return {expression(writer, result, 2)}")
    text = _written("fn", "main", {"n": "int", "word": "str"}, result, "", writer.raises, lines)
    return text, writer.forks


def _written(
    kind: Kind,
    name: str,
    parameters: dict[str, str],
    result: str,
    within: str,
    raises: bool,
    lines: list[str],
) -> str:
    said = ", ".join(f"{parameter}: {TYPES[type]}" for parameter, type in parameters.items())
    keyword = {"fn": "fn", "part": "part", "pure": "pure fn"}[kind]
    header = f"{keyword} {name}({said}) -> {TYPES[result]}{within}{' raises Odd' if raises else ''}:"
    return "\n".join([header, *body(lines), ""])
