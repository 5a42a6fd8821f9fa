"""Every example at every kind of server: what a level promises holds, and nothing wrong gets through.

The servers are in the process and enforce what they are told to, by any legal text. What they are not told to
enforce is answered half well: a legal text, the same in other spellings, in prose, cut off or broken.
`SGLC_TEST_EXAMPLES=1` runs every example at every server; without it each server gets a few.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from backends import stub_servers
from backends.example_runs import Watched, policed, run, watching
from backends.in_process import as_json
from backends.stub_model import StubModel, constraint_from
from checkout import EXAMPLES
from sglc.runtime.backends.backend_settings import BackendSettings
from sglc.runtime.backends.exchange import Backend
from sglc.runtime.backends.filling.filler import RemoteFiller
from sglc.runtime.backends.registry import open_backend
from sglc.runtime.mask.constraint import Constraint
from sglc.runtime.mask.matcher import Matcher

KEYS = {"OPENAI_API_KEY": "sk-test", "ANTHROPIC_API_KEY": "sk-test"}
SERVERS: dict[str, tuple[str, type, dict[str, Any]]] = {
    "openai": ("openai:gpt-5", stub_servers.StubOpenAI, {}),
    "chat": ("chat:http://localhost:1/v1#served", stub_servers.StubOpenAI, {"notations": frozenset()}),
    "anthropic": ("anthropic:claude-sonnet-4-5", stub_servers.StubAnthropic, {}),
    "vllm": ("vllm:http://localhost:1", stub_servers.StubVllm, {}),
    "sglang": ("sglang:http://localhost:1", stub_servers.StubSGLang, {}),
    "llama": ("llama:http://localhost:1", stub_servers.StubLlama, {}),
}
ALL = bool(os.environ.get("SGLC_TEST_EXAMPLES"))
EACH = 22
"""Of so many examples one is run at a server where not all are."""
PAIRS = [
    (path, server)
    for number, path in enumerate(sorted(EXAMPLES.glob("**/*.sgl")))
    for other, server in enumerate(SERVERS)
    if ALL or (number + 2 * other) % EACH == 0
]
WANTED: ContextVar[Matcher | None] = ContextVar("WANTED", default=None)
"""The texts of the hole that is asked for."""


class HalfGood(StubModel):
    """Answers that nothing is enforced of are mostly right, in many ways."""

    def write(self, constraint: Constraint | None) -> str:
        wanted = WANTED.get()
        if constraint is not None or wanted is None:
            return super().write(constraint)
        draw = random.Random(self.seed)
        text = self._drawn(_Given(wanted))  # type: ignore[arg-type]
        ways = [text] * 4 + [f"```json\n{text}\n```", text[: len(text) // 2], f"{text}\n\nAnything else?"]
        ways += ["some words", text.replace(" ", ""), f"Here it is:\n{text}"]
        if text.startswith(("{", "[")):
            with suppress(ValueError):  # a text may begin like an object and be none
                value = json.loads(text)
                ways += [json.dumps(value, indent=2), json.dumps(value, sort_keys=True)]
        return draw.choice(ways)


@dataclass
class _Given:
    given: Matcher

    def matcher(self, vocabulary: object) -> Matcher:
        return self.given.clone()


TABLE: Counter[tuple[str, str, str]] = Counter()


@lru_cache
def stub_servers_bytes() -> Any:
    from backends import stub_model

    return stub_model._BYTES


@lru_cache(maxsize=512)
def _compiled(kind: str, value: str) -> Constraint:
    return constraint_from(kind, json.loads(value))


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setattr(
        stub_servers, "constraint_from", lambda kind, value: _compiled(kind, json.dumps(value))
    )

    def wanted(filler: RemoteFiller, asked: Any) -> None:
        WANTED.set(filler.constraints.value(asked.request).matcher(stub_servers_bytes()))

    with watching(monkeypatch, wanted) as seen:
        yield seen


def opened(server: str, seed: int = 0) -> Backend:
    name, stub, settings = SERVERS[server]
    model = HalfGood(seed=seed, longest=30)
    return open_backend(name, BackendSettings(**settings), KEYS, stub(model).transport)


@pytest.mark.parametrize(("path", "server"), PAIRS, ids=lambda each: getattr(each, "stem", each))
def test_an_example_at_a_server(path: Path, server: str, watched: Watched) -> None:
    try:
        run(path, policed(opened(server)), watched)
    finally:
        for (level, outcome), count in watched.outcomes.items():
            TABLE[server, level, outcome] += count
        if os.environ.get("SGLC_TEST_TABLE"):
            Path(os.environ["SGLC_TEST_TABLE"]).write_text(
                "\n".join(f"{' '.join(key)} {count}" for key, count in sorted(TABLE.items()))
            )


def test_a_chain_asks_each_server_for_what_all_can_do(watched: Watched) -> None:
    """The first server cannot be reached, so the second one answers; what it is sent keeps its own rules."""
    away = stub_servers.StubVllm(HalfGood())
    away.instead = as_json({"error": "the model is not here"}, 404)
    first = open_backend("vllm:http://localhost:1#served", BackendSettings(), KEYS, away.transport)
    run(EXAMPLES / "errors.sgl", policed(first, opened("openai")), watched)
    assert watched.outcomes == {("exact", "asked again"): 1}  # a request to each of them
    assert any("structured_outputs" in body for body in away.transport.bodies if body)
