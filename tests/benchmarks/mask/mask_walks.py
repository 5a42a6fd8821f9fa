"""Random legal texts of real schemas: every one of them must be finished, and valid by another validator.

    python tests/benchmarks/mask/mask_walks.py schemas.jsonl.xz --tokenizer tokenizer.json --schemas 1000
    python tests/benchmarks/mask/mask_walks.py schemas.jsonl.xz --tokenizer tokenizer.json --flood 10000
    python tests/benchmarks/mask/mask_walks.py schemas.jsonl.xz --tokenizer tokenizer.json --collections 400

A walk takes random tokens that the mask allows, now and then one that goes towards the end. Where the text
may end it ends by the toss of a coin; when the budget of tokens is spent the shortest completion follows. The
text must be JSON that `jsonschema` finds valid, and no mask may have been empty before.
`--flood` compiles that many different schemas in one process and prints its memory, which must stay flat.
`--collections` compiles that many schemas, writes a random text of each, keeps the constraints (or with
`--drop` does not), and prints what the garbage collector has to do for them.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import re
import resource
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

import jsonschema
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rich.progress import track

from mask.mask_engines import compile_schema
from mask.mask_worker import WARM_UP
from mask.maskbench import given, read_cases, sample
from sglc.runtime.mask import workspaces
from sglc.runtime.mask.caches import clear_caches
from sglc.runtime.mask.constraint import Constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import Matcher
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

END_CHANCE = 0.3
ONWARD_CHANCE = 0.3
"""Share of the steps that go towards the end of the text, or else most walks would end inside a string."""
_CLASSES = re.compile(r"\\\\[wWdDsSbB]")
"""In a schema's text: classes of characters that are those of ASCII in ECMA-262, and of Unicode in Python."""


@dataclass(frozen=True)
class Walk:
    """`fault` is None if all is well."""

    text: bytes
    tokens: int
    fault: str | None
    completed: bool = False
    """Whether the budget was spent and the shortest completion was appended."""


def walk(
    constraint: Constraint,
    vocabulary: Vocabulary,
    single: dict[int, int],
    chance: random.Random,
    budget: int,
) -> Walk:
    """One random text; `single` has the token of each byte."""
    matcher = constraint.matcher(vocabulary)
    row = np.zeros(vocabulary.words, np.int32)
    for taken in range(budget):
        matcher.fill_mask(row)
        accepting = matcher.is_accepting()
        if accepting and chance.random() < END_CHANCE:
            return Walk(matcher.text(), taken, None)
        token = choose(row, chance)
        if token is None:
            fault = None if accepting else "a mask without any token"
            return Walk(matcher.text(), taken, fault)
        if not accepting and chance.random() < ONWARD_CHANCE:
            token = single[matcher.shortest_completion()[0]]
            if not row[token >> 5] >> (token & 31) & 1:
                return Walk(matcher.text(), taken, f"token {token} completes the text and is not in the mask")
        if not matcher.accept(token):
            return Walk(matcher.text(), taken, f"token {token} is in the mask and is refused")
    return _complete(matcher, budget)


def _complete(matcher: Matcher, taken: int) -> Walk:
    rest = matcher.shortest_completion()
    if not matcher.accept_bytes(rest):
        return Walk(matcher.text() + rest, taken, "the shortest completion is refused", True)
    fault = None if matcher.is_accepting() else "the shortest completion does not complete the text"
    return Walk(matcher.text(), taken, fault, True)


def choose(row: np.ndarray, chance: random.Random) -> int | None:
    """A random token of a mask: a random word that is not empty, then a random bit of it."""
    filled = np.flatnonzero(row)
    if not len(filled):
        return None
    word = int(filled[chance.randrange(len(filled))])
    bits = int(row[word]) & 0xFFFFFFFF
    return word * 32 + chance.choice([bit for bit in range(32) if bits >> bit & 1])


def single_bytes(vocabulary: Vocabulary) -> dict[int, int]:
    """A token of each byte."""
    return {data[0]: token for token, data in enumerate(vocabulary.token_bytes) if data and len(data) == 1}


def _number(text: str) -> float | int:
    """A whole number beyond those that a float tells apart stays what it is."""
    exact = Decimal(text)
    whole = 15 < exact.adjusted() < 400 and exact == exact.to_integral_value()
    return int(exact) if whole else float(text)


def _dated(value: Any) -> Any:
    """Dates of the year 0000, which Python does not have, in 2000, which has the same days."""
    if isinstance(value, str):
        return f"2{value[1:]}" if value.startswith("0000-") else value
    if isinstance(value, list):
        return [_dated(item) for item in value]
    return {key: _dated(item) for key, item in value.items()} if isinstance(value, dict) else value


