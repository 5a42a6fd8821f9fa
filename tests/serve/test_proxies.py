"""Where a request comes from: the connection says it, a header only where the operator trusts its proxy."""

from __future__ import annotations

import logging
from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.datastructures import Headers

from command_line import Cli, cli
from example_budget import examples
from serving.server import serving
from sglc.runtime.serve.access import Access, Key, new_key
from sglc.runtime.serve.app import AppOptions
from sglc.runtime.serve.guard import Proxies

__all__ = ["cli"]
PROGRAM = "pub fn one() -> int:\n    return 1\n"
FORGED = {"x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https", "forwarded": "for=203.0.113.9"}


def _lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "sglc.serve.access"]


def test_a_forged_header_is_not_believed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by the log nor by the rate of a key; uvicorn would believe this machine, and its variable."""
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    caplog.set_level(logging.INFO, "sglc.serve.access")
    key, digest = new_key()
    access = Access((Key("a", digest, "a", rate=2),))
    with serving(PROGRAM, access=access) as server:
        for number in range(4):
            headers = {
                **FORGED,
                "x-forwarded-for": f"203.0.113.{number}",
                "authorization": f"Bearer {key}",
            }
            assert server.call("one", headers).status == (200 if number < 2 else 429)
        assert server.call("one", FORGED).status == 401
    lines = _lines(caplog)
    assert len(lines) == 5 and all(" from=127.0.0.1" in line for line in lines)
    assert "203.0.113" not in caplog.text and " 401 " in lines[-1]


def test_a_proxy_that_the_operator_names_is_believed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "sglc.serve.access")
    options = AppOptions(proxies=Proxies((ip_network("127.0.0.1"), ip_network("10.0.0.0/8"))))
    with serving(PROGRAM, options=options) as server:
        for told in (
            "198.51.100.1, 203.0.113.9, 10.1.2.3",
            "203.0.113.9:4711",
            "evil\\n, 203.0.113.9",
            "x, y",
        ):
            server.call("one", {"x-forwarded-for": told})
        admission = server.runs.admission
        admission.running, admission.most_waiting = admission.most_running, 0
        assert server.call("one", {"x-forwarded-for": "[2001:db8::9]:80"}).status == 429
    places = [line.partition(" from=")[2] for line in _lines(caplog)]
    assert places == ["203.0.113.9", "203.0.113.9", "203.0.113.9", "127.0.0.1", "2001:db8::9"]


ADDRESSES = st.sampled_from(
    ["10.0.0.1", "10.0.0.2", "192.0.2.1", "2001:db8::1", "fd00::7", "none", "", "10.0.0.1:80"]
)


@settings(max_examples=examples(200), deadline=None)
@given(ADDRESSES, st.lists(st.lists(ADDRESSES, max_size=4), max_size=3))
def test_the_last_address_that_no_proxy_has(peer: str, lines: list[list[str]]) -> None:
    """The oracle goes from the right over what all headers say, one after the other."""
    proxies = Proxies((ip_network("10.0.0.0/24"), ip_network("fd00::/8")))
    headers = Headers(raw=[(b"x-forwarded-for", ",".join(line).encode()) for line in lines])
    found = proxies.client_of({"type": "http", "client": (peer, 1)}, headers)
    expected = peer
    for told in reversed(",".join(map(",".join, lines)).split(",")) if lines else ():
        trusted = expected.startswith(("10.0.0.", "fd00:")) and ":8" not in expected
        told = told.removesuffix(":80")
        if not trusted or told in ("none", ""):
            break
        expected = told
    assert found == expected
    assert Proxies().client_of({"type": "http", "client": (peer, 1)}, headers) == peer
    assert Proxies().client_of({"type": "http", "client": None}, headers) == ""
    if found != peer:
        ip_address(found)


def test_a_socket_for_both_versions_of_ip_has_other_spellings() -> None:
    proxies = Proxies((ip_network("10.0.0.7"),))
    headers = Headers({"x-forwarded-for": "192.0.2.1"})
    assert proxies.client_of({"type": "http", "client": ("::ffff:10.0.0.7", 1)}, headers) == "192.0.2.1"
    assert proxies.client_of({"type": "http", "client": ("::ffff:10.0.0.8", 1)}, headers) == "::ffff:10.0.0.8"


@pytest.mark.parametrize("given", ["*", "proxy.example", "10.0.0.1/8", "10.0.0.0/40"])
def test_what_is_no_address_is_told(given: str, cli: Cli) -> None:
    code, _, err = cli("serve", "--forwarded-allow", given)
    assert code == 2 and "10.0.0.0/24" in err
