"""Numbers as pictures say them, on both sides of each border."""

from __future__ import annotations

import pytest

from sglc.viewer.wording import counted, nats, percent, quoted, seconds


@pytest.mark.parametrize(
    ("value", "told"),
    [
        *((None, ""), (1.0, "100.0 %"), (0.0101, "1.0 %"), (0.0099, "0.99 %")),
        *((0.0001, "0.01 %"), (0.00009, "9e-05"), (0.0, "0.00 %")),
    ],
)
def test_probabilities(value: float | None, told: str) -> None:
    assert percent(value) == told


def test_other_numbers() -> None:
    assert [seconds(value) for value in (None, 1.0, 0.9999, 0.0)] == ["", "1.00 s", "999.9 ms", "0.0 ms"]
    assert [nats(value) for value in (None, -0.004, -0.006, 2.345)] == ["", "0.00", "-0.01", "2.35"]
    assert [counted(1, "branch"), counted(2, "branch"), counted(1234, "token")] == [
        *("1 branch", "2 branches", "1,234 tokens"),
    ]


def test_tokens_show_their_blanks() -> None:
    assert [quoted(text) for text in ("", " a", "\n\t")] == ["(no text)", "' a'", "'␊␉'"]
    assert [len(quoted("a" * size, 60)) for size in (60, 61)] == [62, 62]
    assert quoted("a" * 61).endswith("…'")
