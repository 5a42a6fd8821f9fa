"""One step as arrays: the tokens of all pieces packed into one row, and how their attention is grouped.

Short pieces (decoding, drafts) behind about as many positions are attended to by one batched product. Where
several of them begin with the same blocks, these are read once for all of them, as in cascade inference
(https://flashinfer.ai/2024/02/02/cascade-inference.html). A long piece (a chunk of a prompt) is a product of
its own. All of it is made once a step and used by every layer of the same sliding window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from sglc.runtime.executor.plan import ExecutorError, Piece
from sglc.runtime.kv.blocks import BLOCK_TOKENS

SHORT = 32
"""A piece of at most so many tokens may be attended to together with others."""
WORTH_SHARING = 512
"""Positions that must be saved by reading a common beginning once, for it is a few products more."""
MOST_PADDING = 1.3
"""Most positions of a group of short pieces, relative to those that its pieces need."""
MOST_TOGETHER = 1 << 15
"""Positions of a group: what is gathered of them should stay in the processor's cache."""
SMALL_PADDING = 512
"""Padding of so many positions in all is cheaper than a group of its own."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Tokens of a piece that are no chain."""

    positions: np.ndarray
    """int64 [count]: where each stands in its own sequence. The place of its keys and values is another."""
    seen: np.ndarray
    """bool [count, count]: which of the piece's tokens are on the path of which, itself included."""


@dataclass(slots=True)
class PieceSpan:
    """A piece in arrays."""

    first: int
    """Its first row in the step."""
    count: int
    start: int
    table: np.ndarray
    """int64; no longer than the last token needs."""
    tree: Tree | None = None
    """How its tokens follow each other, where some do not follow the one before them."""

    @property
    def end(self) -> int:
        """Tokens of its sequence after the step; its last token stands at `end - 1`."""
        return self.start + self.count


@dataclass(slots=True)
class Group:
    """Pieces of as many tokens each that are attended to together."""

    rows: torch.Tensor | slice
    """Rows of the step, piece by piece."""
    pieces: int
    count: int
    """Tokens of each piece."""
    shared: torch.Tensor | slice | None
    """Blocks that all pieces begin with and that all of their tokens see all of."""
    rest: torch.Tensor | slice
    """Blocks after these, [pieces * n], padded with a piece's last; of a single piece a slice where they
    follow each other. Those of several are copied: as a view, heads and pieces would not be one dimension."""
    hidden: torch.Tensor | None
    """bool [pieces, count, n * BLOCK_TOKENS], True where a token does not see a position of the rest; None
    where every token sees all."""


@dataclass(slots=True)
class Long:
    """A piece that is attended to by itself."""

    rows: slice
    blocks: torch.Tensor | slice
    length: int
    """Positions in these blocks up to the last token."""
    causal: bool
    """Its tokens are all there is, so that the usual causal product is right."""
    hidden: torch.Tensor | None
    """bool [tokens, length], True where a token does not see a position; None where `causal` says all, or
    where every token sees every position."""


@dataclass(frozen=True, slots=True)
class Attention:
    """How the tokens of a step attend, for layers of one window."""

    groups: list[Group]
    longs: list[Long]


