"""What a handler reads of a built-in error: why a model elsewhere failed, and the text that had come."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from sglc.driver import compile_source
from sglc.runtime.backends.exchange import BackendFault
from sglc.runtime.backends.policy.errors import language_error
from sglc.runtime.engine.reference_engine import ReferenceEngine
from sglc.runtime.errors import SglError
from sglc.runtime.model.scripted import ScriptedCache, ScriptedModel
from sglc.runtime.session import Session
from sglc.source import Source

FAULT = BackendFault(
    *("rate", "slow down"), endpoint="http://one", status=429, attempts=3, retry_after=2.5, partial="Hel"
)
WHOLE = """pub fn f() -> str:
    try:
        user: | q
        assistant: | ?{a: str max 9 chars}
        return a
    except Backend as e:
        let after = e.retry_after
        let seconds = after if after != null else -1.0
        return "${e.cause} ${e.endpoint} ${e.attempts + 1} ${seconds} [${e.partial}] ${e.name}"
"""


class Failing(ScriptedModel):
    """A model whose every pass ends in an error of the language."""

    error = SglError("Failure", "")

    def forward(self, cache: ScriptedCache, tokens: Sequence[int], every: bool = False) -> np.ndarray:
        raise self.error


def _run(text: str, error: SglError) -> object:
    compiled = compile_source(Source("p.sgl", text))
    assert compiled.program is not None, compiled.diagnostics
    model = Failing([])
    model.error = error
    engine = ReferenceEngine(model)
    try:
        return asyncio.run(Session(compiled.program, engine).run("f", {})).value
    finally:
        engine.close()


def test_a_handler_reads_why_a_backend_failed() -> None:
    assert _run(WHOLE, language_error(FAULT)) == "rate http://one 4 2.5 [Hel] Backend"


def test_faults_of_local_models_have_the_fields_as_well() -> None:
    assert _run(WHOLE, SglError("Backend", "the card is gone")) == "local  2 -1.0 [] Backend"


@pytest.mark.parametrize("name", ["Timeout", "Budget", "Truncated", "Rejected", "Refused"])
def test_a_text_that_was_not_finished_can_be_read(name: str) -> None:
    text = f"""pub fn f() -> str:
    try:
        user: | q
        assistant: | ?{{a: str max 9 chars}}
        return a
    except {name} as e:
        return e.partial
"""
    assert _run(text, SglError(name, "", partial="Hel")) == "Hel"
    assert _run(text, SglError(name, "")) == ""


@pytest.mark.parametrize(
    ("arm", "part"),
    [("Timeout", "cause"), ("Failure", "partial"), ("Backend, Timeout", "partial"), ("Backend", "reason")],
)
def test_other_errors_have_other_parts(arm: str, part: str) -> None:
    text = f"""pub fn f() -> str:
    try:
        return "a"
    except {arm} as e:
        return e.{part}
"""
    found = compile_source(Source("p.sgl", text)).diagnostics
    assert [each.message for each in found if part in each.message], found


def test_a_program_raises_them_by_a_message_alone() -> None:
    text = """pub pure fn f() -> str:
    try:
        raise Backend("x")
    except Backend as e:
        return e.cause
"""
    assert _run(text, SglError("Failure", "")) == "local"
    wrong = compile_source(Source("p.sgl", text.replace('("x")', '("x", "rate")')))
    assert wrong.program is None
