"""Spans written to a file as JSON lines, through the SDK of OpenTelemetry."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sglc.cache_files import open_private
from sglc.runtime.metrics.packages import MissingPackage

try:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
except ImportError as _missing:
    raise MissingPackage("opentelemetry-sdk", "writing spans to a file") from _missing


def file_provider(path: Path) -> tuple[TracerProvider, Callable[[], None]]:
    """A provider whose finished spans are appended to a new file, one line each, and what closes it.

    Raises OSError.
    """
    file = open_private(path)
    exporter = ConsoleSpanExporter(out=file, formatter=lambda span: span.to_json(indent=None) + "\n")
    provider = TracerProvider(resource=Resource.create({"service.name": "sglc"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    def close() -> None:
        provider.shutdown()
        file.close()

    return provider, close
