"""A whole step of a model of the Llama family: tokens in, logits out, in one call.

Every thread runs it on the same arrays, takes its part of each layer's work, and waits for the others where
it needs theirs. Rows (tokens) are split for what is done token by token, outputs for the linear layers, heads
for attention. Nothing depends on the number of threads but who does it.
"""

from __future__ import annotations

from sglc.kernels.lanes import arrive, wait_for
from sglc.kernels.llama.attention import attend_group, remember
from sglc.kernels.llama.linear import project, quantise_row
from sglc.kernels.llama.pointwise import add_vector, gate, norm, norm_in_place, rotate
from sglc.kernels.llama.records import look_up
from sglc.kernels.typed import F32, I8, I32, I64, U8, U16, Constant, kernel, parallel_kernel


@kernel
def meet(counters: I64, turn: int) -> None:
    """All threads have come here when any goes on; `turn` counts arrivals since the step began."""
    arrive(counters, 0)
    wait_for(counters, 0, turn)


@kernel
def embed(w: U8, places: I64, where: int, token: int, groups: int, x: F32, to: int) -> None:
    """A token's embedding, from the matrix with the number `where`."""
    if places[2 * where + 1] == 4:
        look_up(w, places[2 * where], groups, 4, token, x, to)
    else:
        look_up(w, places[2 * where], groups, 8, token, x, to)


@kernel
def turn_heads(
    qkv: F32, at: int, position: int, cosines: F32, sines: F32, vectors: F32, layer: int, epsilon: float,
    layers: Constant, heads: Constant, shared: Constant, size: Constant, turned: Constant, width: Constant,
    biased: Constant, normed: Constant,
) -> None:  # fmt: skip
    """Biases, norms and rotation of one token's queries and keys."""
    every = (heads + 2 * shared) * size
    if biased:
        add_vector(qkv, at, (heads + 2 * shared) * size, vectors, (2 * layers + 1) * width + layer * every)
    for a in range(heads + shared):
        if normed:
            norms = (2 * layers + 1) * width + biased * layers * every + 2 * layer * size
            if a < heads:
                norm_in_place(qkv, at + a * size, size, vectors, norms, epsilon)
            else:
                norm_in_place(qkv, at + a * size, size, vectors, norms + size, epsilon)
        rotate(qkv, at + a * size, turned, cosines, sines, position * (turned // 2))


@parallel_kernel
def step(
    w: U8, places: I64, vectors: F32, windows: I64, cosines: F32, sines: F32, pool: U16, tokens: I32,
    positions: I32, rows: I32, count: int, table: I32, most_blocks: int, last: I32, last_count: int,
    logits: F32, x: F32, qkv: F32, up: F32, h: F32, q: I8, scales: F32, sums: F32, scores: F32, stride: int,
    counters: I64, thread: int, threads: int, epsilon: float, scale: float, layers: Constant, heads: Constant,
    shared: Constant, size: Constant, turned: Constant, width: Constant, inner: Constant,
    vocabulary: Constant, biased: Constant, normed: Constant, together: Constant,
) -> None:  # fmt: skip
    """`count` tokens, and the logits behind `last_count` of them.

    w          records of all matrices; places[2 i], places[2 i + 1] are the first byte and the bits of matrix
               i: queries, keys and values; output; gate and up; down of each layer; embeddings; head
    vectors    norms [2 layers + 1][width], biases [layers][heads], norms of heads [layers][2][size]
    windows    [layers] positions that a layer looks back at, itself included
    cosines, sines  [positions][turned / 2]
    pool       see `sglc.kernels.llama.attention`
    tokens, positions, rows  [count]; rows are the tokens' rows of `table` [rows][most_blocks]
    last       [last_count] the tokens that logits [last_count][vocabulary] are wanted of
    scores     [threads][heads / shared][stride], stride at least the longest length, filled up to 16
    counters   [8] zeros; the rest are places to work in, a row for each token
    """
    turn = 0
    first = count * thread // threads
    behind = count * (thread + 1) // threads
    group = heads // shared
    every = (heads + 2 * shared) * size
    groups = width // 32
    part = 2 * size * 16
    block = layers * shared * part
    for t in range(first, behind):
        embed(w, places, 4 * layers, tokens[t], groups, x, t * width)
    for layer in range(layers):
        for t in range(first, behind):
            norm(x, t * width, width, vectors, 2 * layer * width, epsilon, h, t * width)
            quantise_row(h, t * width, width, q, t * width, scales, sums, t * groups)
        turn += threads
        meet(counters, turn)
        at = 8 * layer
        project(
            w, places[at], places[at + 1], groups, q, scales, sums, count, qkv, every, False, thread, threads
        )
        turn += threads
        meet(counters, turn)
        for t in range(first, behind):
            position = positions[t]
            turn_heads(
                qkv, t * every, position, cosines, sines, vectors, layer, epsilon, layers, heads, shared,
                size, turned, width, biased, normed,
            )  # fmt: skip
            base = table[rows[t] * most_blocks + (position >> 4)] * block + layer * shared * part
            for a in range(shared):
                key = t * every + (heads + a) * size
                remember(qkv, key, key + shared * size, pool, base + a * part, position & 15, size)
        turn += threads
        meet(counters, turn)
        for item in range(count * shared):
            if item % threads == thread:
                t = item // shared
                a = item % shared
                attend_group(
                    qkv, t * every + a * group * size, h, (t * heads + a * group) * size, pool,
                    (layer * shared + a) * part, block, table, rows[t] * most_blocks,
                    max(0, positions[t] + 1 - windows[layer]), positions[t] + 1, scale, scores,
                    thread * group * stride, stride, heads // shared, together, size,
                )  # fmt: skip
        turn += threads
        meet(counters, turn)
        for t in range(first, behind):
            wide = heads * size
            quantise_row(h, t * wide, wide, q, t * wide, scales, sums, t * (wide // 32))
        turn += threads
        meet(counters, turn)
        project(
            w, places[at + 2], places[at + 3], heads * size // 32, q, scales, sums, count, x, width, True,
            thread, threads,
        )  # fmt: skip
        turn += threads
        meet(counters, turn)
        for t in range(first, behind):
            norm(x, t * width, width, vectors, (2 * layer + 1) * width, epsilon, h, t * width)
            quantise_row(h, t * width, width, q, t * width, scales, sums, t * groups)
        turn += threads
        meet(counters, turn)
        project(
            w, places[at + 4], places[at + 5], groups, q, scales, sums, count, up, 2 * inner, False, thread,
            threads,
        )  # fmt: skip
        turn += threads
        meet(counters, turn)
        for t in range(first, behind):
            gate(up, t * 2 * inner, inner, h, t * inner)
            quantise_row(h, t * inner, inner, q, t * inner, scales, sums, t * (inner // 32))
        turn += threads
        meet(counters, turn)
        project(
            w, places[at + 6], places[at + 7], inner // 32, q, scales, sums, count, x, width, True, thread,
            threads,
        )  # fmt: skip
        turn += threads
        meet(counters, turn)
    first = last_count * thread // threads
    behind = last_count * (thread + 1) // threads
    for r in range(first, behind):
        norm(x, last[r] * width, width, vectors, 2 * layers * width, epsilon, h, r * width)
        quantise_row(h, r * width, width, q, r * width, scales, sums, r * groups)
    turn += threads
    meet(counters, turn)
    head = 8 * layers + 2
    project(
        w, places[head], places[head + 1], groups, q, scales, sums, last_count, logits, vocabulary, False,
        thread, threads,
    )  # fmt: skip
