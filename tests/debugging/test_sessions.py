"""Scripted sessions of an editor: what a client asks over the debug adapter protocol, and what it sees."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from debugging.client import Client, Session
from debugging.scripts import PROGRAMS, take
from golden_case import GoldenCase, golden_cases

CASES = golden_cases("debug")


async def session(case: GoldenCase) -> str:
    program = case.input.split("\n")[0].removeprefix("program ")
    return await take(case, Session(Client(), PROGRAMS / f"{program}.sgl"))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_sessions(case: GoldenCase, golden: Callable[[GoldenCase, str], None]) -> None:
    golden(case, asyncio.run(session(case)))


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 50
