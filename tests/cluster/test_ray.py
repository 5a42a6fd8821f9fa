"""Workers as actors of Ray, on this machine."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

from clustering.row_jobs import job, options, results
from command_line import Cli, cli

__all__ = ["cli", "job"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="ray is not installed"),
]


@pytest.fixture(scope="module")
def ray() -> Any:
    """Ray, ended when the tests have."""
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    package = pytest.importorskip("ray")
    yield package
    package.shutdown()


def test_the_results_are_those_of_one_process(job: Path, cli: Cli, ray: Any) -> None:
    cli(*options(job, "one.jsonl"))
    code, _, err = cli(*options(job, "ray.jsonl", "--workers", "1:2", "--cluster", "local"))
    assert code == 1 and "15 rows, 2 failed" in err
    assert results(job, "one.jsonl") == results(job, "ray.jsonl")


def test_a_cluster_that_is_not_there_is_told(job: Path, cli: Cli, ray: Any) -> None:
    ray.shutdown()
    files = options(job, "out.jsonl", "--workers", "1", "--cluster", "ray://127.0.0.1:1")
    code, _, err = cli(*files)
    there = importlib.util.find_spec("grpc") is not None
    assert code == 1 and ("E0840" if there else "E0812") in err
