# ruff: noqa: E501
"""What asking about the tokens that a model likes best costs, against the whole mask, where both are new.

    python tests/benchmarks/mask/mask_first.py tokenizer.json

Each place of a text is met for the first time, on a machine of its own. Candidates are drawn as a model would rank them: the
token that the text goes on with stands at a random rank among 8 others.
"""

from __future__ import annotations

import itertools
import json
import random
import statistics
import sys
import time
from typing import Any

from sglc.runtime.mask import ConstraintOptions, Vocabulary, compile_constraint
from sglc.runtime.mask.constraint import Constraint

PERSON: Any = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "mood": {"enum": ["calm", "happy", "sad"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age", "mood", "tags"],
    "additionalProperties": False,
}
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "record": (
        {"json_schema": PERSON},
        json.dumps({"name": "Ada Byron", "age": 36, "mood": "calm", "tags": ["a", "of"]}),
    ),
    "pattern": ({"regex": r"[A-Z][a-z]{1,20}( [A-Z][a-z]{1,20}){1,3}, [0-9]{1,3}"}, "Ada Lovelace King, 36"),
    "any JSON": ({"json_schema": {}}, json.dumps([{"a": [1, 2.5, None]}, "some text", True])),
}
_machines = itertools.count(4_000_000)
RANKS = 9


def apart(arguments: dict[str, Any]) -> Constraint:
    """A constraint on a machine of its own."""
    return compile_constraint(**arguments, options=ConstraintOptions(max_states=next(_machines)))


def main() -> None:
    vocabulary = Vocabulary.from_tokenizer_json(sys.argv[1])
    rng = random.Random(1)
    print(f"{vocabulary.size} tokens; microseconds of process time, median (and worst) of all places")
    for name, (arguments, text) in CASES.items():
        tokens = vocabulary.tokens_of(text.encode())
        assert tokens is not None
        spent: dict[str, list[float]] = {"mask": [], "first": []}
        for how in ("mask", "first", "mask", "first"):
            matcher = apart(arguments).matcher(vocabulary)
            for token in tokens:
                ranked = rng.sample(range(vocabulary.size), RANKS - 1)
                ranked.insert(rng.randrange(RANKS), token)
                began = time.process_time_ns()
                if how == "mask":
                    matcher.mask()
                else:
                    assert matcher.first_allowed(ranked)
                spent[how].append((time.process_time_ns() - began) / 1000)
                assert matcher.accept(token)
        for how, times in spent.items():
            print(
                f"{name:10} {how:6} {statistics.median(times):8.1f} ({max(times):8.1f}) sum {sum(times) / 1000:7.2f} ms"
            )


if __name__ == "__main__":
    main()
