r"""Formats that are no regular languages, as terms: `format_language(name)`.

* `regex`: patterns of ECMA-262 in Unicode mode. Left out, though it has them: backreferences, `\0`, groups
  that set flags, more than one named group, counts `{n,m}` with `n` above 99, a dash as an end of a range, a
  range from a character above U+FFFF. A range from one above U+00FF has to show its order in the number of
  256s (`\u04XX-\u05YY`, `\u0400-\u04YY`), or of 16s between characters up to U+05FF that are not escaped.
"""

from __future__ import annotations

import re
from functools import cache

from sglc.automata.charset import LAST, invert, meet, ranges
from sglc.automata.dfa.operations import all_words, words
from sglc.automata.formats.packed import packed_automaton
from sglc.automata.regex.compile import compile_node, compile_regex
from sglc.automata.regex.parse import parse_regex
from sglc.automata.regex.tree import Either, Join, Loop
from sglc.automata.term import CharDfa, Choice, Encoding, Language, Repeat, Rule, Sequence, Term, Text
from sglc.automata.unicode.properties import property_names


@cache
def format_language(name: str, encoding: Encoding = "raw") -> Language | None:
    """The texts of a format as they are written in an encoding; None for a name that is not here."""
    return _regex(encoding) if name in GRAMMARS else None


GRAMMARS = frozenset({"regex"})
"""Names of formats that are here."""


_HEX = "[0-9A-Fa-f]"
_CODE = rf"x{_HEX}{{2}}|u{_HEX}{{4}}|u\{{0*(?:10{_HEX}{{4}}|{_HEX}{{1,5}})\}}"
_ESCAPE = rf"[dDsSwWfnrtv^$\\.*+?()\[\]{{}}|/]|c[A-Za-z]|{_CODE}"
_CHARACTER = rf"[^\^$\\*+?()\[\]{{}}|]|\\(?:{_ESCAPE})"


def _regex(encoding: Encoding) -> Language:
    def text(dfa: CharDfa) -> Term:
        return Text(dfa, encoding)

    def written(*texts: str) -> Term:
        return text(words(texts))

    def part(name: str) -> Term:
        dfa = packed_automaton(f"regex {name}")
        assert dfa is not None
        return text(dfa)

    closed, quantified = written(")"), part("quantifier")
    named_set = Sequence((written(r"\p{", r"\P{"), text(words(property_names())), written("}")))
    plain = Text(all_words(_PLAIN_MEMBERS), encoding, 1)
    member = Choice((plain, part("class member"), named_set))
    char_class = Sequence((written("[", "[^", "[-", "[^-"), Repeat(member), written("]", "-]")))
    flat = part("without groups and classes")
    name = text(compile_regex(r"\(\?<[\p{ID_Start}$_][\p{ID_Continue}$]*>"))
    group = written("(", "(?:")
    look = written("(?=", "(?!", "(?<=", "(?<!")
    unnamed, naming = Rule("regex"), Rule("regex with a name")
    nested = Choice(
        (
            Sequence((char_class, quantified)),
            Sequence((group, unnamed, closed, quantified)),
            Sequence((look, unnamed, closed)),
        )
    )
    some = Sequence((flat, Repeat(Sequence((nested, flat)))))
    named = Choice(
        (
            Sequence((name, unnamed, closed, quantified)),
            Sequence((group, naming, closed, quantified)),
            Sequence((look, naming, closed)),
        )
    )
    rules: dict[str, Term] = {"regex": some, "regex with a name": Sequence((some, named, some))}
    return Language(Choice((unnamed, naming)), rules)


def define_flat() -> CharDfa:
    """What has neither groups nor classes, as far as it goes: most of a pattern is one lexeme."""
    names = Either(tuple([parse_regex(re.escape(name)) for name in sorted(property_names())]))
    named = Join((parse_regex(r"\\[pP]\{"), names, parse_regex(r"\}")))
    single = Either((parse_regex(_CHARACTER), named))
    places = parse_regex(r"[|^$]|\\[bB]")
    return compile_node(Loop(Either((places, Join((single, parse_regex(_quantifier()))))), 0, None, 0))


def define_quantifier() -> CharDfa:
    """A quantifier or nothing."""
    return compile_regex(_quantifier())


