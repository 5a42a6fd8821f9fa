"""A whole step of a model of the Llama family: tokens in, logits out, in one call.

Every thread runs the step on the same arrays. It takes parts of each layer's work, and waits at barriers for
the others. Rows (tokens) are split evenly for work by token. Outputs of linear layers and heads of attention
are taken from a shared counter, so that a slower thread, or one that has lost its processor, does less. One
or two rows are normed by every thread for itself, which is faster than a barrier. The result depends neither
on the number of threads nor on their order.
"""

from __future__ import annotations

from sglc.kernels.dsl.language import F32, I8, I32, I64, U8, Constant, kernel, parallel_kernel
from sglc.kernels.dsl.structs import Struct, shape
from sglc.kernels.dsl.vectors import (
    arrive,
    elapsed_time,
    load_floats,
    processor_time,
    store_floats,
    take,
    wait_for,
)
from sglc.kernels.llama.attention import attend_group, byte_numbers, score_numbers
from sglc.kernels.llama.kv_layout import even_out, part_bytes, store_kv
from sglc.kernels.llama.linear import FACTORS, FINE, project, tile_rows, tile_start
from sglc.kernels.llama.mlp import SCRATCH, gate
from sglc.kernels.llama.pointwise import add_vector, norm_in_place, norm_row, rotate
from sglc.kernels.llama.quantize_activations import ROOM, quantise_groups
from sglc.kernels.llama.weight_layout import look_up

ALONE = 2
"""Most rows that every thread norms for itself."""


@kernel
def scratch_numbers(wide: int, width: int) -> int:
    """Numbers that a thread keeps in between: a row, or outputs of a tile, and room to quantise them."""
    return max(max(wide, SCRATCH), width) + ROOM


@kernel
def meet(counters: I64, turn: int) -> None:
    """All threads have come here when any goes on; `turn` counts arrivals since the step began."""
    arrive(counters, 0)
    wait_for(counters, 0, turn)


@kernel
def centre_of(kind: int) -> int:
    """What stands for zero among the weights of a kind (`sglc.kernels.llama.weight_layout.Blocks.kind`)."""
    return (kind & 1) << ((kind & 12) - 1)


