"""Families of figures in Prometheus' text format: to a file, or for scraping over HTTP."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sglc.cache_files import write_atomically
from sglc.runtime.metrics.families import Family, Source
from sglc.runtime.metrics.figures import BOUNDS
from sglc.runtime.metrics.packages import MissingPackage

try:
    from prometheus_client import CollectorRegistry, generate_latest, start_http_server
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
except ImportError as _missing:
    raise MissingPackage("prometheus_client", "writing metrics") from _missing

if TYPE_CHECKING:
    from prometheus_client.core import Metric


class _Collected:
    """A source as a registry reads it."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def collect(self) -> Iterator[Metric]:
        """The metrics as they are now."""
        return map(_metric, self._source.families())


def _metric(family: Family) -> Metric:
    if family.kind == "histogram":
        made = HistogramMetricFamily(family.name, family.help, labels=family.labels)
        bounds = (*map(str, BOUNDS), "+Inf")
        for labels, (*counts, total) in family.samples.items():
            made.add_metric(labels, list(zip(bounds, counts, strict=True)), total)
        return made
    of_kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    plain: CounterMetricFamily | GaugeMetricFamily = of_kind(family.name, family.help, labels=family.labels)
    for labels, (value,) in family.samples.items():
        plain.add_metric(labels, value)
    return plain


def registry(source: Source) -> CollectorRegistry:
    """A registry of its own with these metrics, to join other exporters."""
    made = CollectorRegistry()
    made.register(_Collected(source))
    return made


def text(source: Source) -> str:
    """The metrics in Prometheus' text format."""
    return str(generate_latest(registry(source)).decode())


def write(source: Source, path: Path) -> None:
    """Write the text to a file, which has the old or the new text at any time. Raises OSError.

    A new file is for this user alone, as all that tells of a run; one that is there keeps its permissions.
    """
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    write_atomically(path, generate_latest(registry(source)), mode=mode)


def serve(source: Source, address: str, port: int) -> Callable[[], None]:
    """Answer scrapes over HTTP in a thread of their own; what is returned ends that. Raises OSError."""
    server, thread = start_http_server(port, address, registry(source))

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return stop
