"""The options `--workers` and `--cluster`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import click

from sglc.runtime.backends.recording.options import AnswerOptions
from sglc.runtime.cluster.scaling import Sizes

R = TypeVar("R")
MOST_WORKERS = 4096
MOST_PARALLEL = 64
_ADDRESS = re.compile(r"ray://[A-Za-z0-9_.\-\[\]:]+:[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """How many workers, and where: `cluster` is empty for processes of this machine, `local` for Ray on it,
    else the address of Ray elsewhere. Without `sizes` there are none, and all runs in this process. Each is
    `parallel` processes, among which its model is divided."""

    sizes: Sizes | None = None
    cluster: str = ""
    parallel: int = 1


NO_WORKERS = ClusterOptions()


def _sizes(context: click.Context, parameter: click.Parameter, given: str | None) -> Sizes | None:
    if given is None:
        return None
    fewest, colon, most = given.partition(":")
    numbers = [int(each) for each in ((fewest, most) if colon else (fewest, fewest)) if each.isdecimal()]
    if len(numbers) < 2 or not 1 <= numbers[0] <= numbers[1] <= MOST_WORKERS:
        raise click.BadParameter(f"N or MIN:MAX, from 1 to {MOST_WORKERS}, as 4 or 2:16")
    return Sizes(numbers[0], numbers[1])


def _cluster(context: click.Context, parameter: click.Parameter, given: str | None) -> str:
    if given is None or given == "local" or _ADDRESS.fullmatch(given):
        return given or ""
    raise click.BadParameter("`local`, or the address of a cluster of Ray, ray://HOST:PORT")


def cluster_options(function: Callable[..., R]) -> Callable[..., R]:
    """Gives a command how many workers there are and where as one parameter, `cluster`."""

    @functools.wraps(function)
    def packed(
        *values: object, workers: Sizes | None, cluster: str, tensor_parallel: int | None, **rest: object
    ) -> R:
        for option, given in (("--cluster", cluster), ("--tensor-parallel", tensor_parallel)):
            if given and workers is None:
                raise click.UsageError(f"{option} needs --workers: how many there are to be")
        return function(*values, cluster=ClusterOptions(workers, cluster, tensor_parallel or 1), **rest)

    click.option(
        "--tensor-parallel",
        type=click.IntRange(1, MOST_PARALLEL),
        metavar="N",
        help="With --workers: each worker is N processes that share its model.",
    )(packed)
    click.option(
        "--cluster",
        callback=_cluster,
        metavar="local|ray://HOST:PORT",
        help="With --workers: actors of Ray, on this machine or a cluster; else processes.",
    )(packed)
    click.option(
        "--workers",
        callback=_sizes,
        metavar="N|MIN:MAX",
        help="Processes with an engine each that share the work, as many as there is work for.",
    )(packed)
    return packed


def check_rows(cluster: ClusterOptions, rows: bool, answers: AnswerOptions, select: object) -> None:
    """Raises click.UsageError for what `sglc run` cannot do with workers."""
    if cluster.sizes is None:
        return
    if not rows:
        raise click.UsageError("--workers belongs to --data: a single run is computed in one process")
    given = {
        "--record": answers.record,
        "--replay": answers.replay,
        "--cache-answers": answers.cache_answers,
        "--select": select,
    }
    for name, value in given.items():
        if value:
            raise click.UsageError(f"{name} and --workers exclude each other: it is of one process")
