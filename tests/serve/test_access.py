"""Keys: what a file may say, who is let in, rates and tokens on a clock of the test; no secret is told."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from serving.server import serving
from sglc.runtime.errors import ArgumentError
from sglc.runtime.serve.access import DAY, Access, Key, digest_of, new_key, read_keys
from sglc.runtime.serve.app import AppOptions
from sglc.runtime.serve.problems import Refusal

PROGRAM = "pub fn one() -> int:\n    return 1\n"
KEY = "sgl-for-tests-alone"
DIGEST = digest_of(KEY)


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "keys.toml"
    path.write_text(text)
    return path


def test_a_file_of_keys(tmp_path: Path) -> None:
    text = f'[keys.a]\ndigest = "{DIGEST}"\ntenant = "t"\nrate = 3\ntokens_a_day = 10\npriority = -1\n'
    other = digest_of("other")
    keys = read_keys(_file(tmp_path, text + f'[keys.b]\ndigest = "{other}"\n'))
    assert keys == (Key("a", DIGEST, "t", 3, 10, -1), Key("b", other, "b"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "tables `[keys.NAME]`"),
        ("x = 1", "tables `[keys.NAME]`"),
        ("[keys.a", "no TOML: "),
        ("[keys.a]\n", "no digest"),
        (f'[keys.a]\ndigest = "{KEY}"\n', "no digest"),
        (f'[keys.a]\ndigest = "{DIGEST}"\nrates = 1\n', "has no `rates`"),
        (f'[keys.a]\ndigest = "{DIGEST}"\nrate = "1"\n', "a whole number"),
        (f'[keys.a]\ndigest = "{DIGEST}"\nrate = 0\n', "at least 1"),
        (f'[keys.a]\ndigest = "{DIGEST}"\n[keys.b]\ndigest = "{DIGEST}"\n', "the same key"),
    ],
)
def test_faulty_files_are_told_without_secrets(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ArgumentError) as told:
        read_keys(_file(tmp_path, text))
    said = f"{told.value.message} {told.value.reason} {told.value.hint}".replace("not TOML", "no TOML")
    assert told.value.code == "E0829" and words in said
    assert KEY not in said and DIGEST not in said


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="cannot be used as keys"):
        read_keys(tmp_path / "none.toml")


class Clock:
    """Seconds that the test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_rate_fills_again() -> None:
    clock = Clock()
    access = Access((Key("a", DIGEST, "a", rate=2),), wall=clock, clock=clock)
    for _ in range(2):
        access.admit(f"Bearer {KEY}")
    with pytest.raises(Refusal) as refused:
        access.admit(f"Bearer {KEY}")
    assert refused.value.problem.status == 429 and refused.value.problem.retry_after == pytest.approx(30)
    clock.now += 30
    access.admit(f"bearer {KEY}")


def test_tokens_of_a_day_end_at_midnight() -> None:
    clock = Clock()
    access = Access((Key("a", DIGEST, "a", tokens_a_day=10),), wall=clock, clock=clock)
    key = access.admit(f"Bearer {KEY}")
    access.count(key, 10)
    with pytest.raises(Refusal) as refused:
        access.admit(f"Bearer {KEY}")
    assert refused.value.problem.retry_after == DAY - 1000
    clock.now = DAY + 1
    access.admit(f"Bearer {KEY}")


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer ", "Basic x", f"Bearer {KEY}x", f"Bearer {DIGEST}"])
def test_others_are_not_let_in(given: str) -> None:
    access = Access((Key("a", DIGEST, "a"),))
    with pytest.raises(Refusal) as refused:
        access.admit(given)
    assert refused.value.problem.status == 401
    assert refused.value.problem.headers["www-authenticate"] == "Bearer"


def test_a_server_with_keys(caplog: pytest.LogCaptureFixture) -> None:
    access = Access((Key("bill", DIGEST, "a"),))
    with caplog.at_level(logging.INFO), serving(PROGRAM, access=access) as server:
        assert server.call("one").status == 401
        assert server.ask("GET", "/openapi.json").status == 401
        assert server.ask("GET", "/healthz").status == server.ask("GET", "/readyz").status == 200
        allowed = {"authorization": f"Bearer {KEY}", "host": "sgl.example"}
        reply = server.call("one", {**allowed, "traceparent": f"00-{'a' * 32}-{'b' * 16}-01"})
        assert reply.data["value"] == 1
        assert "bearer" in server.ask("GET", "/openapi.json", headers=allowed).body.decode()
    line = next(line for line in caplog.messages if " 200 " in line and "functions" in line)
    assert "key=bill" in line and "trace=" + "a" * 32 in line
    assert KEY not in caplog.text and DIGEST not in caplog.text


def test_a_run_belongs_to_its_key() -> None:
    other, digest = new_key()
    access = Access((Key("a", DIGEST, "a"), Key("b", digest, "b")))
    with serving(PROGRAM, access=access) as server:
        mine, theirs = ({"authorization": f"Bearer {key}"} for key in (KEY, other))
        path = server.call("one", {**mine, "prefer": "respond-async"}).headers["location"]
        assert server.ask("GET", path, headers=theirs).status == 404
        assert server.ask("DELETE", path, headers=theirs).status == 404
        assert server.ask("GET", path, headers=mine).status in (200, 202)


def test_a_server_without_keys_answers_to_its_own_names_alone() -> None:
    with serving(PROGRAM, options=AppOptions(hosts=frozenset({"box.example"}))) as server:
        for host, status in (
            ("localhost", 200),
            ("127.0.0.1:80", 200),
            ("[::1]:9", 200),
            ("box.example", 200),
            ("evil.example", 421),
            ("", 421),
        ):
            assert server.ask("GET", "/v1/functions", headers={"host": host}).status == status


def test_pages_of_other_origins() -> None:
    with serving(PROGRAM, options=AppOptions(origins=("https://app.example",))) as server:
        for origin, allowed in (
            ("https://app.example", "https://app.example"),
            ("https://evil.example", None),
        ):
            asked = {"origin": origin, "access-control-request-method": "POST"}
            reply = server.ask("OPTIONS", "/v1/functions/one", headers=asked)
            assert reply.headers.get("access-control-allow-origin") == allowed


def test_keys_that_are_replaced_keep_what_they_have_used() -> None:
    now = [0.0]
    old, new = new_key(), new_key()
    access = Access((Key("one", old[1], "one", rate=2),), clock=lambda: now[0])
    access.admit(f"Bearer {old[0]}")
    access.replace((Key("one", old[1], "one", rate=60), Key("two", new[1], "two", rate=1)))
    access.admit(f"Bearer {old[0]}")
    with pytest.raises(Refusal):
        access.admit(f"Bearer {old[0]}")
    access.admit(f"Bearer {new[0]}")
    now[0] = 1.0  # a second: one more of sixty a minute
    access.admit(f"Bearer {old[0]}")
    access.replace((Key("two", new[1], "two"),))
    access.admit(f"Bearer {new[0]}")
    with pytest.raises(Refusal):
        access.admit(f"Bearer {old[0]}")