@kernel
def turn_head(
    qkv: F32,
    at: int,
    bias: int,
    norms: int,
    position: int,
    cosines: F32,
    sines: F32,
    vectors: F32,
    epsilon: float,
    size: Constant,
    turned: Constant,
    biased: Constant,
    normed: Constant,
) -> None:
    """Bias, norm and rotation of one head of a token's queries or keys, which are then made even."""
    if biased:
        add_vector(qkv, at, size, vectors, bias)
    if normed:
        norm_in_place(qkv, at, size, vectors, norms, epsilon)
    rotate(qkv, at, turned, cosines, sines, position * (turned // 2))
    even_out(qkv, at, size)


@kernel
def place_heads(
    qkv: F32, at: int, a: int, pool: U8, base: int, position: int, cosines: F32, sines: F32, vectors: F32,
    layer: int, epsilon: float, spare: I8, byte: int, layers: Constant, heads: Constant, shared: Constant,
    size: Constant, turned: Constant, width: Constant, biased: Constant, normed: Constant,
) -> None:  # fmt: skip
    """Head `a` of one token's keys and values goes into the pool; the queries it serves are turned.

    spare[byte …] has `size` bytes to work in.
    """
    every = (heads + 2 * shared) * size
    bias = (2 * layers + 1) * width + layer * every
    norms = (2 * layers + 1) * width + biased * layers * every + 2 * layer * size
    for h in range(a * (heads // shared), (a + 1) * (heads // shared)):
        turn_head(
            qkv,
            at + h * size,
            bias + h * size,
            norms,
            position,
            cosines,
            sines,
            vectors,
            epsilon,
            size,
            turned,
            biased,
            normed,
        )
    key = (heads + a) * size
    value = key + shared * size
    turn_head(
        qkv,
        at + key,
        bias + key,
        norms + size,
        position,
        cosines,
        sines,
        vectors,
        epsilon,
        size,
        turned,
        biased,
        normed,
    )
    if biased:
        add_vector(qkv, at + value, size, vectors, bias + value)
    store_kv(qkv, at + key, at + value, pool, base, position & 15, spare, byte, size)


@kernel
def quantise_heads(
    h: F32,
    at: int,
    count: Constant,
    room: int,
    q: I8,
    factors: F32,
    group: int,
    groups: int,
    row: int,
    rows: int,
    centre: int,
) -> None:
    """`count` groups of 32 from h[at], which are the groups `group` … of `groups` of row `row` of `rows`."""
    begin = tile_start(row, rows)
    step = tile_rows(row, rows)
    first = begin * groups + row - begin + step * group
    quantise_groups(h, at, room, q, 32 * first, factors, FACTORS * first, step, centre, count)


class ModelArrays(Struct):
    """What a step reads of a model.

    w          weight tiles of all matrices; places[i] are the first byte and the kind of matrix i: queries,
               keys and values; output; gate and up by turns; down of each layer; embeddings; head
    vectors    norms [2 layers + 1][width], biases [layers][heads], norms of heads [layers][2][size]
    windows    positions that a layer looks back at, itself included
    cosines, sines  [positions][turned / 2]
    """

    w: U8
    places: I64 = shape("matrices", 2)
    vectors: F32
    windows: I64 = shape("layers")
    cosines: F32 = shape("positions", "half")
    sines: F32 = shape("positions", "half")


class Batch(Struct):
    """The tokens of a step.

    pool       see `sglc.kernels.llama.kv_layout`
    tokens, positions, rows  [count]; rows are the tokens' rows of `table` [sequences][most_blocks]
    last       the tokens that logits [last_count][vocabulary] are wanted of, rows of which begin
               `logits_stride` numbers after each other
    longest    at least the longest length, filled up to 32
    counters   [8 (2 + threads + layers)] zeros; counters[8 + 8 thread] becomes the nanoseconds that the step
               took in a thread, the one behind it those in which the thread had a processor; from 8 + 8
               threads on eight for a layer: how much of its work is taken
    """

    pool: U8
    tokens: I32 = shape("count")
    positions: I32 = shape("count")
    rows: I32 = shape("count")
    count: int
    table: I32
    most_blocks: int
    sequences: int
    last: I32 = shape("last")
    last_count: int
    logits: F32 = shape("", "")
    logits_stride: int
    longest: int
    counters: I64


class Scratch(Struct):
    """What a step works in.

    x, qkv     [at least count] rows of width, of all heads
    h          [threads][`scratch_numbers`]
    q, factors            [at least 2 threads rows] [width / 32][32], [width / 32][10]
    inner_q, inner_factors  as those, for rows of the inner width or of all query heads, of factors 6
    scores, spare  [threads][`score_numbers`], [threads][`byte_numbers`] for the longest length
    """

    x: F32
    qkv: F32
    h: F32
    q: I8
    factors: F32
    inner_q: I8
    inner_factors: F32
    scores: F32
    spare: I8


@parallel_kernel
def step(
    model: ModelArrays, batch: Batch, scratch: Scratch, thread: int, threads: int, epsilon: float,
    scale: float, layers: Constant, heads: Constant, shared: Constant, size: Constant, turned: Constant,
    width: Constant, inner: Constant, vocabulary: Constant, biased: Constant, normed: Constant,
    together: Constant, kinds: Constant, head_kinds: Constant,
) -> None:  # fmt: skip
    """The tokens of a batch, and the logits behind `last_count` of them.

    kinds, head_kinds  of the matrices of layers, and of the head; its inputs are fine: nothing behind
               it evens out its errors
    """
    w, places, vectors, windows = model.w, model.places, model.vectors, model.windows
    cosines, sines, pool = model.cosines, model.sines, batch.pool
    tokens, positions, rows, count = batch.tokens, batch.positions, batch.rows, batch.count
    table, most_blocks, sequences = batch.table, batch.most_blocks, batch.sequences
    last, last_count, logits, logits_stride = batch.last, batch.last_count, batch.logits, batch.logits_stride
    counters, stride = batch.counters, batch.longest
    x, qkv, h, q, factors = scratch.x, scratch.qkv, scratch.h, scratch.q, scratch.factors
    inner_q, inner_factors = scratch.inner_q, scratch.inner_factors
    scores, spare = scratch.scores, scratch.spare
    began = elapsed_time()
    had = processor_time()
    turn = 0
    group = heads // shared
    every = (heads + 2 * shared) * size
    groups = width // 32
    wide = heads * size
    part = part_bytes(size)
    block = layers * shared * part
    first = count * thread // threads
    behind = count * (thread + 1) // threads
    # Where a thread's own rows of bytes and factors begin, if it has its own.
    own = 0
    if count <= ALONE:
        first = 0
        behind = count
        own = thread * ALONE * groups
    mine = thread * scratch_numbers(wide, width)
    room = mine + scratch_numbers(wide, width) - ROOM
    jobs = 8 + 8 * threads
    floats_at = thread * score_numbers(together, stride)
    bytes_at = thread * byte_numbers(together, stride, size)
    # Keys and values come first where tokens of one sequence look at each other's, or not all tokens go on.
    placed = sequences < count or last_count < count
    for t in range(first, behind):
        look_up(w, places[8 * layers], groups, places[8 * layers + 1], tokens[t], x, t * width)
    for layer in range(layers):
        at = 8 * layer
        for t in range(first, behind):
            norm_row(
                x,
                t * width,
                width,
                vectors,
                2 * layer * width,
                epsilon,
                q,
                32 * own,
                factors,
                FACTORS * own,
                t,
                count,
                centre_of(places[at + 1]),
                h,
                mine,
                0,
            )
        if count > ALONE:
            turn += threads
            meet(counters, turn)
        project(
            w,
            places[at],
            places[at + 1],
            groups,
            q,
            32 * own,
            factors,
            FACTORS * own,
            count,
            qkv,
            every,
            every,
            False,
            counters,
            jobs + at,
            kinds,
            0,
        )
        turn += threads
        meet(counters, turn)
        if placed:
            for item in range(count * shared * thread // threads, count * shared * (thread + 1) // threads):
                t = item // shared
                a = item % shared
                here = table[rows[t] * most_blocks + (positions[t] >> 4)]
                base = here * block + (layer * shared + a) * part
                place_heads(
                    qkv, t * every, a, pool, base, positions[t], cosines, sines, vectors, layer, epsilon,
                    spare, bytes_at, layers, heads, shared, size, turned, width, biased, normed,
                )  # fmt: skip
            turn += threads
            meet(counters, turn)
        # Behind the keys and values of the last layer, only tokens go on whose logits are wanted.
        going = count
        if layer == layers - 1:
            going = last_count
        item = take(counters, jobs + at + 1, 1)
        while item < going * shared:
            r = item // shared
            a = item % shared
            t = r
            if going < count:
                t = last[r]
            if not placed:
                here = table[rows[t] * most_blocks + (positions[t] >> 4)]
                base = here * block + (layer * shared + a) * part
                place_heads(
                    qkv, t * every, a, pool, base, positions[t], cosines, sines, vectors, layer, epsilon,
                    spare, bytes_at, layers, heads, shared, size, turned, width, biased, normed,
                )  # fmt: skip
            attend_group(
                qkv, t * every + a * group * size, h, mine, pool, (layer * shared + a) * part, block, table,
                rows[t] * most_blocks, max(0, positions[t] + 1 - windows[layer]), positions[t] + 1, scale,
                scores, floats_at, spare, bytes_at, stride, heads // shared, together, size,
            )  # fmt: skip
            quantise_heads(
                h,
                mine,
                heads // shared * size // 32,
                room,
                inner_q,
                inner_factors,
                a * (group * size // 32),
                wide // 32,
                r,
                going,
                centre_of(places[at + 3]),
            )
            item = take(counters, jobs + at + 1, 1)
        turn += threads
        meet(counters, turn)
        if going < count:
            if thread == 0:
                # Rows are in ascending order, so none is written over before it is moved.
                for r in range(going):
                    for i in range(width // 16):
                        store_floats(x, r * width + 16 * i, load_floats(x, last[r] * width + 16 * i))
            first = going * thread // threads
            behind = going * (thread + 1) // threads
            own = 0
            if going <= ALONE:
                first = 0
                behind = going
                own = thread * ALONE * groups
            turn += threads
            meet(counters, turn)
        project(
            w,
            places[at + 2],
            places[at + 3],
            wide // 32,
            inner_q,
            0,
            inner_factors,
            0,
            going,
            x,
            width,
            width,
            True,
            counters,
            jobs + at + 2,
            kinds,
            0,
        )
        turn += threads
        meet(counters, turn)
        for t in range(first, behind):
            norm_row(
                x,
                t * width,
                width,
                vectors,
                (2 * layer + 1) * width,
                epsilon,
                q,
                32 * own,
                factors,
                FACTORS * own,
                t,
                going,
                centre_of(places[at + 5]),
                h,
                mine,
                0,
            )
        if going > ALONE:
            turn += threads
            meet(counters, turn)
        gate(
            w,
            places[at + 4],
            places[at + 5],
            groups,
            q,
            32 * own,
            factors,
            FACTORS * own,
            going,
            h,
            mine,
            room,
            inner_q,
            inner_factors,
            inner // 32,
            centre_of(places[at + 7]),
            counters,
            jobs + at + 3,
            kinds,
        )
        turn += threads
        meet(counters, turn)
        project(
            w,
            places[at + 6],
            places[at + 7],
            inner // 32,
            inner_q,
            0,
            inner_factors,
            0,
            going,
            x,
            width,
            width,
            True,
            counters,
            jobs + at + 4,
            kinds,
            0,
        )
        turn += threads
        meet(counters, turn)
    head = 8 * layers + 2
    for r in range(first, behind):
        norm_row(
            x,
            r * width,
            width,
            vectors,
            2 * layers * width,
            epsilon,
            q,
            32 * own,
            factors,
            FINE * own,
            r,
            last_count,
            centre_of(places[head + 1]),
            h,
            mine,
            1,
        )
    if last_count > ALONE:
        turn += threads
        meet(counters, turn)
    project(w, places[head], places[head + 1], groups, q, 32 * own, factors, FINE * own, last_count,
            logits, logits_stride, vocabulary, False, counters, jobs + 8 * layers, head_kinds, 1)  # fmt: skip
    counters[8 * thread + 8] = elapsed_time() - began
    counters[8 * thread + 9] = processor_time() - had