def judge(text: bytes, schema: Any) -> str | None:
    """What is wrong with a finished text."""
    try:
        value = json.loads(text.decode(), parse_float=_number)
    except (UnicodeDecodeError, json.JSONDecodeError) as fault:
        return f"not JSON: {fault}"
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kind(schema, format_checker=kind.FORMAT_CHECKER).validate(_dated(value))
    except jsonschema.ValidationError as fault:
        if not text.isascii() and _CLASSES.search(json.dumps(schema)):
            return "?classes of characters that Python's patterns have larger than those of ECMA-262"
        return f"not valid: {fault.message[:150]} at {fault.json_path}"
    except Exception as fault:  # the validator itself, e.g. for patterns that Python cannot read
        return f"?{type(fault).__name__}: {str(fault)[:100]}"
    return None


def walks(cases: list[dict[str, Any]], vocabulary: Vocabulary, arguments: argparse.Namespace) -> int:
    """Walk through all schemas, print what goes wrong and return how often."""
    counts: Counter[str] = Counter(faults=0)
    reasons: Counter[str] = Counter()
    single = single_bytes(vocabulary)
    started = time.perf_counter()
    for case in track(cases, description="schemas", disable=not sys.stderr.isatty()):
        name = case["name"]
        try:
            constraint = compile_schema(case["schema"], order="any", spelling="any")
            counts["schemas"] += 1
            for number in range(arguments.walks):
                chance = random.Random(f"{arguments.seed} {name} {number}")
                made = walk(constraint, vocabulary, single, chance, arguments.tokens)
                counts.update(walks=1, tokens=made.tokens, completed=int(made.completed))
                fault = made.fault or judge(made.text, case["schema"])
                if fault is not None and fault.startswith("?"):
                    counts["not judged"] += 1
                    reasons[fault[1:]] += 1
                elif fault is not None:
                    counts["faults"] += 1
                    text = made.text[-160:].decode(errors="replace")
                    print(f"{name} walk {number}: {fault}: {text!r}", flush=True)
        except ConstraintError as refusal:
            counts["refused"] += 1
            if arguments.verbose:
                print(f"{name}: refused: {refusal}")
        except Exception as crash:
            counts["faults"] += 1
            print(f"{name}: {type(crash).__name__}: {crash}", flush=True)
    for reason, times in reasons.most_common():
        print(f"not judged {times} times: {reason}")
    print(f"{time.perf_counter() - started:.0f} s", dict(counts))
    return counts["faults"]


# Many schemas in one process


