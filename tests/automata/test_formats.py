"""The formats of JSON Schema: dates against the calendar, addresses against `ipaddress`, cases for all."""

from __future__ import annotations

import datetime
import ipaddress
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sglc.automata.dfa import operations as dfa
from sglc.automata.dfa.serialize import pack, unpack
from sglc.automata.formats import packed
from sglc.automata.formats.formats import define_format, format_names, format_text
from sglc.automata.formats.terms import define_class_member, define_flat

CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "date": (
        ("2000-02-29", "2024-12-31", "0000-02-29"),
        ("1900-02-29", "2023-02-29", "24-01-01", "2024-1-1", ""),
    ),
    "time": (
        ("10:20:30Z", "10:20:30.123456789z", "23:59:60Z", "05:44:60.5+05:45", "15:59:60-08:00"),
        ("10:20Z", "10:20:30", "24:00:00Z", "10:20:30+24:00", "22:59:60Z", "23:59:60+01:00", "10:20:30,5Z"),
    ),
    "date-time": (
        ("1985-04-12T23:20:50.52Z", "1937-01-01t12:00:27.87+00:20", "2016-12-31T23:59:60Z"),
        ("1985-04-12 23:20:50Z", "1985-02-30T00:00:00Z", "1985-04-12T23:20:50", "1985-04-12T23:20:50+01"),
    ),
    "duration": (
        ("P1Y2M3DT4H5M6S", "PT36H", "P3W", "P1M", "PT0S", "P1Y2M"),
        ("P", "PT", "P1Y3D", "PT1H3S", "P1W2D", "P1.5D", "-P1D", "1D", "P1DT"),
    ),
    "email": (
        ("a@b", "o'neil+x@mail.example.org", '"a b\\"c"@x.y', "a@[10.0.0.1]", "a@[IPv6:::1]", "a@xn--p1ai"),
        ("a", "@b", "a@", ".a@b", "a..b@c", "a@-b.c", "a@b_c", "a b@c", "é@b.c", "a@[300.0.0.1]", "a@b."),
    ),
    "idn-email": (("δοκιμή@παράδειγμα.gr", '"é"@é.fr', "a@b"), ("é", "a@é-", "a＠b", "a b@c")),
    "hostname": (
        ("a", "1.2.3.4", "a-b.c--d", "A" * 63, "xn-a", "axn--b"),
        ("", ".", "a.", "-a", "a-", "a_b", "é", "A" * 64, "a..b", "xn--", "xn--p1ai", "a.XN--p1ai.b"),
    ),
    "hostname-ldh": (("a", "xn--p1ai"), ("", "a_b", "-a")),
    "ipv4": (("0.0.0.0", "255.250.199.9"), ("01.2.3.4", "1.2.3", "1.2.3.256", "1.2.3.4 ", "١.2.3.4")),
    "ipv6": (
        ("::", "1::", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4"),
        (":", "1:2:3:4:5:6:7", "1::2::3", "12345::", "::1.2.3", "::1%eth0", "1:2:3:4:5:6:7:8::"),
    ),
    "uri": (
        (
            "http://u:p@h.example:80/a/b?q=/?#f",
            "urn:isbn:1",
            "a:",
            "mailto:a@b",
            "http://[v1.a:b]/",
            "x:/a//b",
            "a://",
        ),
        ("//h", "/a", "", "1a:b", "a:b c", "a://h:x", "a:%4", "a:%zz", "a://[::1", "a:é", "x:[", "a:\\b"),
    ),
    "uri-reference": (
        ("", "a", "../a;b", "?q", "#f", "//h/p", "a:b", "./a:b"),
        ("1:b", "a b", "%", "//h:x/", "#a#b", "[", "é"),
    ),
    "iri": (("http://é.fr/ü?\ue000#ñ", "urn:π"), ("π", "/é", "a:b#\ue000", "a:\ufffe", "a: b")),
    "iri-reference": (("π", "", "//é/ü", "#ñ"), ("1:ü", "\\\\é", "<é>")),
    "uri-template": (
        ("", "/{a}", "{+a,b}{?c*}{&d:20}", "x%20y/é", "{a.b_1}{%41}"),
        ("{", "}", "{}", "{a", "{a,}", "{a:0}", "{a:10000}", "{a b}", "<", "%4", "{a*:3}"),
    ),
    "uuid": (("00112233-4455-6677-8899-AAbbCCddEEff",), ("00112233445566778899aabbccddeeff", "{0}", "")),
    "json-pointer": (("", "/", "/a~0b/~1/é\n", "//"), ("a", "#/a", "/~", "/~2", "~0")),
    "relative-json-pointer": (("0", "12/a/b", "3#", "1/"), ("", "/a", "01", "-1", "1#/a", "1a")),
}
SLOW = {
    "date-time",
    "email",
    "hostname",
    "hostname-ldh",
    "idn-email",
    "ipv6",
    "iri",
    "iri-reference",
    "time",
    "uri",
    "uri-reference",
}


