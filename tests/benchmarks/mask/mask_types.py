"""What masks of ordinary types cost, cold and warm.

    python tests/benchmarks/mask/mask_types.py TOKENIZER.json

Every text is replayed token by token (longest match first). Cold: a fresh machine and fresh masks; warm: the
same constraint again. Prints microseconds per token for mask and step, and the cost of making rows.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import numpy as np

from sglc.kernels.trie.api import SubtreeWalk
from sglc.runtime.mask import workspaces
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary
from sglc.types.language.language import language
from sglc.types.type import (
    Bool,
    Dec,
    EnumType,
    FieldType,
    Int,
    ListOf,
    MapOf,
    Named,
    RecordType,
    Str,
    Type,
)

TABLE = {
    "Post": EnumType("Post", ("pilot", "engineer", "doctor", "cook")),
    "Person": RecordType(
        "Person",
        (
            FieldType("name", Str(1, 40)),
            FieldType("age", Int(18, 99)),
            FieldType("post", Named("Post")),
            FieldType("skills", ListOf(Str(max_chars=30), 1, 5)),
            FieldType("pay", Dec()),
            FieldType("fit", Bool()),
        ),
    ),
}
PERSON = {
    "name": "Ada Lovelace",
    "age": 36,
    "post": "engineer",
    "skills": ["maths", "poetry"],
    "pay": 12.5,
    "fit": True,
}
CASES: list[tuple[str, Type, str]] = [
    ("free text", Str(), "The quick brown fox jumps over the lazy dog and runs away into the green forest."),
    ("text of at most 60", Str(0, 60), "The quick brown fox jumps over the lazy dog."),
    ("text with until", Str(until=("\n\n", "END")), "The quick brown fox jumps over the lazy dog."),
    ("word pattern", Str(patterns=("[a-z]{3,12}",)), "structured"),
    ("integer", Int(), "123456"),
    ("bounded integer", Int(3, 1999), "1234"),
    ("record", Named("Person"), json.dumps(PERSON)),
    ("list of records", ListOf(Named("Person"), 1, 10), json.dumps([PERSON] * 3)),
    ("map", MapOf(Str(1, 20), Int(), 0, 8), json.dumps({"alpha": 1, "beta": 22, "gamma": 333})),
]


def tokens_of(text: str, vocabulary: Vocabulary) -> list[int]:
    """Longest match first: no tokenizer is needed."""
    ids = {data: index for index, data in enumerate(vocabulary.token_bytes) if data}
    data, out, at = text.encode(), [], 0
    while at < len(data):
        size = next(n for n in range(min(24, len(data) - at), 0, -1) if data[at : at + n] in ids)
        out.append(ids[data[at : at + size]])
        at += size
    return out


def replay(made: Constraint, vocabulary: Vocabulary, tokens: list[int]) -> tuple[list[float], list[float]]:
    """Microseconds of every mask and of every step."""
    row = np.zeros(vocabulary.words, np.int32)
    matcher = made.matcher(vocabulary)
    masks, steps = [], []
    for token in tokens:
        started = time.perf_counter()
        matcher.fill_mask(row)
        filled = time.perf_counter()
        assert matcher.accept(token)
        steps.append((time.perf_counter() - filled) * 1e6)
        masks.append((filled - started) * 1e6)
    return masks, steps


def count_loads(made: Constraint, vocabulary: Vocabulary) -> None:
    """Print what one whole walk costs from the start of a constraint: nodes looked at, nodes alive, time.

    A look costs five loads (depth, stack, row_of, byte, rows), a dead node one more (end), a live one three
    (token, and the mask word, read and written) and a store to the stack.
    """
    machine, walk = made.machine, SubtreeWalk(vocabulary.arrays)
    made.matcher(vocabulary).mask()
    trie = walk.trie
    stack = np.zeros(trie.deepest + 1, np.int32)
    stack[0] = made.start
    row = np.zeros(vocabulary.words, np.int32)
    looked = alive = node = 0
    while node < len(trie.byte):
        level = int(trie.depth[node])
        looked += 1
        following = int(machine.row(int(stack[level - 1]))[trie.byte[node]])
        if following:
            alive += 1
            stack[level] = following
            node += 1
        else:
            node = int(trie.end[node])
    best = min(_timed(walk, machine, made.start, row) for _ in range(20))
    print(
        f"whole walk: {looked} nodes looked at, {alive} alive, {5 * looked + alive * 2 + looked} loads, "
        f"{best * 1e6:.0f} us, {best * 1e9 / looked:.2f} ns a node"
    )


def _timed(walk: SubtreeWalk, machine: Machine, start: int, row: np.ndarray) -> float:
    started = time.perf_counter()
    walk.rows(walk.roots, start, row, lambda: (machine.rows, machine.row_of), lambda *_: False)
    return time.perf_counter() - started


def main() -> None:
    started = time.perf_counter()
    vocabulary = Vocabulary.from_tokenizer_json(sys.argv[1])
    read = time.perf_counter()
    nodes = vocabulary.trie.size
    print(
        f"{vocabulary.size} tokens, {nodes} nodes; read {(read - started) * 1e3:.0f} ms, "
        f"trie {(time.perf_counter() - read) * 1e3:.0f} ms"
    )
    free = compile_constraint(type=Str(), table=TABLE)
    free.matcher(vocabulary).mask_size()
    count_loads(free, vocabulary)
    print(
        f"{'':20} {'compile':>8} | {'cold mask: first':>16} {'p50':>7} {'max':>7} {'step':>6} "
        f"| {'warm mask':>9} {'step':>6} {'rows':>6}"
    )
    for name, type, text in CASES:
        tokens = tokens_of(text, vocabulary)
        workspaces.clear()
        language(type, TABLE)
        started = time.perf_counter()
        made = compile_constraint(type=type, table=TABLE)
        compiled = (time.perf_counter() - started) * 1e6
        cold, cold_steps = replay(made, vocabulary, tokens)
        warm, warm_steps = replay(made, vocabulary, tokens)
        middle = statistics.median
        print(
            f"{name:20} {compiled:8.0f} | {cold[0]:16.0f} {middle(cold):7.0f} {max(cold):7.0f} "
            f"{middle(cold_steps):6.1f} | {middle(warm):9.2f} {middle(warm_steps):6.2f} "
            f"{made.machine.row_count:6}"
        )


if __name__ == "__main__":
    main()
