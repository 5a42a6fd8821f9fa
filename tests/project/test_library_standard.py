"""The standard library: it has no findings, and its types agree with independent readers of the formats.

Words are drawn from a type's own automaton and handed to Python's `ipaddress`, `uuid` and `datetime`; words
that those write are handed to the type.
"""

from __future__ import annotations

import datetime
import ipaddress
import re
import uuid
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sglc.automata.regex.compile import compile_regex
from sglc.check.program import check
from sglc.driver import compile_source
from sglc.library import Library
from sglc.source import Source
from sglc.testing import run_tests
from sglc.types.language.membership import is_member
from sglc.types.type import AliasType, Named, Str
from supported.library import exported, page

LIBRARY = Library()
MAIN = Source("main.sgl", "")
MODULES = {path: LIBRARY.find(path, MAIN) for path in LIBRARY.standard_modules()}


@cache
def declared(path: str):
    program, _ = check(Source(f"{path}.sgl", MODULES[path].text), Library())
    return program.table


def is_a(name: str, text: str) -> bool:
    path, _, short = name.rpartition(".")
    return is_member(text, Named(short), declared(path))


@st.composite
def words(draw, name: str) -> str:
    """A word of a text type: a random walk through its automaton that turns home after a while."""
    path, _, short = name.rpartition(".")
    alias = declared(path)[short]
    assert isinstance(alias, AliasType) and isinstance(alias.type, Str)
    dfa = compile_regex(alias.type.patterns[0])
    distance = {state: 0 for state in dfa.accepting}
    while True:
        longer = {
            s: 1 + min(distance[t] for _, _, t in edges if t in distance)
            for s, edges in enumerate(dfa.edges)
            if s not in distance and any(t in distance for _, _, t in edges)
        }
        if not longer:
            break
        distance.update(longer)
    state, text, most = 0, "", draw(st.integers(0, 30))
    while True:
        if state in dfa.accepting and (len(text) >= most or not dfa.edges[state] or draw(st.booleans())):
            return text
        edges = dfa.edges[state]
        if len(text) >= most:
            edges = tuple(e for e in edges if distance[e[2]] < distance[state])
        low, high, state = draw(st.sampled_from(edges))
        text += chr(draw(st.integers(low, high)))


@pytest.mark.parametrize("path", sorted(MODULES))
def test_a_module_has_no_findings(path):
    source = MODULES[path]
    assert check(Source(source.name, source.text), Library())[1] == []


@pytest.mark.parametrize("path", sorted(MODULES))
def test_every_shared_name_is_documented(path):
    program, _ = check(Source(f"{path}.sgl", MODULES[path].text), Library())
    assert program.main.module.doc
    for declaration in program.main.module.declarations:
        if getattr(declaration, "public", False):
            assert declaration.doc, f"{path}.{declaration.name.text} has no ## text"


@given(words("std.text.ipv4"))
def test_words_of_ipv4_are_addresses(text):
    assert str(ipaddress.IPv4Address(text)) == text


@given(st.ip_addresses(v=4))
def test_addresses_of_version_4_are_words(address):
    assert is_a("std.text.ipv4", str(address))


@given(words("std.text.ipv6"))
def test_words_of_ipv6_are_addresses(text):
    ipaddress.IPv6Address(text)


@given(st.ip_addresses(v=6), st.booleans())
def test_addresses_of_version_6_are_words(address, full):
    assert is_a("std.text.ipv6", address.exploded if full else address.compressed)


@pytest.mark.parametrize("text", ["256.1.1.1", "1.2.3", "01.2.3.4", "1.2.3.4.5", ""])
def test_what_is_no_ipv4_is_no_word(text):
    assert not is_a("std.text.ipv4", text)


@pytest.mark.parametrize("text", ["1::2::3", "12345::", "1:2:3:4:5:6:7", ":::", "g::", "1:2:3:4:5:6:7:8:9"])
def test_what_is_no_ipv6_is_no_word(text):
    assert not is_a("std.text.ipv6", text)


@given(words("std.text.uuid"))
def test_words_of_uuid_are_identifiers(text):
    assert str(uuid.UUID(text)) == text


@given(st.uuids())
def test_identifiers_are_words_of_uuid(value):
    assert is_a("std.text.uuid", str(value))


@given(words("std.time.date"))
def test_words_of_date_are_days(text):
    assert datetime.date.fromisoformat(text).isoformat() == text


