"""Kept runs over HTTP: a full room is told, ends that were read make room, values are never lost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from serving.server import Reply, Server, serving
from sglc.commands.serving.figures import families_of
from sglc.runtime.serve.access import Access, Key, new_key
from sglc.runtime.serve.keeping.kept_runs import RUN_BYTES
from sglc.runtime.serve.options import ServeLimits

PROGRAM = """
pub fn long(theme: str) -> str:
    assistant: | ?{text: str max 4000 chars}
    return text

pub fn one() -> int:
    return 1
"""
ANSWERS = {"long.text": "a" * 400}
LATER = {"prefer": "respond-async"}
ROOM = 6 * (RUN_BYTES + 1024)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(PROGRAM, ANSWERS, limits=ServeLimits(grace=0, kept=ROOM)) as made:
        yield made


def _ended(server: Server, reply: Reply) -> str:
    path = reply.headers["location"]
    run = server.runs.by_id[reply.data["id"]]
    server.until(lambda: run.ended)
    return path


def _filled(server: Server) -> list[str]:
    """Runs that nobody has read, until there is no room."""
    paths = []
    while (reply := server.call("one", LATER)).status == 202:
        paths.append(_ended(server, reply))
    assert (reply.status, reply.data["name"]) == (429, "Kept")
    assert 1 <= int(reply.headers["retry-after"]) <= 300 and "DELETE" in reply.data["hint"]
    return paths


def test_no_more_runs_are_kept_than_there_is_room_for(server: Server) -> None:
    paths = _filled(server)
    assert 5 <= len(paths) <= 6
    assert server.runs.kept.bytes <= ROOM + 1024  # the end of the last one is told, room or not
    assert server.call("one").data["value"] == 1  # what is not kept needs no room
    assert all(server.ask("GET", path).data["value"] == 1 for path in paths), "a value was lost"


def test_a_run_whose_end_was_read_gives_its_room(server: Server) -> None:
    paths = _filled(server)
    assert server.ask("GET", paths[2]).status == 200
    new = server.call("one", LATER)
    assert new.status == 202
    assert [server.ask("GET", path).status for path in paths[:4]] == [200, 200, 404, 200]
    _ended(server, new)


def test_a_run_that_was_deleted_gives_its_room_at_once(server: Server) -> None:
    paths = _filled(server)
    assert server.ask("DELETE", paths[0]).status == 204
    assert server.ask("GET", paths[0]).status == 404
    assert server.call("one", LATER).status == 202


def test_a_run_that_nobody_watches_loses_events_and_keeps_its_value() -> None:
    limits = ServeLimits(grace=0, kept=RUN_BYTES + 3000)
    with serving(PROGRAM, ANSWERS, limits=limits) as server:
        path = _ended(server, server.call("long", LATER, theme="x", options={"tokens": True}))
        assert server.runs.kept.bytes <= limits.kept
        events = server.ask("GET", path, headers={"accept": "text/event-stream"}).events
        assert events[0][1] == "lost" and events[0][2]["before"] == events[1][0]
        assert events[-1][1] == "value" and events[-1][2]["value"] == "a" * 400


def test_runs_have_the_room_of_their_tenant() -> None:
    keys = [new_key() for _ in range(2)]
    access = Access(tuple(Key(name, digest, name) for name, (_, digest) in zip("ab", keys, strict=True)))
    heads = [{**LATER, "authorization": f"Bearer {key}"} for key, _ in keys]
    with serving(PROGRAM, limits=ServeLimits(grace=0, kept=8 * (RUN_BYTES + 1024)), access=access) as server:
        statuses = [server.call("one", heads[0]).status for _ in range(4)]
        assert statuses == [202, 202, 429, 429]
        assert server.call("one", heads[1]).status == 202


def test_figures_tell_what_is_kept(server: Server) -> None:
    _filled(server)
    found = {family.name: family.samples[()][0] for family in families_of(server.runs)}
    assert found["sglc_kept_bytes"] == server.runs.kept.bytes > 5 * RUN_BYTES
    assert found["sglc_kept_runs"] == len(server.runs.by_id)
    assert (found["sglc_kept_refusals"], found["sglc_kept_dropped"]) == (1, 0)


def test_nothing_is_left_of_runs_that_have_run_out(server: Server) -> None:
    for _ in range(3):
        server.call("one", LATER, options={"keep": 0.2})
    told = server.call("one", {"accept": "text/event-stream"}, options={"keep": 0.2})
    path = f"/v1/runs/{told.headers['sglc-run']}"
    for _ in range(3):
        server.ask("GET", path, headers={"accept": "text/event-stream"})
    server.until(lambda: not server.runs.by_id)
    assert (server.runs.kept.bytes, len(server.runs.kept)) == (0, 0)
