"""Positions and offsets, held against the encodings themselves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the extra lsp has the protocol")

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from sglc.lsp.places import Places
from sglc.lsp.positions import Encoding, Lines
from sglc.lsp.settings import Settings, settings_of

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")
TEXTS = st.text(st.sampled_from("ab é😀\n\r\t\u2028"), max_size=40)
_CODEC = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def oracle(text: str, offset: int, encoding: Encoding) -> types.Position:
    """The position by the lines of the text before an offset, encoded."""
    before = re.split(r"\r\n|\n|\r", text[:offset])
    if text[:offset].endswith("\r") and text[offset : offset + 1] == "\n":
        before = before[:-1]  # inside of a line end: the end of the line
        before[-1] += "\r"
    codec, size = _CODEC[encoding]
    return types.Position(len(before) - 1, len(before[-1].encode(codec)) // size)


@given(TEXTS, st.integers(0, 40), st.sampled_from(ENCODINGS))
def test_a_position_is_counted_in_code_units(text: str, offset: int, encoding: Encoding) -> None:
    offset = min(offset, len(text))
    assert Lines(text, encoding).position(offset) == oracle(text, offset, encoding)


@given(TEXTS, st.integers(0, 40), st.sampled_from(ENCODINGS))
def test_an_offset_comes_back(text: str, offset: int, encoding: Encoding) -> None:
    offset = min(offset, len(text))
    lines = Lines(text, encoding)
    back = lines.offset(lines.position(offset))
    inside_a_line_end = text[offset - 1 : offset + 1] == "\r\n" and offset > 0
    assert back == (offset - 1 if inside_a_line_end else offset)


@given(TEXTS, st.integers(0, 9), st.integers(0, 99), st.sampled_from(ENCODINGS))
def test_any_position_means_a_place_of_the_text(
    text: str, line: int, column: int, encoding: Encoding
) -> None:
    assert 0 <= Lines(text, encoding).offset(types.Position(line, column)) <= len(text)


@given(TEXTS, TEXTS, st.integers(0, 40), st.integers(0, 40), st.sampled_from(ENCODINGS))
def test_changes_replace_what_they_name(text: str, new: str, a: int, b: int, encoding: Encoding) -> None:
    lines = Lines(text, encoding)
    start, end = sorted((min(a, len(text)), min(b, len(text))))
    start, end = lines.offset(lines.position(start)), lines.offset(lines.position(end))
    change = types.TextDocumentContentChangePartial(lines.range(start, end), new)
    assert lines.changed(change) == text[:start] + new + text[end:]


def test_addresses_of_files_and_buffers(tmp_path: Path) -> None:
    places = Places(tmp_path)
    uri = (tmp_path / "a b é.sgl").as_uri()
    assert places.path(uri) == tmp_path / "a b é.sgl"
    assert places.uri(tmp_path / "a b é.sgl") == uri
    buffer = places.path("untitled:Untitled-1")
    assert buffer.parent == tmp_path and places.uri(buffer) == "untitled:Untitled-1"


@pytest.mark.parametrize("data", [3, [], "x", {"model": 1}, {"allowOutside": "yes"}, {"commands": "rm"}])
def test_wrong_settings_are_told_and_left_out(data: object) -> None:
    settings, problems = settings_of(data, Settings())
    assert problems and not settings.model and not settings.allow_outside and settings.commands == "sgl"


def test_settings_may_be_wrapped() -> None:
    assert settings_of({"sglc": {"lsp": {"model": "smollm2"}}}, Settings())[0].model == "smollm2"


def test_settings_that_are_left_out_are_as_they_were_given() -> None:
    given = Settings(model="smollm2", hints=False)
    for data in (None, {}, {"sglc": {"lsp": None}}, {"model": None}):
        assert settings_of(data, given) == (given, [])
    assert settings_of({"hints": True}, given)[0] == Settings(model="smollm2")
