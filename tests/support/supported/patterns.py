"""The page that says what of regular expressions is supported, found out by reading an example of each.

`make docs` writes it to `docs/patterns.md`.
"""

from __future__ import annotations

from sglc.automata.dfa.subset_construction import MOST_STATES
from sglc.automata.regex.captures import MOST_WORDS
from sglc.automata.regex.compile import DEFAULT_LIMIT
from sglc.automata.regex.dialects import DIALECTS, DialectName
from sglc.automata.regex.lazy_nfa import MAX_SIZE
from sglc.automata.regex.parse import MAX_COUNT, MAX_DEPTH, MAX_PATTERN, parse_regex
from sglc.automata.regex.to_term import EAGER_STATES, MAX_UNROLLED
from sglc.automata.regex.tree import RegexError

Feature = tuple[str, str]
"""(what it is, an example)."""

FEATURES: dict[str, tuple[Feature, ...]] = {
    "Characters": (
        ("itself", "a"),
        ("any but a line's end", "."),
        ("escaped punctuation", r"\."),
        ("control characters", r"\t\n\r\f\v"),
        ("the bell", r"\a"),
        ("control letter", r"\cJ"),
        ("null", r"\0"),
        ("octal", r"\101"),
        ("two hexadecimal digits", r"\x41"),
        ("four hexadecimal digits", r"\u00e9"),
        ("a surrogate pair", r"\ud83d\ude00"),
        ("any code point", r"\u{1F600}"),
        ("eight hexadecimal digits", r"\U0001F600"),
        ("by name", r"\N{DIGIT ONE}"),
        ("escaped letters that mean nothing", r"\y"),
        ("lone `{` and `}`", "a{b}"),
        ("lone `]`", "a]"),
    ),
    "Sets": (
        ("digits, words, white space", r"\d\w\s"),
        ("the others", r"\D\W\S"),
        ("of characters and ranges", "[a-z_]"),
        ("negated", "[^a-z]"),
        ("with classes inside", r"[\d_]"),
        ("a class as the end of a range", r"[\w-.]"),
        ("empty", "[]"),
        ("everything", "[^]"),
        ("`]` first", "[]a]"),
        ("backspace inside", r"[\b]"),
        ("`[:` inside, two characters like others", "[[:alpha:]]"),
        ("`--` and `[` inside, characters like others", "[a-z--[aeiou]]"),
        ("Unicode category", r"\p{Lu}"),
        ("Unicode script", r"\p{Script=Greek}"),
        ("binary property", r"\P{Alphabetic}"),
    ),
    "Places": (
        ("start and end", "^a$"),
        ("start and end of the text only", r"\Aa\Z"),
        ("edge of a word", r"\ba\B"),
        ("lookahead", "(?=a)"),
        ("negative lookahead", "(?!a)"),
        ("lookbehind", "(?<=a)b"),
        ("negative lookbehind", "(?<!a)b"),
        ("lookbehind of any length", "(?<=a+)b"),
        ("repeated lookahead", "(?=a)*b"),
        ("where the last match ended", r"\Ga"),
    ),
    "Repeats": (
        ("any number, some, one or none", "a*b+c?"),
        ("so many", "a{3}b{2,}c{2,4}"),
        ("at most", "a{,3}"),
        ("lazy (matches the same texts)", "a*?b+?c??"),
        ("possessive", "a*+"),
    ),
    "Groups": (
        ("alternatives", "a|b"),
        ("capturing", "(a)"),
        ("not capturing", "(?:a)"),
        ("named", "(?<n>a)"),
        ("named in Python's way", "(?P<n>a)"),
        ("atomic", "(?>a|ab)c"),
        ("reference to a group of few texts", r"(['\"])a*\1"),
        ("reference by name", r"(?<n>a|b)\k<n>"),
        ("reference in Python's way", r"(?P<n>a|b)(?P=n)"),
        ("reference to a group of any text", r"(a*)b\1"),
        ("conditional", "(a)?(?(1)b|c)"),
        ("recursive", "(a(?R)?b)"),
        ("comment", "(?#remark)a"),
    ),
    "Flags": (
        ("any case", "(?i)a"),
        ("lines", "(?m)^a$"),
        ("`.` is everything", "(?s)."),
        ("verbose", "(?x) a # b"),
        ("ASCII classes", r"(?a)\w"),
        ("Unicode classes", r"(?u)\w"),
        ("in a group", "(?i:a)b"),
        ("off in a group", "(?i)a(?-i:b)"),
        ("in the middle", "a(?i)b"),
        ("reference where case is ignored", r"(?i)(a|b)\1"),
    ),
}

