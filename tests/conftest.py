"""Test-wide options: golden files, and an import path without the checkout's own folders."""

from __future__ import annotations

import functools
import gc
import os
import re
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from example_budget import examples
from golden_case import GoldenCase, check_golden
from late import LOADED_BY_COLLECTION

# With the checkout on the path, libraries that look for a package named `kernels` would find ours.
_ROOT = Path(__file__).resolve().parent.parent
sys.path[:] = [entry for entry in sys.path if Path(entry or os.curdir).resolve() != _ROOT]

COLLECTED_AFTER = 7_000
"""New objects before a search for garbage: ten times what Python takes, a seventh of what commands take."""

_TORCH = re.compile(r'Late\("(torch|transformers)"\)|model_folders|tiny_decoders|drawing_executor')

# Timing never decides a test, and runs are repeatable.
settings.register_profile(
    "sglc",
    max_examples=examples(25),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("sglc")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the [out] sections that differ")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    # Thousands of tests live to the end: searches for garbage leave them out, and come less often.
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(COLLECTED_AFTER, *gc.get_threshold()[1:])
        gc.enable()


def pytest_collection_finish(session: pytest.Session) -> None:
    heavy = {"torch", "transformers.modeling_utils", "mcp", "redis"} & set(sys.modules)
    session.config.stash[LOADED_BY_COLLECTION] = sorted(heavy)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where processes share the tests, files with slow ones come first: short files fill the end."""
    if hasattr(config, "workerinput"):
        slow = {item.path for item in items if item.get_closest_marker("slow")}
        items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """All tests of a file run in one process, where what they share (models, tables) is made once. In the
    fast tier files that need torch are as one: importing it takes longer than their tests."""
    from xdist.scheduler import LoadFileScheduling

    class TorchTogether(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = str(super()._split_scope(nodeid))
            return "torch" if _needs_torch(file) else file

    config.option.loadscopereorder = False  # keeps the order of the collection
    return (TorchTogether if config.option.markexpr == "not slow" else LoadFileScheduling)(config, log)


@functools.cache
def _needs_torch(file: str) -> bool:
    return _TORCH.search((_ROOT / file).read_text(encoding="utf-8")) is not None


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[GoldenCase, str], None]:
    """`golden(case, actual)`: compare with the case's `[out]`, or rewrite it under --update-golden."""
    update = bool(request.config.getoption("--update-golden"))

    def check(case: GoldenCase, actual: str) -> None:
        check_golden(case, actual, update)

    return check
