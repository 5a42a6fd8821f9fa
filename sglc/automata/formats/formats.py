r"""The formats of JSON Schema as automata: `format_text(name)`.

Each is the grammar of its RFC. Where a grammar is not regular, what is left out is written here:

* `time`, `date-time`: leap seconds occur with offsets of full quarters of an hour (all that are in use).
* `hostname`: no labels that begin with `xn--` (A-labels, RFC 5890); whether they decode to a name that is
  allowed is not regular. `email` has them, by their letters, digits and hyphens alone, as RFC 5321 does.
  (`hostname-ldh` has them too: the format as drafts 4 to 6 know it, RFC 1034 alone.)
* `regex` is in `format_terms`. `idn-hostname` is nowhere: how long a label is when it is encoded, and what
  its encoded form stands for, is not regular.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from sglc.automata.charset import Ranges, meet
from sglc.automata.dfa.nfa_union import concatenate
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.dfa.operations import build, union
from sglc.automata.formats.packed import packed_automaton
from sglc.automata.regex.compile import compile_regex
from sglc.automata.term import CharDfa


@dataclass(frozen=True, slots=True)
class Format:
    """Texts that `dfa` accepts, with at most `max_chars` characters."""

    dfa: CharDfa
    max_chars: int | None = None


@cache
def format_text(name: str) -> Format | None:
    """The texts of a format; None for a name that is unknown, or has no automaton."""
    make = _FORMATS.get(name)
    if make is None:
        return None
    return Format(packed_automaton(name) or make(), _MAX_CHARS.get(name))


def define_format(name: str) -> CharDfa:
    """The automaton made from its definition; some take so long that they are kept packed."""
    return _FORMATS[name]()


def format_names() -> frozenset[str]:
    """The formats that have a definition."""
    return frozenset(_FORMATS)


# --- dates and times (RFC 3339) -------------------------------------------------------------------------

_LEAP = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = (
    "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    "|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))"
    f"|{_LEAP}-02-29)"
)
_HOUR_MINUTE = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"


def _time() -> CharDfa:
    fraction = r"(?:\.[0-9]+)?"
    usual = f"{_HOUR_MINUTE}:[0-5][0-9]{fraction}(?:[Zz]|[+-]{_HOUR_MINUTE})"
    # The second 60 ends the day in UTC: 23:59 and the offset make the local time.
    offsets: dict[str, list[str]] = {"23:59": ["[Zz]"]}
    for quarter in range(96):
        offset = f"{quarter // 4:02}:{quarter % 4 * 15:02}"
        for sign, minutes in ((r"\+", quarter * 15), ("-", -quarter * 15)):
            local = (23 * 60 + 59 + minutes) % 1440
            offsets.setdefault(f"{local // 60:02}:{local % 60:02}", []).append(sign + offset)
    leap = "|".join(f"{local}:60{fraction}(?:{'|'.join(ends)})" for local, ends in offsets.items())
    return union(compile_regex(usual), compile_regex(leap))


def _duration() -> CharDfa:
    time = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
    date = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
    return compile_regex(f"P(?:{date}(?:{time})?|{time}|[0-9]+W)")


# --- hosts and addresses --------------------------------------------------------------------------------

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_LABEL = "[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?"
_HEX = "[0-9A-Fa-f]"


def _ipv6() -> str:
    """RFC 3986 section 3.2.2, which has the text form of RFC 4291."""
    group = f"{_HEX}{{1,4}}"
    last = f"(?:{group}:{group}|{_IPV4})"
    arms = [f"(?:{group}:){{6}}{last}", f"::(?:{group}:){{5}}{last}"]
    for count in range(5):
        before = f"(?:(?:{group}:){{0,{count}}}{group})?"
        arms.append(f"{before}::(?:{group}:){{{4 - count}}}{last}")
    arms.append(f"(?:(?:{group}:){{0,5}}{group})?::{group}")
    arms.append(f"(?:(?:{group}:){{0,6}}{group})?::")
    return "(?:" + "|".join(arms) + ")"


def _hostname(before_label: str) -> CharDfa:
    """RFC 1123 section 2.1 and RFC 1035 section 2.3.4."""
    label = before_label + _LABEL
    return compile_regex(rf"{label}(?:\.{label})*")


# --- e-mail (RFC 5321 section 4.1.2, RFC 6531 section 3.3) ----------------------------------------------

_LOCAL_OCTETS = 64
_BEYOND_ASCII = r"\u{80}-\u{10FFFF}"


def _email(more: str = "", domain_more: str = "") -> CharDfa:
    """`more`: characters beyond ASCII in the part before the @; `domain_more`: in labels behind it."""
    word = rf"[0-9A-Za-z!#$%&'*+/=?^_`{{|}}~{more}-]+"
    quoted = rf'"(?:[ !#-\[\]-~{more}]|\\[ -~])*"'
    local = compile_regex(rf"(?:{word}(?:\.{word})*|{quoted})")
    ends = f"[0-9A-Za-z{domain_more}]"
    label = f"{ends}(?:[0-9A-Za-z{domain_more}-]{{0,61}}{ends})?"
    domain = rf"@(?:{label}(?:\.{label})*|\[(?:{_IPV4}|IPv6:{_ipv6()})\])"
    return concatenate(_at_most_octets(local, _LOCAL_OCTETS), compile_regex(domain))


def _at_most_octets(dfa: CharDfa, most: int) -> CharDfa:
    """The words of at most so many bytes in UTF-8."""
    number = Numbering((0, 0))
    rows: list[list[tuple[Ranges, int]]] = []
    for state, octets in number.order:
        row: list[tuple[Ranges, int]] = []
        for low, high, target in dfa.edges[state]:
            for size, these in enumerate(_UTF8, 1):
                part = meet(((low, high),), these)
                if part and octets + size <= most:
                    row.append((part, number[target, octets + size]))
        rows.append(row)
    return build(rows, [at for (state, _), at in number.items() if state in dfa.accepting])


_UTF8: tuple[Ranges, ...] = (((0, 0x7F),), ((0x80, 0x7FF),), ((0x800, 0xFFFF),), ((0x10000, 0x10FFFF),))
"""Characters by the length of their UTF-8 form."""


# --- URI (RFC 3986), IRI (RFC 3987), URI Template (RFC 6570) --------------------------------------------

_UCS = (
    r"\u{A0}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFEF}"
    + "".join(rf"\u{{{plane:X}0000}}-\u{{{plane:X}FFFD}}" for plane in range(1, 0xE))
    + r"\u{E1000}-\u{EFFFD}"
)
_PRIVATE = r"\u{E000}-\u{F8FF}\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}"
_SCHEME = "[A-Za-z][0-9A-Za-z+.-]*"
_PERCENT = f"%{_HEX}{{2}}"


def _uri(*, reference: bool, international: bool) -> CharDfa:
    ucs, private = (_UCS, _PRIVATE) if international else ("", "")
    plain = rf"0-9A-Za-z._~{ucs}!$&'()*+,;=\-"
    char = f"(?:[{plain}:@]|{_PERCENT})"
    query = f"(?:[{plain}:@/?{private}]|{_PERCENT})*"
    fragment = f"(?:[{plain}:@/?]|{_PERCENT})*"
    future = r"[Vv][0-9A-Fa-f]+\.[0-9A-Za-z._~!$&'()*+,;=:-]+"
    host = rf"(?:\[(?:{_ipv6()}|{future})\]|(?:[{plain}]|{_PERCENT})*)"
    authority = f"(?:(?:[{plain}:]|{_PERCENT})*@)?{host}(?::[0-9]*)?"
    slashed = f"(?:/{char}*)*"
    absolute = f"/(?:{char}+{slashed})?"
    tail = rf"(?:\?{query})?(?:#{fragment})?"
    whole = f"{_SCHEME}:(?://{authority}{slashed}|{absolute}|{char}+{slashed}|){tail}"
    if not reference:
        return compile_regex(whole)
    first = f"(?:[{plain}@]|{_PERCENT})+"
    relative = f"(?://{authority}{slashed}|{absolute}|{first}{slashed}|){tail}"
    return compile_regex(f"{whole}|{relative}")


def _uri_template() -> CharDfa:
    """With the apostrophe among the literals, as erratum 6937 has it."""
    literal = rf"[!#$&'()*+,./:;=?@\[\]_~0-9A-Za-z{_UCS}{_PRIVATE}-]|{_PERCENT}"
    char = f"(?:[0-9A-Za-z_]|{_PERCENT})"
    variable = rf"{char}(?:\.?{char})*(?::[1-9][0-9]{{0,3}}|\*)?"
    return compile_regex(rf"(?:{literal}|\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\}})*")


# --- the rest -------------------------------------------------------------------------------------------

_POINTER = "(?:/(?:[^/~]|~[01])*)*"


def _regex(pattern: str) -> Callable[[], CharDfa]:
    return lambda: compile_regex(pattern)


_MAX_CHARS = {"hostname": 253, "hostname-ldh": 253}
"""The 255 octets of a name leave 253 for its text."""

_FORMATS: dict[str, Callable[[], CharDfa]] = {
    "date": _regex(_DATE),
    "date-time": lambda: concatenate(compile_regex(_DATE + "[Tt]"), _time()),
    "time": _time,
    "duration": _duration,
    "email": _email,
    "hostname": lambda: _hostname(r"(?![Xx][Nn]--)"),
    "hostname-ldh": lambda: _hostname(""),
    "idn-email": lambda: _email(_BEYOND_ASCII, _BEYOND_ASCII),
    "ipv4": _regex(_IPV4),
    "ipv6": lambda: compile_regex(_ipv6()),
    "iri": lambda: _uri(reference=False, international=True),
    "iri-reference": lambda: _uri(reference=True, international=True),
    "json-pointer": _regex(_POINTER),
    "relative-json-pointer": _regex(f"(?:0|[1-9][0-9]*)(?:#|{_POINTER})"),
    "uri": lambda: _uri(reference=False, international=False),
    "uri-reference": lambda: _uri(reference=True, international=False),
    "uri-template": _uri_template,
    "uuid": _regex(f"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
}
