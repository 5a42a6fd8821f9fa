"""API of `token_columns`, rows made of columns of tokens: dispatches to machine code, or to Python."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sglc.kernels.dsl.array_layouts import LayoutError, expect
from sglc.kernels.trie.api import WALKS
from sglc.kernels.trie.token_columns import put_tokens, without_columns


def leave_out(whole: np.ndarray, columns: np.ndarray, places: Sequence[int]) -> np.ndarray:
    """int32[words]: a row without the tokens of some columns (int32[n, words]), by their numbers."""
    expect(whole, "whole", np.int32)
    expect(columns, "columns", np.int32, 2)
    if columns.shape[1] != len(whole):
        raise LayoutError("columns and rows must have one length")
    row = np.empty_like(whole)
    numbers = np.array(places, np.int32)
    size = (len(numbers), len(whole))
    WALKS.run(without_columns, whole, columns, numbers, *size, row)
    return row


def put(tokens: np.ndarray, spans: Sequence[tuple[int, int]], present: bool, row: np.ndarray) -> None:
    """Set or clear the bits of the tokens in some spans (first, last + 1) of a list, int32[n], in a row."""
    expect(tokens, "tokens", np.int32)
    expect(row, "row", np.int32)
    if not spans:
        return
    bounds = np.array(spans, np.int32)
    WALKS.run(put_tokens, tokens, bounds, len(bounds), int(present), row)