class Step:
    """The pieces of one step, checked and packed."""

    def __init__(
        self, pieces: Sequence[Piece], *, blocks: int, vocabulary: int, context: int, device: torch.device
    ) -> None:
        """Raises ExecutorError for pieces that do not fit the model or the pool."""
        if not pieces:
            raise ExecutorError("a step needs a piece")
        self.spans: list[PieceSpan] = []
        tokens: list[int] = []
        kept: list[int] = []
        for piece in pieces:
            count = len(piece.tokens)
            end = piece.start + count
            if count < 1 or piece.start < 0 or not 0 <= piece.wanted <= count:
                raise ExecutorError("a piece has no tokens, or wants more rows than it has tokens")
            if end > context:
                raise ExecutorError(f"position {end} is beyond the model's {context}")
            table = np.asarray(piece.table, dtype=np.int64)[: -(-end // BLOCK_TOKENS)]
            if len(table) * BLOCK_TOKENS < end or table.min() < 0 or table.max() >= blocks:
                raise ExecutorError("a block table is too short, or names blocks that the pool does not have")
            tree = _tree(piece) if piece.parents else None
            self.spans.append(PieceSpan(len(tokens), count, piece.start, table, tree))
            kept.extend(range(len(tokens) + count - piece.wanted, len(tokens) + count))
            tokens.extend(piece.tokens)
        ids = np.asarray(tokens, dtype=np.int64)
        if ids.min() < 0 or ids.max() >= vocabulary:
            raise ExecutorError("a token is not in the model's vocabulary")
        places = np.concatenate([np.arange(span.start, span.end) for span in self.spans])
        slots = np.concatenate(
            [
                span.table[np.arange(span.start, span.end) // BLOCK_TOKENS] * BLOCK_TOKENS
                for span in self.spans
            ]
        )
        slots += places % BLOCK_TOKENS
        if len(np.unique(slots)) < len(slots):
            raise ExecutorError("two tokens of a step would be written to one place")
        trees = [span for span in self.spans if span.tree is not None]
        positions = places.copy() if trees else places
        for span in trees:
            assert span.tree is not None
            positions[span.first : span.first + span.count] = span.tree.positions
        self.branches = bool(trees)
        """Whether a piece is a tree."""
        self.device = device
        self.count = len(ids)
        self.host_ids, self.host_positions, self.host_slots = ids, positions, slots
        self.host_kept = np.asarray(kept, dtype=np.int64)
        self._attention: dict[int | None, Attention] = {}

    @cached_property
    def ids(self) -> torch.Tensor:
        """int64 [1, T], as all tensors of a step on its device."""
        return self._tensor(self.host_ids)[None]

    @cached_property
    def positions(self) -> torch.Tensor:
        """int64 [1, T]."""
        return self._tensor(self.host_positions)[None]

    @cached_property
    def slots(self) -> torch.Tensor:
        """int64 [T]: block * BLOCK_TOKENS + place, where each token's keys and values go."""
        return self._tensor(self.host_slots)

    @cached_property
    def kept(self) -> torch.Tensor:
        """int64 [sum of wanted]: rows whose logits are wanted."""
        return self._tensor(self.host_kept)

    def attention(self, window: int | None) -> Attention:
        """How tokens attend where each sees `window` positions, itself included; None for all before it."""
        found = self._attention.get(window)
        if found is None:
            found = self._attention[window] = self._attend(window)
        return found

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def _attend(self, window: int | None) -> Attention:
        if window is not None and all(span.end <= window for span in self.spans):
            return self.attention(None)
        short: dict[int, list[PieceSpan]] = {}
        longs = []
        for span in self.spans:
            if span.count <= SHORT:
                short.setdefault(span.count, []).append(span)
            else:
                longs.append(self._long(span, window))
        groups = []
        for count, spans in short.items():
            alone = []
            for family, shared in _families(spans, window):
                if shared:
                    groups += [self._group(part, count, shared, window) for part in _alike(family, shared)]
                else:
                    alone += family
            for part in _alike(alone, 0, window):
                if len(part) > 1:
                    groups.append(self._group(part, count, 0, window))
                else:
                    longs.append(self._long(part[0], window))
        return Attention(groups, longs)

    def _long(self, span: PieceSpan, window: int | None) -> Long:
        first = _first_block(span, window)
        offset = first * BLOCK_TOKENS
        length = span.end - offset
        chain = span.tree is None and span.count > 1
        causal = chain and offset == span.start and (window is None or span.count <= window)
        hidden = None if causal else _hidden(span, offset, length, window)
        return Long(
            rows=slice(span.first, span.first + span.count),
            blocks=self._blocks(span.table[first:]),
            length=length,
            causal=causal,
            hidden=None if hidden is None or not hidden.any() else self._tensor(hidden),
        )

    def _group(self, spans: list[PieceSpan], count: int, shared: int, window: int | None) -> Group:
        firsts = [shared or _first_block(span, window) for span in spans]
        width = max(len(span.table) - first for span, first in zip(spans, firsts, strict=True))
        tables = np.zeros((len(spans), width), dtype=np.int64)
        hidden = np.ones((len(spans), count, width * BLOCK_TOKENS), dtype=bool)
        for index, (span, first) in enumerate(zip(spans, firsts, strict=True)):
            need = len(span.table) - first
            tables[index, :need] = span.table[first:]
            tables[index, need:] = span.table[-1]
            hidden[index] = _hidden(span, first * BLOCK_TOKENS, width * BLOCK_TOKENS, window)
        rows = np.concatenate([np.arange(span.first, span.first + count) for span in spans])
        rest = tables.reshape(-1)
        return Group(
            rows=self._blocks(rows),
            pieces=len(spans),
            count=count,
            shared=self._blocks(spans[0].table[:shared]) if shared else None,
            rest=self._blocks(rest) if len(spans) == 1 else self._tensor(rest),
            hidden=self._tensor(hidden) if hidden.any() else None,
        )

    def _blocks(self, numbers: np.ndarray) -> torch.Tensor | slice:
        """Numbers to select by; a slice, which copies nothing, where they follow each other."""
        if len(numbers) and np.array_equal(numbers, np.arange(numbers[0], numbers[0] + len(numbers))):
            return slice(int(numbers[0]), int(numbers[0]) + len(numbers))
        return self._tensor(numbers)


def _tree(piece: Piece) -> Tree:
    """The paths of a piece with parents. Raises ExecutorError where they are none."""
    count, begin = len(piece.tokens), len(piece.tokens) - len(piece.parents)
    if begin < 1:
        raise ExecutorError("a tree needs a token before it")
    positions = np.arange(piece.start, piece.start + count)
    seen = np.tri(count, dtype=bool)
    for number, parent in enumerate(piece.parents):
        if not -1 <= parent < number:
            raise ExecutorError("a token of a tree does not follow an earlier one")
        node = begin + number
        seen[node] = seen[begin + parent]
        seen[node, node] = True
        positions[node] = positions[begin + parent] + 1
    return Tree(positions, seen)


def _first_block(span: PieceSpan, window: int | None) -> int:
    """The first block that a token of the piece sees."""
    return 0 if window is None else max(0, span.start - window + 1) // BLOCK_TOKENS


def _hidden(span: PieceSpan, offset: int, length: int, window: int | None) -> np.ndarray:
    """bool [count, length]: which of `length` positions from `offset` on each token does not see."""
    tokens = np.arange(span.start, span.end)[:, None]
    positions = np.arange(offset, offset + length)[None]
    hidden: np.ndarray = positions > tokens
    if span.tree is not None:
        own = slice(span.start - offset, span.end - offset)
        hidden[:, own] = ~span.tree.seen
        tokens = span.tree.positions[:, None]
        positions[0, own] = span.tree.positions
    return hidden if window is None else hidden | (positions <= tokens - window)


def _families(spans: list[PieceSpan], window: int | None) -> list[tuple[list[PieceSpan], int]]:
    """Pieces by their common beginning, each with its number of whole blocks, 0 where it is not worth it."""
    if window is not None or len(spans) == 1:
        return [(spans, 0)]
    families: dict[int, list[PieceSpan]] = {}
    for span in spans:
        families.setdefault(int(span.table[0]), []).append(span)
    found = []
    for family in families.values():
        shared = min(span.start // BLOCK_TOKENS for span in family)
        for span in family[1:]:
            same = span.table[:shared] == family[0].table[:shared]
            shared = int(np.argmin(same)) if not same.all() else shared
        saved = (len(family) - 1) * shared * BLOCK_TOKENS
        found.append((family, shared if saved >= WORTH_SHARING else 0))
    return found


def _alike(spans: list[PieceSpan], shared: int, window: int | None = None) -> list[list[PieceSpan]]:
    """Pieces of about one length together, so that little is padded."""
    needs = {id(span): len(span.table) - (shared or _first_block(span, window)) for span in spans}
    parts: list[list[PieceSpan]] = []
    needed = 0
    for span in sorted(spans, key=lambda span: -needs[id(span)]):
        need = needs[id(span)]
        if parts:
            padded = needs[id(parts[-1][0])] * (len(parts[-1]) + 1)
            spare = (padded - needed - need) * BLOCK_TOKENS
            fits = padded * BLOCK_TOKENS <= MOST_TOGETHER
            if fits and (padded <= MOST_PADDING * (needed + need) or spare <= SMALL_PADDING):
                parts[-1].append(span)
                needed += need
                continue
        parts.append([span])
        needed = need
    return [sorted(part, key=lambda span: span.first) for part in parts]
