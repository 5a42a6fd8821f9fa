"""A vocabulary of single bytes, and how many examples a property test takes."""

from __future__ import annotations

from hypothesis import settings

from example_budget import examples
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

EXAMPLES = 50
"""Of the larger properties."""


BYTE_VOCABULARY = Vocabulary([bytes([byte]) for byte in range(256)])


def some(count: int) -> settings:
    from hypothesis import HealthCheck

    return settings(
        max_examples=examples(count),
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.filter_too_much,
            HealthCheck.function_scoped_fixture,
            HealthCheck.data_too_large,
            HealthCheck.large_base_example,
        ],
    )
