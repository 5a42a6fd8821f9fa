"""What rows of `sglc run --data` are run by: a model of this process, or workers."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from sglc.commands.clustering.options import ClusterOptions
from sglc.commands.running.batch import OpenRunner, RowRunner
from sglc.commands.running.execution import Call, Runner
from sglc.commands.shared.invocation import Invocation
from sglc.commands.shared.progress import Figures


def row_runner(
    invocation: Invocation, call: Call, cluster: ClusterOptions, file: Path, concurrency: int | None
) -> OpenRunner:
    """What opens the runner of rows: workers where some are asked for, else a model of this process."""

    def opened(figures: Figures) -> AbstractContextManager[RowRunner]:
        if cluster.sizes is None:
            return Runner.open(invocation, call)
        from sglc.commands.clustering.pooled_runner import PooledRunner

        return PooledRunner.open(invocation, call, cluster, file, concurrency, figures)

    return opened
