"""What came of each hole of the examples at servers themselves, as Markdown.

    SGLC_LLAMA_SERVER=http://127.0.0.1:8080 SGLC_TEST_TABLE=rows.jsonl \
        python -P -m pytest tests/backends/servers/test_examples_at_servers.py
    python tests/benchmarks/backends/server_table.py rows.jsonl

The tests write the rows: server, example, hole, level, outcome, text.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

LEVELS = ("exact", "value", "wider", "asked")
VALUES = ("value", "asked again", "known")
"""Outcomes that are a value, by the requests that it took: one, more, none."""


def rows_of(paths: list[str]) -> list[list[str]]:
    """All rows, in order."""
    return [
        json.loads(line) for path in paths for line in Path(path).read_text(encoding="utf-8").splitlines()
    ]


def by_level(rows: list[list[str]]) -> list[str]:
    """A line for each server and level: holes, and what came of them."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for server, _, _, level, outcome, _ in rows:
        if level in LEVELS:
            counts[server, level][outcome if outcome in VALUES else "error"] += 1
    lines = ["| server | level | holes | a value at once | of more requests | without a request | an error |"]
    lines.append("|---|---|--:|--:|--:|--:|--:|")
    for server, level in sorted(counts, key=lambda key: (key[0], LEVELS.index(key[1]))):
        found = counts[server, level]
        figures = [sum(found.values()), *(found[each] for each in (*VALUES, "error"))]
        lines.append(f"| {server} | `{level}` | " + " | ".join(map(str, figures)) + " |")
    return lines


def by_example(rows: list[list[str]]) -> list[str]:
    """A line for each example: its holes by level, and values of all of them, by server."""
    servers = sorted({row[0] for row in rows})
    holes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    values: Counter[tuple[str, str]] = Counter()
    for server, example, _, level, outcome, _ in rows:
        if level in LEVELS:
            holes[example, server][level] += 1
            values[example, server] += outcome in VALUES
    lines = ["| example | " + " | ".join(servers) + " |", "|---|" + "---|" * len(servers)]
    for example in sorted({example for example, _ in holes}):
        cells = []
        for server in servers:
            found = holes[example, server]
            levels = ", ".join(f"{found[level]} `{level}`" for level in LEVELS if found[level])
            missing = sum(found.values()) - values[example, server]
            cells.append(levels + (f", of them {missing} an error" if missing else "") if levels else "–")
        lines.append(f"| {example} | " + " | ".join(cells) + " |")
    return lines


def errors(rows: list[list[str]]) -> list[str]:
    """A line for each hole without a value."""
    found = [row for row in rows if row[3] in LEVELS and row[4] not in VALUES]
    return [
        f"- {server}, {example}, `{hole}` (`{level}`): {text}"
        for server, example, hole, level, _, text in found
    ]


if __name__ == "__main__":
    given = rows_of(sys.argv[1:])
    print("\n".join([*by_level(given), "", *by_example(given), "", *errors(given)]))
