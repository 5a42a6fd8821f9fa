"""Model folders that lie: each is refused with a clear error or gives an answer, and nothing else happens."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("llvmlite")

from fakes.gguf_models import tiny_llama
from hostile.forged_models import Forged, forged_models, random_forgeries, random_gguf
from hostile.hostile_jobs import Job, run_jobs

PROGRAM = """\
fn ask(topic: str) -> int:
    user: | Say a number about ${topic}.
    assistant: | ?{n: int in 10..99}
    return n
"""
LEAST = 79
CLEAR = ("E08", "E0705")
"""The model cannot be had, or its tokenizer cannot write a text."""
RANDOM = int(os.environ.get("SGLC_TEST_EXAMPLES", "0")) // 10


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals and limits")
def test_no_forged_model_is_more_than_refused(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    program = tmp_path / "ask.sgl"
    program.write_text(PROGRAM, encoding="utf-8")
    models: list[Forged] = list(forged_models(tmp_path, cache, tiny_llama(width=64)))
    models += random_forgeries(tmp_path, tmp_path / "base", RANDOM, 19)
    models += random_gguf(tmp_path, tiny_llama(width=64), max(8, RANDOM), 7)
    jobs = [
        Job(
            model.name,
            ("run", str(program), "--arg", "topic=x", "--kv-memory", "64MiB", *("--model", str(model.path))),
        )
        for model in models
    ]
    ended = run_jobs(jobs, tmp_path, {"SGLC_CACHE_DIR": str(cache)}, 1800)
    assert len(ended) == len(jobs) > LEAST
    assert ended[0].code == 0, ended[0].output
    faults = {each.job.name: fault for each in ended if (fault := each.fault(CLEAR))}
    assert not faults, "\n".join(f"{name}: {fault}" for name, fault in list(faults.items())[:40])
    refused = sum(each.code == 1 for each in ended)
    assert refused > LEAST
