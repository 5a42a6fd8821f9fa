"""The text form of Prometheus, read."""

from __future__ import annotations


def samples(text: str) -> dict[str, float]:
    """What a parser of the format reads: `name{labels}` to the value."""
    from prometheus_client.parser import text_string_to_metric_families

    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}"] = sample.value
    return found
