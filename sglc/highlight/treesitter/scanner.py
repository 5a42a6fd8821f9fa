"""The scanner of tree-sitter: its frame in C, with the tables of soft keywords filled in."""

from __future__ import annotations

from pathlib import Path

from sglc.highlight.programs import Instruction, program
from sglc.highlight.treesitter.grammar import SCANNED, soft_words
from sglc.syntax.lexer.keywords import ROLES, SOFT

_OPERATIONS = {
    "char": "CHAR", "set": "SET", "any": "ANY", "split": "SPLIT", "jump": "JUMP", "ahead": "AHEAD",
    "border": "BORDER", "end": "END", "match": "MATCH",
}  # fmt: skip


def scanner_c() -> str:
    """The text of `scanner.c`."""
    frame = Path(__file__).with_name("scanner.c").read_text(encoding="utf-8")
    words = soft_words()
    tokens = [_constant(name) for name in SCANNED] + [f"WORD_{word.upper()}" for word in words] + ["ERROR_MARK"]
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
    kind, *arguments = step
    flag, first, second = 0, 0, 0
    match kind, arguments:
        case "char", [int(code)]:
            first = code
        case "set", [bool(negated), tuple(items)]:
            flag, first = int(negated), len(ranges)
            ranges += [f"{{-'{item[0]}', 0}}" if len(item) == 1 else f"{{{item[0]}, {item[1]}}}" for item in items]
            second = len(ranges)
        case "split", [int(one), int(other)]:
            first, second = one + start, other + start
        case "jump", [int(to)]:
            first = to + start
        case "ahead", [bool(wanted), int(to)]:
            flag, first = int(wanted), to + start
    return f"{{{_OPERATIONS[str(kind)]}, {flag}, {first}, {second}}}"
