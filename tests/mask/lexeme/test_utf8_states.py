"""Characters as bytes: what is read state by state decodes to the character, and every spelling is read."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.automata.term import Encoding
from sglc.runtime.mask.lexeme.utf8_states import Characters, Edge

EDGES_OF_SPACE = (
    0,
    1,
    8,
    9,
    10,
    13,
    0x1F,
    0x20,
    0x22,
    0x23,
    0x2F,
    0x41,
    0x5B,
    0x5C,
    0x5D,
    0x7E,
    0x7F,
    0x80,
    0xBF,
    0xC0,
    0x7FF,
    0x800,
    0xFFF,
    0x1000,
    0xCFFF,
    0xD000,
    0xD7FF,
    0xE000,
    0xFFFF,
    0x10000,
    0x103FF,
    0x10400,
    0x3FFFF,
    0x40000,
    0xFFFFF,
    0x100000,
    0x10FFFF,
)
POINTS = st.sampled_from(EDGES_OF_SPACE) | st.integers(0, 0x10FFFF).filter(lambda c: not 0xD800 <= c < 0xE000)
ENCODINGS: list[Encoding] = ["raw", "json", "json-any"]


@st.composite
def edges(draw: st.DrawFn) -> tuple[Edge, ...]:
    bounds = sorted(draw(st.sets(POINTS, min_size=2, max_size=8)))
    found = []
    for low, high in zip(bounds[::2], bounds[1::2], strict=False):
        target = draw(st.integers(0, 2))
        for start, end in ((low, min(high, 0xD7FF)), (max(low, 0xE000), high)):
            if start <= end:
                found.append((start, end, target))
    return tuple(found)


def spellings(point: int, encoding: Encoding) -> list[bytes]:
    char = chr(point)
    if encoding == "raw":
        return [char.encode()]
    canonical = json.dumps(char, ensure_ascii=False)[1:-1].encode()
    if encoding == "json":
        return [canonical]
    units = char.encode("utf-16-be")
    codes = [f"{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2)]
    found = [
        canonical,
        *["".join("\\u" + change(code) for code in codes).encode() for change in (str.lower, str.upper)],
    ]
    return [*found, b"\\/"] if char == "/" else found


def read(characters: Characters, start: tuple[Edge, ...], data: bytes) -> int | None:
    """The target after exactly one character; None if the data are not one."""
    moves = characters.begin(start)
    for position, byte in enumerate(data):
        assert all(before[1] < after[0] for before, after in pairwise(moves))
        target = next((t for low, high, t in moves if low <= byte <= high), None)
        if target is None:
            return None
        if target >= 0:
            return target if position == len(data) - 1 else None
        assert set(characters.targets(-1 - target)) <= {t for _, _, t in start}
        moves = characters.moves(-1 - target)
    return None


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@given(case=edges(), points=st.lists(POINTS, min_size=1, max_size=10))
def test_every_spelling_is_read(encoding: Encoding, case: tuple[Edge, ...], points: list[int]) -> None:
    characters = Characters(encoding)
    for point in points:
        expected = next((target for low, high, target in case if low <= point <= high), None)
        for data in spellings(point, encoding):
            assert read(characters, case, data) == expected


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ENCODINGS)
@given(
    case=edges(),
    data=st.lists(st.sampled_from(b'\\u0Dd8CbAn/"\xc2\x80\xe0\xa0\xed\xf4\x90A'), max_size=12).map(bytes),
)
def test_nothing_else_is_read(encoding: Encoding, case: tuple[Edge, ...], data: bytes) -> None:
    found = read(Characters(encoding), case, data)
    if found is not None:
        text = data.decode() if encoding == "raw" else json.loads(b'"' + data + b'"')
        assert len(text) == 1
        assert any(low <= ord(text) <= high and target == found for low, high, target in case)
        if encoding == "json":
            assert data == spellings(ord(text), encoding)[0]