def _quantifier() -> str:
    counts = ["[0-9]+,?"]
    for low in range(100):
        tens, ones = divmod(low, 10)
        more = f"[{ones}-9]|[1-9][0-9]{{1,5}}"
        if tens:
            more = f"{tens}[{ones}-9]|[1-9][0-9]{{2,5}}" + (f"|[{tens + 1}-9][0-9]" if tens < 9 else "")
        counts.append(f"{low},(?:{more})")
    return rf"(?:(?:[*+?]|\{{(?:{'|'.join(counts)})\}})\??)?"


# --- members of classes ---------------------------------------------------------------------------------

_NAMED = dict(zip("\f\n\r\t\v\b", "fnrtvb", strict=True)) | {char: char for char in r"^$\.*+?()[]{}|/-"}
_PLAIN_MEMBERS = invert(ranges([(0x2D, 0x2D), (0x5C, 0x5D)]))
_ALPHABETS = 0x600
_ASTRAL = rf"u\{{0*(?:10|[1-9A-Fa-f]){_HEX}{{4}}\}}"


def define_class_member() -> CharDfa:
    """An escape, a class such as `\\d`, or a range that is in order (and a dash that may come after it).

    Characters that stand for themselves are `_PLAIN_MEMBERS`: many of them are read as one lexeme.
    """
    members = [rf"\\(?:{_ESCAPE}|[b-])"]
    for low in range(0x100):
        members.append(f"{_spelled(low)}-(?:{_at_least(low)})-?")
    for low in range(0x100, _ALPHABETS, 0x10):
        members.append(f"{_bare(low, low + 15)}-(?:{_bare(low + 16, LAST)}|{_at_least((low | 0xFF) + 1)})-?")
    for high in range(1, 0x101):
        # Characters above the first one of the 256s before, up to the first one of these.
        first, last = max((high - 1) * 0x100 + 1, _ALPHABETS), min(high * 0x100, 0xFFFF)
        lows = [rf"\\u{_exactly(high - 1)}{_two_digits(1)}"] if high > 1 else []
        if high < 0x100:
            lows.append(rf"\\u{_exactly(high)}00")
        if first <= last and not 0xD800 <= first <= last <= 0xDFFF:
            lows.append(_bare(first, last))
        members.append(f"(?:{'|'.join(lows)})-(?:{_at_least(high * 0x100)})-?")
    return compile_node(Either(tuple(parse_regex(each, dialect="ecma") for each in members)), limit=200_000)


def _spelled(code: int) -> str:
    """The ways to write a character up to U+00FF in a class."""
    ways = [rf"\\x{_exactly(code)}", rf"\\u00{_exactly(code)}"]
    if chr(code) not in "]\\-":
        ways.append(rf"\u{{{code:X}}}")
    if chr(code) in _NAMED:
        ways.append(rf"\\\x{ord(_NAMED[chr(code)]):02X}")
    return f"(?:{'|'.join(ways)})"


def _at_least(code: int) -> str:
    """The ways to write the characters from one on, which is up to U+00FF or a multiple of 256."""
    ways = [_bare(code, LAST), rf"\\{_ASTRAL}"]
    if code < 0x100:
        pair = _two_digits(code)
        ways += [rf"\\x{pair}", rf"\\u00{pair}", rf"\\u{_two_digits(1)}{_HEX}{{2}}"]
        named = [letter for char, letter in _NAMED.items() if ord(char) >= code]
        if named:
            ways.append(r"\\(?:" + "|".join(rf"\x{ord(letter):02X}" for letter in named) + ")")
    elif code < 0x10000:
        ways.append(rf"\\u{_two_digits(code >> 8)}{_HEX}{{2}}")
    return "|".join(ways)


def _bare(first: int, last: int) -> str:
    """The characters of a span that may stand in a class as they are."""
    spans = meet(_PLAIN_MEMBERS, ((first, last),))
    return "[" + "".join(rf"\u{{{low:X}}}-\u{{{high:X}}}" for low, high in spans) + "]"


def _exactly(number: int) -> str:
    """A number in two hexadecimal digits."""
    return _digit(number >> 4, number >> 4) + _digit(number & 15, number & 15)


def _two_digits(least: int) -> str:
    """Two hexadecimal digits from a number on."""
    tens, ones = divmod(least, 16)
    above = f"|{_digit(tens + 1)}{_HEX}" if tens < 15 else ""
    return f"(?:{_digit(tens, tens)}{_digit(ones)}{above})"


def _digit(least: int, most: int = 15) -> str:
    digits = "0123456789ABCDEF"[least : most + 1]
    return f"[{digits}{digits.lower()}]"
