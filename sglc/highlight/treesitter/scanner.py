"""The scanner of tree-sitter: its frame in C, with the tables of soft keywords filled in."""

from __future__ import annotations

from pathlib import Path

from sglc.highlight.core.programs import Instruction, program
from sglc.highlight.treesitter.grammar import SCANNED, soft_words
from sglc.syntax.lexer.keywords import ROLES, SOFT

_OPERATIONS = {
    "char": "CHAR",
    "set": "SET",
    "split": "SPLIT",
    "jump": "JUMP",
    "ahead": "AHEAD",
    "border": "BORDER",
    "end": "END",
    "match": "MATCH",
}


def scanner_c() -> str:
    """The text of `scanner.c`."""
    frame = Path(__file__).with_name("scanner.c").read_text(encoding="utf-8")
    words = soft_words()
    tokens = (
        [_constant(name) for name in SCANNED] + [f"WORD_{word.upper()}" for word in words] + ["ERROR_MARK"]
    )
    ranges: list[str] = []
    steps: list[str] = []
    places: dict[str, int] = {}
    rows = []
    for word in (*words, *ROLES):
        regex = SOFT[word].pattern
        if regex not in places:
            places[regex] = len(steps)
            start = len(steps)
            steps += [_step(each, start, ranges) for each in program(regex)]
        token = "ROLE_NAME" if word in ROLES else f"WORD_{word.upper()}"
        rows.append(f'{{"{word}", {token}, {places[regex]}}}')
    for mark, lines in (("TOKENS", tokens), ("RANGES", ranges), ("PROGRAMS", steps), ("WORDS", rows)):
        frame = frame.replace(f"@{mark}@", "\n".join(f"  {line}," for line in lines))
    return frame


def _constant(name: str) -> str:
    return name.lstrip("_").upper()


def _step(step: Instruction, start: int, ranges: list[str]) -> str:
    first, second = step.first, step.second
    if step.kind == "set":
        first = len(ranges)
        ranges += [
            f"{{-'{each}', 0}}" if isinstance(each, str) else f"{{{each[0]}, {each[1]}}}"
            for each in step.items
        ]
        second = len(ranges)
    elif step.kind in ("split", "jump", "ahead"):
        first, second = first + start, second + start
    return f"{{{_OPERATIONS[step.kind]}, {int(step.flag)}, {first}, {second}}}"
