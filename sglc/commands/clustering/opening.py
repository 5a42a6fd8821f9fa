"""From the options of a command to a pool of workers, and what cannot go to one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sglc.bytecode.code import Program
from sglc.commands.clustering.options import ClusterOptions
from sglc.commands.running.execution import Call
from sglc.externs.modules import Access
from sglc.project.models import ModelSettings
from sglc.runtime.backends.filling.opening import links_of
from sglc.runtime.cluster.beginnings import Beginnings
from sglc.runtime.cluster.group_links import process_starter
from sglc.runtime.cluster.pool import Pool
from sglc.runtime.cluster.scaling import Sizes
from sglc.runtime.cluster.setup import ProgramSetup, PythonAccess, WorkerSetup
from sglc.runtime.engine.core.options import EngineOptions
from sglc.runtime.engine.open import SHARE, free_memory
from sglc.runtime.errors import ArgumentError
from sglc.runtime.model.load import load_tokenizer
from sglc.runtime.model.weights.errors import ModelError
from sglc.runtime.tokenizer import Tokenizer
from sglc.types.model_use import MAIN


def program_setup(
    program: Program, models: Mapping[str, str], known: Sequence[ModelSettings], file: str, access: Access
) -> ProgramSetup:
    """A program with its models, as workers get it. Raises ArgumentError (E0840) for a model elsewhere."""
    chains = {name: chain_of(model, known) for name, model in models.items()}
    folder = "" if access.folder is None else str(access.folder)
    return ProgramSetup(program, chains, file, PythonAccess(access.allowed, folder, access.own))


def chain_of(model: str, known: Sequence[ModelSettings]) -> tuple[str, ...]:
    """A model and its fallbacks, as workers load them. Raises ArgumentError (E0840) for one elsewhere."""
    links = links_of(model, known)
    away = next((link.name for link in links if link.elsewhere), None)
    if away is not None:
        raise ArgumentError(
            "E0840",
            f"workers cannot ask {away}",
            reason="it is a model elsewhere; each worker would have limits, budgets and keys of its own",
            hint="leave --workers out: one process has many calls of it under way",
        )
    return tuple(link.name for link in links)


def rows_setup(call: Call, file: str, cluster: ClusterOptions, concurrency: int | None) -> WorkerSetup:
    """What workers need for the rows of a call. Raises ArgumentError."""
    sizes = cluster.sizes
    assert sizes is not None
    models = {} if call.code.kind == "pure" else {MAIN: call.model, **call.models}
    width = None if concurrency is None else -(-concurrency // sizes.most)
    engine = call.engine if cluster.cluster else divided(call.engine, sizes, cluster.parallel)
    weighed = bool(call.observation.stats)
    program = program_setup(call.program, models, call.known, file, call.access)
    metrics = call.observation.metrics is not None
    return WorkerSetup((program,), engine, call.decode, width, weighed=weighed, metrics=metrics)


def divided(engine: EngineOptions, sizes: Sizes, parallel: int = 1) -> EngineOptions:
    """The options of each of several engines on this machine: the threads of each of its `parallel`
    processes, and its part of the memory that one alone would take. What is given holds for each."""
    threads, memory = engine.threads, engine.kv_memory
    if threads is None:
        threads = max(1, _cores() // (sizes.most * parallel))
    if memory is None:
        memory = min(free_memory() // SHARE, 8 << 30) // sizes.most
    return replace(engine, threads=threads, kv_memory=memory)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def open_pool(setup: WorkerSetup, cluster: ClusterOptions, coming: Callable[[], int] = lambda: 0) -> Pool:
    """A pool that is not open yet. Raises ArgumentError where there can be none: a process of torchrun, no
    package of Ray, a cluster that nobody answers for."""
    assert cluster.sizes is not None
    if int(os.environ.get("WORLD_SIZE", "1") or 1) > 1:
        raise ArgumentError(
            "E0840",
            "--workers cannot be divided by torchrun",
            reason="torchrun divides one model among its processes, which follow the first of them",
            hint="`--workers N --tensor-parallel M` without torchrun divides the model of each worker",
        )
    if not cluster.cluster and os.name != "posix":
        raise ArgumentError(
            "E0840", "workers are processes of Linux and macOS", hint="give --cluster, or leave --workers out"
        )
    engine, start = setup.engine, process_starter(cluster.parallel, setup.engine.threads)
    if cluster.cluster:
        from sglc.runtime.cluster.ray_links import ray_starter

        start = ray_starter(cluster.cluster, cluster.sizes, engine.threads, engine.device, cluster.parallel)
    return Pool(start, setup.line(), cluster.sizes, coming=coming)


def beginnings_of(program: ProgramSetup, sizes: Sizes) -> Beginnings | None:
    """What knows the beginnings of calls. None where it makes no difference who gets them, and where the
    model's tokenizer is only on the machines of the workers."""
    chain = program.models.get(MAIN, ())
    tokenizer = tokenizer_of(chain[0], sizes) if chain else None
    return None if tokenizer is None else Beginnings(program.program, tokenizer)


def tokenizer_of(model: str, sizes: Sizes) -> Tokenizer | None:
    """The tokenizer of a model, by which beginnings are known; None as above."""
    if sizes.most < 2 or model.startswith("scripted:"):
        return None
    try:
        return load_tokenizer(model)
    except ModelError:
        return None
