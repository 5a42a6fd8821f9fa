"""Texts as they are while somebody types: cut off, with a line begun, a piece gone, or odd characters."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from checkout import ROOT

SNIPPETS = (
    "    let note = weight(1)",
    "    for i in 1..3:",
    "record New:",
    "    | Hello ${name} and ?{x: int in 0..9}",
    '    ensure x > 3 else "no"',
    "    return total.",
    "fn ask(a: str) -> int:",
    "    match mood:\n        case calm:",
    "use std.text (email",
    'test "new":\n    mock ask.x = ',
    "    assistant with tools [a",
    'type t = json schema "',
    '    text """',
    "/* ",
    "union U:\n    A:\n        x: ",
    'grammar G:\n    start: "a" | ',
)
ODD = tuple("\"'`{}[]()|\\/#$?:=\t\r\x00\u00a0\u2028\ufeff😀é") + (
    "${",
    "?{",
    '"""',
    "/*",
    "..",
    "->",
    "=>",
    "##",
)


def programs() -> list[str]:
    """The examples of the repository, and those of the cookbook."""
    paths = sorted((ROOT / "examples").glob("*.sgl")) + sorted((ROOT / "examples" / "cookbook").glob("*.sgl"))
    return [path.read_text("utf-8") for path in paths]


def half_typed(random: Random, texts: list[str]) -> Iterator[tuple[str, int]]:
    """Endless texts, each with the offset of the cursor."""
    while True:
        text = random.choice(texts)
        place = random.randrange(len(text) + 1)
        kind = random.randrange(6)
        if kind == 0:
            yield text[:place], place
        elif kind == 1:
            snippet = random.choice(SNIPPETS)
            line = text.rfind("\n", 0, place) + 1
            typed = snippet[: random.randrange(1, len(snippet) + 1)]
            yield text[:line] + typed + "\n" + text[line:], line + len(typed)
        elif kind == 2:
            yield text[:place] + text[place + random.randrange(1, 40) :], place
        elif kind == 3:
            odd = random.choice(ODD)
            yield text[:place] + odd + text[place:], place + len(odd)
        elif kind == 4:
            other = random.choice(texts)
            start = random.randrange(len(other))
            piece = other[start : start + random.randrange(1, 200)]
            yield text[:place] + piece + text[place:], place + len(piece)
        else:
            end = text.find("\n", place)
            end = len(text) if end < 0 else end
            yield text[:place] + text[end:], place
