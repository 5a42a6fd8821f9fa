"""Tries hostile constraints, each in a process of its own: names come as lines, results go as JSON."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import sys
import time
from typing import Any

from hostile.hostile_constraints import Arguments, cases
from sglc.runtime.mask import ConstraintError, Vocabulary, compile_constraint

STEPS = 20
"""Masks and steps of each case."""
CPU_SECONDS, MEMORY = 60, 4 << 30
"""What ends a process that no limit has ended; the test asks for less."""


def vocabulary() -> Vocabulary:
    """All bytes and some thousand words and pieces of JSON."""
    rng = random.Random(7)
    syllables = [
        "ka",
        "lo",
        "mi",
        "re",
        "st",
        "an",
        "er",
        "in",
        "on",
        "th",
        "k1",
        "v",
        "x",
        "word",
        "a",
        "b",
        "aa",
    ]
    words = {"".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(6000)}
    pieces = [
        '{"',
        '": ',
        '", "',
        '"}',
        "[1",
        "], [",
        "null",
        "true",
        "false",
        '": "',
        " ",
        "  ",
        "00",
        "12",
        "aaa",
    ]
    words |= {f" {word}" for word in list(words)[:2000]} | set(pieces) | {"a" * size for size in range(2, 30)}
    return Vocabulary([*(bytes([byte]) for byte in range(256)), *sorted(word.encode() for word in words)])


def tried(make: Any, tokens: Vocabulary) -> dict[str, Any]:
    """What becomes of a constraint: seconds of this process, and the error that ends it, if one does."""
    arguments: Arguments = make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found: dict[str, Any] = {"masks": 0, "worst": 0.0, "error": None, "message": ""}
    began = time.process_time()
    try:
        try:
            constraint = compile_constraint(**arguments)
        finally:
            found["compile"] = time.process_time() - began
        matcher = constraint.matcher(tokens)
        rng = random.Random(1)
        for _ in range(STEPS):
            since = time.process_time()
            legal = tokens.unpack(matcher.mask())
            found["worst"] = max(found["worst"], time.process_time() - since)
            found["masks"] += 1
            if not len(legal):
                break
            token = int(legal[rng.randrange(len(legal))])
            since = time.process_time()
            if not matcher.accept(token):
                return {**found, "error": "a mask allows what is not accepted"}
            found["worst"] = max(found["worst"], time.process_time() - since)
        if not matcher.is_dead():
            matcher.shortest_completion()
    except ConstraintError as fault:
        found["error"], found["message"] = type(fault).__name__, str(fault)[:300]
    found["seconds"] = time.process_time() - began
    found["bytes"] = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    return found


def apart(name: str, make: Any, tokens: Vocabulary) -> dict[str, Any]:
    """The same in a process of its own, which may die."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.alarm(4 * CPU_SECONDS)
        try:
            found = tried(make, tokens)
        except BaseException as fault:
            found = {"error": f"not typed: {type(fault).__name__}", "message": str(fault)[:300]}
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if not text:
        return {"name": name, "error": f"died of signal {status & 127}", "message": ""}
    return {"name": name, **json.loads(text)}


def main() -> None:
    tokens = vocabulary()
    # What all constraints share is made before the first of them.
    warm = compile_constraint(json_schema={}).matcher(tokens)
    warm.mask()
    made = dict(cases())
    for line in sys.stdin:
        name = line.rstrip("\n")
        print(json.dumps(apart(name, made[name], tokens)), flush=True)


if __name__ == "__main__":
    main()