def resident() -> float:
    """Memory of this process in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def invented(number: int) -> dict[str, Any]:
    """A schema that no other number has."""
    chance = random.Random(number)
    kinds: list[dict[str, Any]] = [
        {"type": "string", "maxLength": chance.randint(1, 200)},
        {"type": "string", "pattern": f"^[a-{chance.choice('mnopqrst')}]{{1,{chance.randint(2, 30)}}}$"},
        {"type": "integer", "minimum": chance.randint(-999, 0), "maximum": chance.randint(1, 99999)},
        {"type": "number", "minimum": chance.randint(-9, 9)},
        {"enum": [f"{number}-{chance.randint(0, 999)}-{n}" for n in range(chance.randint(1, 40))]},
        {"type": "array", "items": {"type": "boolean"}, "maxItems": chance.randint(1, 9)},
        {"type": ["string", "null"]},
        {},
    ]
    names = [
        f"{chance.choice(('id', 'name', 'size', 'note'))}_{number}_{n}" for n in range(chance.randint(2, 12))
    ]
    required = chance.sample(names, len(names) // 2)
    properties = {name: chance.choice(kinds) for name in names}
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": chance.random() < 0.5,
    }


def flood(cases: list[dict[str, Any]], vocabulary: Vocabulary, count: int, budget: int) -> None:
    """Compile many schemas, the given ones first, write a random text of each, and print the memory."""
    refused = 0
    single = single_bytes(vocabulary)
    started = time.perf_counter()
    print(f"{'schemas':>8}{'refused':>9}{'MiB':>8}{'seconds':>9}")
    for number in range(count):
        schema = cases[number]["schema"] if number < len(cases) else invented(number)
        try:
            constraint = compile_schema(schema, order="any", spelling="any")
            walk(constraint, vocabulary, single, random.Random(number), budget)
        except ConstraintError:
            refused += 1
        except Exception as crash:
            print(f"schema {number}: {type(crash).__name__}: {crash}")
        if number % (count // 20 or 1) == 0 or number == count - 1:
            seconds = time.perf_counter() - started
            print(f"{number + 1:8}{refused:9}{resident():8.0f}{seconds:9.0f}", flush=True)


# What the garbage collector has to do


class Pauses:
    """`with Pauses() as pauses`: the collections meanwhile, (milliseconds of processor time, generation)."""

    def __enter__(self) -> Self:
        self.found: list[tuple[float, int]] = []
        self._began = 0
        gc.callbacks.append(self._note)
        return self

    def __exit__(self, *fault: object) -> None:
        gc.callbacks.remove(self._note)

    def _note(self, phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.process_time_ns()
        else:
            self.found.append(((time.process_time_ns() - self._began) / 1e6, about["generation"]))


def looked_at() -> tuple[float, Counter[str]]:
    """Milliseconds of processor time of a full collection, the least of some, and the objects that it looks
    at by type."""
    gc.collect()
    gc.collect()  # the first one finds tuples and dicts that hold nothing to look at
    times = []
    for _ in range(7):
        began = time.process_time_ns()
        gc.collect()
        times.append((time.process_time_ns() - began) / 1e6)
    every = gc.get_objects()
    return min(times), Counter([f"{type(found).__module__}.{type(found).__name__}" for found in every])


def collections(schemas: list[str], vocabulary: Vocabulary, arguments: argparse.Namespace) -> None:
    """Compile schemas (texts, at which the collector does not look) and write a random text of each, all with
    the default options; print what collections take then and took meanwhile. They do not look at objects that
    were there before."""
    single = single_bytes(vocabulary)
    kept: list[Constraint] = []
    walk(compile_schema(WARM_UP), vocabulary, single, random.Random(0), 20)
    clear_caches()
    workspaces.clear()
    gc.collect()
    gc.tabulate()
    took, before = looked_at()
    print(f"before: {took:.1f} ms, {before.total():,} objects")
    tokens = 0
    with Pauses() as pauses:
        for number, schema in enumerate(schemas):
            try:
                made = compile_schema(json.loads(schema))
                chance = random.Random(f"{arguments.seed} {number}")
                tokens += walk(made, vocabulary, single, chance, arguments.tokens).tokens
            except ConstraintError:
                continue
            if not arguments.drop:
                kept.append(made)
            del made
    took, after = looked_at()
    of_each = f", {(after - before).total() / len(kept):.0f} for each constraint" if kept else ""
    print(
        f"{len(kept)} constraints kept, {tokens:,} masks: {took:.1f} ms, {after.total():,} objects{of_each}"
    )
    for name, count in (after - before).most_common(arguments.types):
        print(f"  {count:8,} {name}")
    for generation in (2, 1, 0):
        times = sorted([time for time, of in pauses.found if of == generation], reverse=True)
        longest = " ".join([f"{time:.1f}" for time in times[:6]])
        print(f"generation {generation}: {len(times):,} collections, {sum(times):.0f} ms, longest {longest}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", help="file or folder of schemas")
    parser.add_argument("--tokenizer", help="a tokenizer.json")
    parser.add_argument("--schemas", type=int, default=100)
    parser.add_argument("--walks", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=60, help="budget of a walk")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="schemas with this in their name")
    parser.add_argument("--flood", type=int, help="number of different schemas in one process")
    parser.add_argument("--collections", type=int, help="number of schemas that are kept in one process")
    parser.add_argument("--drop", action="store_true", help="with --collections: keep none of them")
    parser.add_argument("--types", type=int, default=12, help="with --collections: types of objects shown")
    parser.add_argument("--verbose", action="store_true", help="also list what is refused")
    arguments = parser.parse_args()
    cases = read_cases(arguments.data)
    tokenizer = given(arguments.tokenizer, "SGLC_BENCH_TOKENIZER", "--tokenizer")
    vocabulary = Vocabulary.from_tokenizer_json(tokenizer)
    if arguments.flood:
        flood(sample(cases, 0, arguments.seed), vocabulary, arguments.flood, arguments.tokens)
        return 0
    if arguments.collections:
        some = [json.dumps(case["schema"]) for case in sample(cases, arguments.collections, arguments.seed)]
        cases.clear()
        collections(some, vocabulary, arguments)
        return 0
    if arguments.only:
        cases = [case for case in cases if any(part in case["name"] for part in arguments.only)]
    return 1 if walks(sample(cases, arguments.schemas, arguments.seed), vocabulary, arguments) else 0


if __name__ == "__main__":
    sys.exit(main())