def fits(name: str, text: str) -> bool:
    found = format_text(name)
    assert found is not None
    return dfa.accepts(found.dfa, text) and (found.max_chars is None or len(text) <= found.max_chars)


@pytest.mark.slow
def test_packed_tables_are_what_the_definitions_make(request):
    """`--update-golden` writes the tables anew."""
    automata = {name: define_format(name) for name in sorted(SLOW)} | {
        "regex class member": define_class_member(),
        "regex without groups and classes": define_flat(),
    }
    made = json.dumps({name: pack(dfa) for name, dfa in automata.items()}, indent=1) + "\n"
    if request.config.getoption("--update-golden"):
        packed.FILE.write_text(made, encoding="ascii")
    else:
        assert packed.FILE.read_text(encoding="ascii") == made


@pytest.mark.parametrize("name", sorted(format_names()))
def test_automata_are_canonical_and_can_be_packed(name):
    automaton = format_text(name).dfa
    assert dfa.build(dfa.labelled(automaton), automaton.accepting) == automaton == unpack(pack(automaton))


@pytest.mark.parametrize("name", sorted(format_names()))
def test_texts_are_told_apart(name):
    valid, invalid = CASES[name]
    for text in valid:
        assert fits(name, text), text
    for text in invalid:
        assert not fits(name, text), text


def test_unknown_formats_have_no_automaton():
    assert format_text("colour") is None and format_text("regex") is None


# --- dates and times ------------------------------------------------------------------------------------


@given(st.dates())
def test_every_day_is_a_date(day):
    assert fits("date", day.isoformat())


@given(st.integers(1, 9999), st.integers(0, 13), st.integers(0, 32))
def test_a_date_is_a_day_of_the_calendar(year, month, day):
    try:
        datetime.date(year, month, day)
        known = True
    except ValueError:
        known = False
    assert fits("date", f"{year:04}-{month:02}-{day:02}") == known


@given(
    st.integers(0, 24),
    st.integers(0, 60),
    st.integers(0, 61),
    st.sampled_from("+-"),
    st.integers(0, 24),
    st.sampled_from((0, 15, 30, 45, 60)),
)
def test_a_time_has_its_leap_second_at_midnight_of_utc(hour, minute, second, sign, hours, minutes):
    offset = (hours * 60 + minutes) * (1 if sign == "+" else -1)
    known = hour < 24 and minute < 60 and hours < 24 and minutes < 60
    if second >= 60:
        known &= second == 60 and (hour * 60 + minute - offset) % 1440 == 1439
    text = f"{hour:02}:{minute:02}:{second:02}.5{sign}{hours:02}:{minutes:02}"
    assert fits("time", text) == known
    assert fits("date-time", "1998-12-31T" + text) == known


# --- addresses ------------------------------------------------------------------------------------------


@given(st.ip_addresses(v=4) | st.ip_addresses(v=6), st.booleans())
def test_every_address_is_one(address, exploded):
    text = address.exploded if exploded else str(address)
    assert fits(f"ipv{address.version}", text)
    assert fits("uri", f"http://{text}/" if address.version == 4 else f"http://[{text}]/")


@given(st.text("0123af:.", max_size=16))
def test_addresses_are_those_of_the_standard_library(text):
    for version, make in ((4, ipaddress.IPv4Address), (6, ipaddress.IPv6Address)):
        try:
            make(text)
            known = True
        except ValueError:
            known = False
        assert fits(f"ipv{version}", text) == known


# --- hosts and mailboxes --------------------------------------------------------------------------------


def test_lengths_are_bounded_in_octets():
    label = "a" * 63
    assert fits("hostname", f"{label}.{label}.{label}.{'a' * 61}")
    assert not fits("hostname", f"{label}.{label}.{label}.{'a' * 62}")
    assert fits("email", "a" * 64 + "@b") and not fits("email", "a" * 65 + "@b")
    assert fits("idn-email", "é" * 32 + "@b") and not fits("idn-email", "é" * 32 + "a@b")
    assert fits("idn-email", "😀" * 16 + "@b") and not fits("idn-email", "😀" * 17 + "@b")


@given(st.emails())
def test_mailboxes_of_common_form_are_found(address):
    assert fits("email", address)
