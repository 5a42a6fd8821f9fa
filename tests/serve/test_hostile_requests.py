"""Requests and messages that are damaged anywhere: an answer or a closed connection, never a traceback."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Iterator

import pytest

from example_budget import examples
from serving.hostile.calls import PROGRAM, SCRIPT
from serving.hostile.client import Process, judged, many, served
from serving.hostile.requests import hostile_request
from serving.hostile.sockets import hostile_socket, spoken

COUNT = examples(160)
"""Requests; a quarter as many WebSockets, of some ten messages each. SGLC_TEST_EXAMPLES=20000 is much."""
FIRST = int(os.environ.get("SGLC_TEST_SEED", "0"))
"""The number of the first; each number is always the same request."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("hostile")
    with served(folder, PROGRAM, json.dumps(SCRIPT), "--ui", "--schemas", "1000000") as made:
        yield made


def test_hostile_requests_end_in_an_answer(server: Process) -> None:
    async def one(seed: int, counts: Counter[str]) -> None:
        sent = hostile_request(seed)
        counts[sent.kind] += 1
        await judged(server.port, sent, counts)

    before = server.memory
    counts, faults = asyncio.run(many(range(FIRST, FIRST + COUNT), one))
    print(f"{counts}, {before:.0f} to {server.memory:.0f} MiB")
    assert not faults, "\n".join(faults)
    assert not server.unknown(), "\n".join(server.unknown())
    assert counts["400"] > COUNT // 5 and counts["200"] > COUNT // 10


def test_hostile_sockets_are_answered_or_closed(server: Process) -> None:
    async def one(seed: int, counts: Counter[str]) -> None:
        said = hostile_socket(seed)
        counts[said.kind] += said.messages
        await spoken(server.port, said, counts)

    before = server.memory
    counts, faults = asyncio.run(many(range(FIRST, FIRST + COUNT // 4), one))
    print(f"{counts}, {before:.0f} to {server.memory:.0f} MiB")
    assert not faults, "\n".join(faults)
    assert not server.unknown(), "\n".join(server.unknown())
    assert counts["value"] > COUNT // 40 and counts["error"] > COUNT // 20
