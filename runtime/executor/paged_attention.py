"""Attention over blocks, called by the unmodified model code of transformers through its attention interface.

transformers looks attention functions up by a name in the configuration, and hands keyword arguments of the
model's call down to them: the step and the pool come that way, and no cache object is involved. As no mask
function has our name, transformers makes no mask.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from sglc.runtime.executor.block_pool import LayerShape, TensorPool
from sglc.runtime.executor.step import Group, Long, Step
from sglc.runtime.model.weights.errors import ModelError

NAME = "sglc_paged"
"""What the attention function is called in a model's configuration."""
SCORES = 1 << 24
"""Most scores of a long piece that are in memory at once."""
_UNDERSTOOD = {
    "dropout",
    "position_ids",
    "use_cache",
    "cache_position",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "return_dict",
}


class AttentionLayer(Protocol):
    """What is asked of the module of transformers whose attention is computed."""

    layer_idx: int
    """Number of its layer, from 0."""


class Probe:
    """Takes the place of a step at load: finds out what a layer keeps, and refuses what is not implemented.

    Attention among the tokens of the call itself; no pool is there yet.
    """

    def __init__(self, windows: list[int | None]) -> None:
        self.shapes: list[LayerShape | None] = [None] * len(windows)
        self._windows = windows

    def attend(
        self,
        module: AttentionLayer,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        options: Options,
    ) -> torch.Tensor:
        """[T, H, width of values], as `PagedStep.attend`."""
        layer = module.layer_idx
        if self.shapes[layer] is not None:
            raise unsupported("two attentions in one layer")
        if self._windows[layer] != options.window:
            raise unsupported(f"layer {layer} has another sliding window than its attention is told")
        if query.shape[1] % key.shape[1] or key.shape[1] != value.shape[1]:
            raise unsupported("heads of queries that are no multiple of the heads of keys and values")
        self.shapes[layer] = LayerShape(key.shape[1], key.shape[3], value.shape[3])
        count = query.shape[2]
        seen = torch.ones((count, count), dtype=torch.bool, device=query.device).tril()
        if options.window is not None:
            seen &= seen.new_ones(seen.shape).triu(1 - options.window)
        return _product(query[0], key[0], value[0], ~seen, options)


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a layer's attention besides queries, keys and values."""

    scaling: float
    window: int | None
    softcap: float | None


class Attender(Protocol):
    """Computes the attention of the model's layers."""

    def attend(
        self,
        module: AttentionLayer,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        options: Options,
    ) -> torch.Tensor:
        """[T, H, width of values] of query [1, H, T, D], key [1, heads, T, D] and value."""


class PagedStep:
    """A step on a pool, by products of torch."""

    def __init__(self, step: Step, pool: TensorPool) -> None:
        self.step = step
        self.pool = pool

    def attend(
        self,
        module: AttentionLayer,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        options: Options,
    ) -> torch.Tensor:
        """Write keys and values [1, heads, T, width] to the pool, and attend: [T, H, width of values]."""
        layer = module.layer_idx
        keys, values = self.pool.keys[layer], self.pool.values[layer]
        for pool, new in ((keys, key), (values, value)):
            pool.view(pool.shape[0], -1, pool.shape[3]).index_copy_(1, self.step.slots, new[0])
        plan = self.step.attention(options.window)
        if len(plan.groups) == 1 and not plan.longs and isinstance(plan.groups[0].rows, slice):
            return self._together(layer, query[0], plan.groups[0], options)
        if len(plan.longs) == 1 and not plan.groups:
            return self._alone(layer, query[0], plan.longs[0], options)
        out = query.new_empty((query.shape[2], query.shape[1], value.shape[3]))
        for group in plan.groups:
            out[group.rows] = self._together(layer, query[0], group, options)
        for piece in plan.longs:
            out[piece.rows] = self._alone(layer, query[0], piece, options)
        return out

    def _together(self, layer: int, query: torch.Tensor, group: Group, options: Options) -> torch.Tensor:
        """Query [H, T, D] of all rows; the result [rows of the group, H, width of values].

        Heads of one key are rows of one product. Scores of the common beginning and of the rest stand side by
        side for the softmax, and the two sums of values are added.
        """
        keys, values = self.pool.keys[layer], self.pool.values[layer]
        heads, width = keys.shape[0], values.shape[3]
        pieces, count = group.pieces, group.count
        mine = query[:, group.rows]
        shares = mine.shape[0] // heads
        # [heads, shares, pieces, count, D] to a batch of head and piece
        apart = mine.reshape(heads, shares, pieces, count, -1)
        each = apart.permute(0, 2, 1, 3, 4).reshape(heads * pieces, shares * count, -1)
        rest_keys = self.pool.gather(keys, group.rest, "keys").view(heads * pieces, -1, keys.shape[3])
        rest_values = self.pool.gather(values, group.rest, "values").view(heads * pieces, -1, width)
        scores = _scores(each, rest_keys, options).view(heads, pieces, shares, count, -1)
        if group.hidden is not None:
            scores.masked_fill_(group.hidden[:, None], -torch.inf)
        common = 0
        if group.shared is not None:
            shared_keys = self.pool.gather(keys, group.shared, "shared keys")
            shared_values = self.pool.gather(values, group.shared, "shared values")
            common = shared_keys.shape[1]
            ahead = _scores(each.reshape(heads, -1, each.shape[2]), shared_keys, options)
            scores = torch.cat((ahead.view(*scores.shape[:4], common), scores), dim=-1)
        weights = scores.softmax(-1).to(values.dtype)
        late = weights[..., common:].reshape(heads * pieces, shares * count, -1)
        out = torch.matmul(late, rest_values)
        if group.shared is not None:
            early = weights[..., :common].reshape(heads, -1, common)
            out += torch.matmul(early, shared_values).view(out.shape)
        out = out.view(heads, pieces, shares, count, width)
        return out.permute(1, 3, 0, 2, 4).reshape(pieces * count, heads * shares, width)

    def _alone(self, layer: int, query: torch.Tensor, piece: Long, options: Options) -> torch.Tensor:
        """Query [H, T, D] of all rows; the result [rows of the piece, H, width of values]."""
        keys, values = self.pool.keys[layer], self.pool.values[layer]
        heads = keys.shape[0]
        mine = query[:, piece.rows]
        own_keys = self.pool.gather(keys, piece.blocks, "keys")[:, : piece.length]
        own_values = self.pool.gather(values, piece.blocks, "values")[:, : piece.length]
        if options.softcap is not None or own_keys.shape[2] != own_values.shape[2]:
            hidden = piece.hidden
            if hidden is None:
                hidden = mine.new_ones((mine.shape[1], piece.length), dtype=torch.bool)
                hidden = hidden.triu(1) if piece.causal else ~hidden
            return _product(mine, own_keys, own_values, hidden, options)
        shares = mine.shape[0] // heads
        # Queries of one token that read a key are rows of one product.
        shape = (heads, 1, shares, -1) if mine.shape[1] == 1 else (heads, shares, mine.shape[1], -1)
        out = scaled_dot_product_attention(
            mine.reshape(shape),
            own_keys[:, None].expand(-1, shape[1], -1, -1),
            own_values[:, None].expand(-1, shape[1], -1, -1),
            attn_mask=None if piece.hidden is None else ~piece.hidden,
            is_causal=piece.causal,
            scale=options.scaling,
        )
        if mine.shape[1] == 1:
            return out.reshape(1, mine.shape[0], -1)
        return out.permute(2, 0, 1, 3).reshape(mine.shape[1], mine.shape[0], -1)


