r"""Formats that are no regular languages, as terms: `format_language(name)`.

* `regex`: patterns of ECMA-262 in Unicode mode. Left out, though it has them: backreferences, `\0`, groups
  that set flags, more than one named group, counts `{n,m}` with `n` above 99, a dash as an end of a range, a
  range from a character above U+FFFF. A range from one above U+00FF has to show its order in the number of
  256s (`\u04XX-\u05YY`, `\u0400-\u04YY`), or of 16s between characters up to U+05FF that are not escaped.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from sglc.automata.charset import LAST, invert, meet, ranges
from sglc.automata.dfa.operations import all_words, build, labelled, walk, words
from sglc.automata.formats.packed import packed_automaton
from sglc.automata.regex.compile import compile_node, compile_regex
from sglc.automata.regex.parse import parse_regex
from sglc.automata.regex.tree import Either, Join, Loop, Node
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
    """What opens or closes a group or a class is one lexeme with all behind it that has neither, and so is a
    member of a class with the plain characters behind it: lexemes end at few places of a token."""
    flat, member = _packed("without groups and classes"), _packed("class member")
    behind_character = walk(flat, "a")
    assert behind_character is not None

    def before_flat(before: CharDfa, quantified: bool = False) -> Term:
        return Text(_continued(before, flat, behind_character if quantified else 0), encoding)

    class_begin = compile_regex(rf"\[(?:\^?-)?{_bare(0, LAST)}*", dialect="ecma")
    class_end = before_flat(words(["]", "-]"]), quantified=True)
    char_class = Sequence((Text(class_begin, encoding), Repeat(Text(member, encoding)), class_end))
    bracket = Text(words(["("]), encoding)
    group, group_end = before_flat(words(["", "?:"])), before_flat(words([")"]), quantified=True)
    look, look_end = before_flat(words(["?=", "?!", "?<=", "?<!"])), before_flat(words([")"]))
    name = before_flat(compile_regex(r"\?<[\p{ID_Start}$_][\p{ID_Continue}$]*>"))

    def brackets(inside: Term, *others: Term) -> Term:
        grouped, looked = Sequence((group, inside, group_end)), Sequence((look, inside, look_end))
        return Sequence((bracket, Choice((grouped, looked, *others))))

    unnamed, naming = Rule("regex"), Rule("regex with a name")
    named = brackets(naming, Sequence((name, unnamed, group_end)))
    rules: dict[str, Term] = {
        unnamed.name: Repeat(Choice((char_class, brackets(unnamed)))),
        naming.name: Sequence((unnamed, named, unnamed)),
    }
    return Language(Sequence((Text(flat, encoding), Choice((unnamed, naming)))), rules)


def _packed(name: str) -> CharDfa:
    dfa = packed_automaton(f"regex {name}")
    assert dfa is not None
    return dfa


def _continued(before: CharDfa, dfa: CharDfa, state: int) -> CharDfa:
    """A word of `before`, then what `dfa` reads from a state on. That begins with no character with which a
    word of `before` goes on to another one."""
    own = len(before.edges)
    rows = [tuple([(low, high, own + target) for low, high, target in row]) for row in dfa.edges]
    ends = before.accepting
    begin = [tuple(sorted(row + rows[state])) if at in ends else row for at, row in enumerate(before.edges)]
    assert all(left[1] < right[0] for row in begin for left, right in pairwise(row))
    accepting = frozenset([own + each for each in dfa.accepting])
    return CharDfa((*begin, *rows), accepting | ends if state in dfa.accepting else accepting)


def define_flat() -> CharDfa:
    """What has neither groups nor classes, as far as it goes: most of a pattern is one lexeme."""
    single = Either((parse_regex(_CHARACTER), _named_set()))
    places = parse_regex(r"[|^$]|\\[bB]")
    return compile_node(Loop(Either((places, Join((single, parse_regex(_quantifier()))))), 0, None, 0))


def _named_set() -> Node:
    """A set by the name of a property."""
    names = Either(tuple([parse_regex(re.escape(name)) for name in sorted(property_names())]))
    return Join((parse_regex(r"\\[pP]\{"), names, parse_regex(r"\}")))


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
    """An escape, a class such as `\\d` or `\\p{L}`, or a range that is in order (with a dash that may come
    after it), and all members behind it that are characters which stand for themselves.
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
    every = [parse_regex(each, dialect="ecma") for each in members]
    one = compile_node(Either((*every, _named_set())), limit=200_000)
    some = _continued(one, all_words(_PLAIN_MEMBERS), 0)
    return build(labelled(some), some.accepting)


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
