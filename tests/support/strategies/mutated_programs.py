"""Programs of the examples, the standard library, the docs and the catalogue, damaged at random.

One to four slips each: lines and tokens are dropped, doubled, swapped, moved and taken over from other
programs, numbers change, names are mistaken for each other.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from checkout import ROOT
from sglc.diagnostics.catalogue.codes import CATALOGUE

_BLOCK = re.compile(r"^```sgl[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_TOKEN = re.compile(r"[^\W\d]\w*|\d+(?:\.\d+)?|\s+|\*\*|->|\.\.|\$\{|\?\{|[=!<>]=|[^\w\s]")
_NAME = re.compile(r"[^\W\d]\w*\Z")
_NUMBERS = ("0", "1", "2", "3", "7", "63", "100", "-1", "0.5", "1e3", "65536", "1000000", "9" * 19, "9" * 40)
_SNIPPETS = (
    "int", "str", "bool", "float", "dec", "null", "true", "false", "it", "self", "not ", "and ", "or ", "in ",
    "if ", "else", "for ", "while ", "return ", "yield ", "fork ", "retry ", "try:", "except ", "raise ",
    "match ", "case _:", "ensure ", "check ", "repair ", "resample ", "mock ", "fuzz ", "expect ", "limit ",
    "select ", "within ", "choose ", "matching ", "where ", "?{x: int}", "${x}", "?{", "${", "[]", "{}", "()",
    "[", "]", "{", "}", "(", ")", "|", ":", ",", ".", "..", "=", "==", "+", "-", "*", "/", "%", "**", "<",
    ">", "?", '"', "'", "#", "\\", "\t", "\n", "    ", "\n    ", "/a+/", "list[int]", "map[int]", "\u00e9",
    "\U0001f600", "\0", "\r", "\u2028", "\u202e", ";", "@", "~", "&&", "->",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Original:
    """A sound program; its path says where the files that it uses lie."""

    path: str
    text: str


def originals() -> list[Original]:
    """Programs to damage, the same in the same order for one revision."""
    files = [*sorted((ROOT / "examples").glob("*.sgl")), *sorted((ROOT / "stdlib").glob("*.sgl"))]
    found = [Original(str(path), path.read_text(encoding="utf-8")) for path in files]
    pages = [
        page for page in sorted((ROOT / "docs").glob("*.md")) if page.stem != "diagnostics"
    ]  # has faults
    for page in [ROOT / "README.md", *pages]:
        for number, block in enumerate(_BLOCK.findall(page.read_text(encoding="utf-8"))):
            found.append(Original(str(ROOT / "examples" / f"{page.stem}_{number}.sgl"), block))
    for code, entry in sorted(CATALOGUE.items()):
        if entry.good:
            found.append(Original(str(ROOT / "examples" / f"{code}.sgl"), entry.good))
    return found


def mutated(number: int, programs: list[Original]) -> Original:
    """The program of that number."""
    dice = random.Random(number)
    # Files have most of the language; the catalogue has its corners.
    files = [program for program in programs if not re.search(r"[EW]\d{4}\.sgl\Z", program.path)]
    original = dice.choice(files if dice.random() < 0.75 else programs)
    text = original.text
    for _ in range(dice.choice((1, 1, 1, 2, 4))):
        text = _slip(text, programs, dice)
    return Original(original.path, text)


def _slip(text: str, programs: list[Original], dice: random.Random) -> str:
    if dice.random() < 0.3:
        return _slip_of_lines(text, programs, dice)
    tokens = _TOKEN.findall(text)
    places = [place for place, token in enumerate(tokens) if not token.isspace()]
    if not places:
        return dice.choice(_SNIPPETS)
    at, other = dice.choice(places), dice.choice(places)
    match dice.randrange(8):
        case 0:
            tokens[at] = ""
        case 1:
            tokens[at] += " " * dice.randrange(2) + tokens[at]
        case 2:
            near = places[min(places.index(at) + 1, len(places) - 1)]
            tokens[at], tokens[near] = tokens[near], tokens[at]
        case 3:
            tokens[at] = tokens[other]
        case 4:
            tokens[at] = dice.choice(_SNIPPETS) + (tokens[at] if dice.random() < 0.5 else "")
        case 5:
            numbers = [place for place in places if tokens[place][0].isdigit()]
            tokens[dice.choice(numbers or places)] = dice.choice(_NUMBERS)
        case _:
            names = [place for place in places if _NAME.match(tokens[place])]
            if names:
                tokens[dice.choice(names)] = tokens[dice.choice(names)]
    return "".join(tokens)


def _slip_of_lines(text: str, programs: list[Original], dice: random.Random) -> str:
    lines = text.split("\n")
    at, other = dice.randrange(len(lines)), dice.randrange(len(lines))
    match dice.randrange(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines.insert(other, lines.pop(at))
        case 4:
            lines[at] = dice.choice((" ", "    ", "\t")) + lines[at] if dice.random() < 0.5 else lines[at][1:]
        case _:
            lines.insert(at, dice.choice(dice.choice(programs).text.split("\n")))
    return "\n".join(lines)