NAMES: tuple[DialectName, ...] = ("sgl", "ecma", "python")

_INTRODUCTION = """\
# Patterns

A regular expression becomes exactly the set of the texts that it matches, character by character over all of
Unicode; what is not regular is refused with the position and the reason, never approximated. There are three
dialects:

- `ecma` is ECMA-262 in Unicode mode, as JSON Schema's `pattern` asks for, with the leniency of its Annex B
  where that has one meaning only. A pattern of a schema matches anywhere in the text.
- `python` is the language of Python's `re` for str, matched as a whole (`fullmatch`).
- `sgl` is what both read alike: ASCII classes, `^` and `$` at the ends of the text, no character that is
  literal by accident. Patterns in programs and `compile_constraint(regex=…)` are written in it; they match
  the whole text.

The tables are made by reading each example in each dialect.

"""

_MEANING = f"""\
## What is regular

Lookahead and lookbehind are regular wherever they stand, and of any length. Lazy quantifiers match the same
texts as greedy ones. A *backreference* is regular where its group has finitely many texts (up to
{MOST_WORDS}, without places of its own) and stands before it in the same sequence or in one around it:
`(["']).*\\1` means `".*"|'.*'`. An *atomic group* matches what a backtracking matcher tries first; that is
said with negative lookahead, and refused where an earlier part would have to give back for a later one.

## How large patterns are kept small

- A loop with more than {MAX_UNROLLED} copies of its characters is counted and not unrolled: `[a-z]{{1,3000}}`
  has one state and a counter. So the bound of a repeat costs nothing.
- A pattern becomes a minimal automaton if that has up to {EAGER_STATES:,} states. A larger one is made
  deterministic state by state, as texts get there: `(a|b)*a(a|b){{14}}`, with 32,768 states, compiles in
  milliseconds. All the same no mask ever leads to a dead end, for every state of the automaton that it is
  made from reaches the end of a word.
- Patterns with lookaround, and patterns that must be intersected with others (`pattern` together with
  `minLength`, `not`, another `pattern`, patterns of keys), are made deterministic at once.

## Limits

| | |
|---|---|
| characters of a pattern | {MAX_PATTERN:,} |
| groups inside groups | {MAX_DEPTH} |
| a count | {MAX_COUNT:,} |
| states of an automaton that is made at once | {DEFAULT_LIMIT:,} |
| states, edges and ends of silent moves of one that is made as texts go | {MAX_SIZE:,} |
| states that texts may lead to in such a one | {MOST_STATES:,} |
| texts of a group that is referred to | {MOST_WORDS} |

Work is bounded in proportion to the states, and counted, not timed: a pattern is taken or refused alike on
every machine.

"""


def page() -> str:
    """The page in Markdown."""
    return _INTRODUCTION + "".join(map(_table, FEATURES)) + _refusals() + _MEANING.rstrip() + "\n"


def refusal(pattern: str, dialect: DialectName) -> str | None:
    """Why an example is refused in a dialect; None if it is not."""
    try:
        parse_regex(pattern, dialect=dialect)
    except RegexError as fault:
        return fault.reason
    return None


def _table(section: str) -> str:
    rows = [f"## {section}", "", f"| | example | {' | '.join(DIALECTS)} |", "|---|---|---|---|---|"]
    for name, example in FEATURES[section]:
        marks = ["x" if refusal(example, dialect) is None else " " for dialect in NAMES]
        rows.append(f"| {name} | {_code(example)} | {' | '.join(marks)} |")
    return "\n".join(rows) + "\n\n"


def _refusals() -> str:
    rows = ["## What is said of the others", "", "| example | dialect | reason |", "|---|---|---|"]
    for features in FEATURES.values():
        for _, example in features:
            reasons: dict[str, list[str]] = {}
            for dialect in NAMES:
                reason = refusal(example, dialect)
                if reason is not None:
                    reasons.setdefault(reason, []).append(dialect)
            for reason, dialects in reasons.items():
                shown = reason.replace("|", "\\|").replace("\\{", "`\\{`").replace("\\]", "`\\]`")
                rows.append(f"| {_code(example)} | {', '.join(dialects)} | {shown} |")
    return "\n".join(rows) + "\n\n"


def _code(example: str) -> str:
    return "`" + example.replace("|", "\\|") + "`"