@given(st.dates())
@example(datetime.date(2000, 2, 29))
@example(datetime.date(4, 2, 29))
@example(datetime.date(9999, 12, 31))
def test_days_are_words_of_date(day):
    assert is_a("std.time.date", day.isoformat())


@pytest.mark.parametrize(
    "text", ["2023-02-29", "1900-02-29", "2024-04-31", "0000-01-01", "2024-1-1", "24-01-01"]
)
def test_days_that_do_not_exist_are_no_words(text):
    assert not is_a("std.time.date", text)


@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)))
@example(datetime.date(2000, 2, 29))
@example(datetime.date(1904, 2, 29))
def test_days_of_our_time_are_words_of_recent_date(day):
    assert is_a("std.time.recent_date", day.isoformat())


@given(words("std.time.recent_date"))
def test_words_of_recent_date_are_days(text):
    assert 1900 <= datetime.date.fromisoformat(text).year <= 2099


@given(st.datetimes(timezones=st.just(datetime.UTC)))
def test_moments_are_words_of_datetime(moment):
    assert is_a("std.time.datetime", moment.replace(microsecond=0).isoformat())
    assert is_a("std.time.time", moment.strftime("%H:%M:%S"))
    assert is_a("std.time.minute", moment.strftime("%H:%M"))


@settings(max_examples=50)
@given(words("std.time.datetime"))
def test_words_of_datetime_are_moments(text):
    assert datetime.datetime.fromisoformat(text).tzinfo is not None


@settings(max_examples=50)
@given(words("std.time.duration"))
def test_words_of_duration_have_their_parts_in_order(text):
    whole = r"P(\d+W|(?=[\dT])(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)"
    assert re.fullmatch(whole, text)


@pytest.mark.parametrize("text", ["P", "PT", "P1DT", "1D", "P1H", "PT1D", "P1M1Y"])
def test_what_is_no_length_of_time_is_no_word(text):
    assert not is_a("std.time.duration", text)


@settings(max_examples=50)
@given(words("std.text.url"))
def test_words_of_url_have_a_scheme_and_a_host(text):
    parts = urlsplit(text)
    assert parts.scheme in ("http", "https") and parts.hostname


@settings(max_examples=50)
@given(words("std.text.email"))
def test_words_of_email_have_a_name_and_a_domain(text):
    name, _, domain = text.rpartition("@")
    assert name and "." in domain and ".." not in text and not domain.startswith("-")


@pytest.mark.parametrize(
    ("name", "text", "fits"),
    [
        ("email", "ada.lovelace+x@mail.example.org", True),
        ("email", "ada@localhost", False),
        ("email", "a..b@example.org", False),
        ("email", "@example.org", False),
        ("hostname", "a-b.example", True),
        ("hostname", "-a.example", False),
        ("hostname", "a" * 64, False),
        ("slug", "a-quiet-harbour", True),
        ("slug", "a--b", False),
        ("slug", "-a", False),
        ("identifier", "_x1", True),
        ("identifier", "1x", False),
        ("phone", "+442079460123", True),
        ("phone", "+0123456", False),
        ("colour", "#1e90ff", True),
        ("colour", "#1e90f", False),
        ("version", "1.0.0-rc.1", True),
        ("version", "01.0.0", False),
        ("version", "1.0", False),
        ("uri", "urn:isbn:0451450523", True),
        ("uri", "no colon", False),
        ("url", "https://example.org:8080/a?b=c#d", True),
        ("url", "ftp://example.org", False),
        ("line", "one two", True),
        ("line", " one", False),
        ("line", "", False),
    ],
)
def test_formats_take_what_they_should(name, text, fits):
    assert is_a(f"std.text.{name}", text) == fits


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(MODULES))
def test_the_tests_of_a_module_pass(path):
    source = MODULES[path]
    program = compile_source(Source(source.name, source.text)).program
    assert program is not None
    reports = list(run_tests(program))
    assert reports
    assert [report.title for report in reports if not report.passed] == []


def test_the_page_of_the_library_is_made_from_the_modules():
    written = Path(__file__).parents[2] / "docs" / "library.md"
    assert written.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("path", MODULES)
def test_every_public_declaration_of_the_library_says_what_it_is(path):
    assert [one.name for one in exported(MODULES[path].text) if not one.comment] == []