def paged_attention(
    module: AttentionLayer,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    paged: Attender | None = None,
    *,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    is_causal: bool | None = None,
    **options: object,
) -> tuple[torch.Tensor, None]:
    """What transformers calls: query [1, H, T, D], keys and values [1, heads, T, …] to [1, T, H, …].

    Raises ModelError for what is asked for and not implemented.
    """
    if paged is None:
        raise unsupported("its layers do not hand arguments on to their attention")
    if attention_mask is not None:
        raise unsupported("an attention mask of its own")
    if not getattr(module, "is_causal", True) or is_causal is False:
        raise unsupported("attention to later positions")
    for name, given in options.items():
        if name not in _UNDERSTOOD and given is not None:
            raise unsupported(f"attention with {name}")
    wanted = Options(
        query.shape[-1] ** -0.5 if scaling is None else float(scaling),
        sliding_window,
        softcap,
    )
    return paged.attend(module, query, key, value, wanted)[None], None


def register() -> None:
    """Make the attention function known to transformers."""
    AttentionInterface.register(NAME, paged_attention)


def unsupported(why: str) -> ModelError:
    """The error for a model whose attention is more, or other, than what is implemented."""
    return ModelError("model architecture not supported", "", why)


def _scores(query: torch.Tensor, keys: torch.Tensor, options: Options) -> torch.Tensor:
    """float32 scores of [batch, rows, D] with [batch, positions, D]."""
    scores = torch.matmul(query, keys.transpose(1, 2)).float()
    if options.softcap is None:
        return scores.mul_(options.scaling)
    return scores.mul_(options.scaling / options.softcap).tanh_().mul_(options.softcap)


def _product(
    query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, hidden: torch.Tensor, options: Options
) -> torch.Tensor:
    """[T, H, width of values] of query [H, T, D], keys [heads, n, D], hidden [T, n]; in slices of T."""
    heads, length, _ = keys.shape
    shares = query.shape[0] // heads
    some = max(1, SCORES // (query.shape[0] * length))
    parts = []
    for start in range(0, query.shape[1], some):
        mine = query[:, start : start + some]
        count = mine.shape[1]
        scores = _scores(mine.reshape(heads, shares * count, -1), keys, options)
        scores = scores.view(heads, shares, count, length)
        scores.masked_fill_(hidden[start : start + some], -torch.inf)
        weights = scores.softmax(-1).to(values.dtype).view(heads, shares * count, length)
        out = torch.matmul(weights, values).view(heads, shares, count, -1)
        parts.append(out.permute(2, 0, 1, 3).reshape(count, heads * shares, -1))
    return torch.cat(parts)
