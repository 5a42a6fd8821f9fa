"""What the pages and the example say of programs in Python is true."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from pydantic import BaseModel, Field

import sglc
from checkout import EXAMPLES
from python_programs.modules import found_in, python_module
from readme_commands import README, blocks
from sglc.decorators import DecoratedFunction
from sglc.diagnostics.render import render

PAGE = README.parent / "docs" / "python-front-end.md"
BLOCKS = [*blocks("python", PAGE), *(text for text in blocks("python", README) if "@sglc" in text)]


@pytest.mark.parametrize("text", BLOCKS)
def test_a_program_on_a_page_compiles_without_a_remark(tmp_path: Path, text: str) -> None:
    module = python_module(tmp_path, text)
    assert any(isinstance(value, DecoratedFunction) for value in vars(module).values())
    assert not [render(each) for each in found_in(module)]


def test_there_are_programs_on_the_pages() -> None:
    assert len(BLOCKS) >= 4


def test_the_example_compiles_without_a_remark(tmp_path: Path) -> None:
    text = (EXAMPLES / "python_front_end.py").read_text(encoding="utf-8")
    assert not [render(each) for each in found_in(python_module(tmp_path, text))]


# -- `type=` of repair takes the same types ------------------------------------------------------------


class Person(BaseModel):
    name: str = Field(max_length=9)
    born: datetime.date


def test_repair_makes_objects_of_own_classes() -> None:
    found = sglc.repair(lambda prompt: '{"name": "Ada", "born": "1815-12-10"}', "Who?", type=Person)
    assert found.value == Person(name="Ada", born=datetime.date(1815, 12, 10))
    days = sglc.repair(lambda prompt: '["2026-01-02"]', type=tuple[datetime.date, ...], complete=True)
    assert days.value == (datetime.date(2026, 1, 2),)


def test_repair_refuses_what_is_no_type() -> None:
    with pytest.raises(TypeError, match="no sets"):
        sglc.repair(lambda prompt: "", type=set[int])
