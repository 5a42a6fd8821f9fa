"""The grammar of colours, as editors have it: rules that match text of a line, and regions with rules
inside.

Everything is said once here, in regular expressions of Python's dialect, line by line; the writers put it
into the form of their editor. A rule begins at the blanks before its token, so that what stands before these
is at hand.
"""

from __future__ import annotations

import re

from sglc.highlight.core.words import WordRule, word_rules
from sglc.immutable import value
from sglc.syntax.lexer.keywords import HARD
from sglc.syntax.lexer.layout import LINE_WORDS
from sglc.syntax.tables import Tables


@value
class Match:
    """Text of one line; `groups` are the classes of its groups, "" for none."""

    regex: str
    groups: tuple[str, ...]


@value
class Region:
    """Text from `begin` to `end`, of the class `inside`, coloured by the rules of the list `rules`.

    An `end` may be a place without text. It goes before the rules inside that begin at the same place.
    """

    name: str
    begin: str
    begins: tuple[str, ...]
    end: str
    ends: tuple[str, ...]
    inside: str
    rules: str


@value
class Include:
    """All rules of another list, in its order."""

    rules: str


Rule = Match | Region | Include


@value
class Grammar:
    """Lists of rules by name; `root` is where a file begins."""

    lists: dict[str, tuple[Rule, ...]]


BLANK = r"[ \t]*"
END_OF_LINE = r"(?=\r?$)"
NAME = r"[^\W\d]\w*"
NUMBER = r"\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?"
OPERATOR = r"\.\.[=<]?|==|!=|<=|>=|->|=>|\*\*|//|[-+*/]=|[-+*/%<>=|?]"
_REGEX_AFTER = "matching matches skip return in and or not if elif else".split()
_SLASHED = r"/(?:(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\[])+/|(?:\\.|[^/\\])+/)"
_INSIDE_BODIES = frozenset("let var if for while return match case".split())
_TOP_LEVEL = rf"^(?=(?:{'|'.join(sorted(LINE_WORDS - _INSIDE_BODIES))})\b(?![ \t]*[:,=.]))"
_DECLARED = (
    ("fn|part|aside", "function name"),
    ("record|enum|union|type|error|grammar", "type name"),
)


def colours(tables: Tables) -> Grammar:
    """The grammar of colours of the language whose tables these are."""
    rules = word_rules(tables)
    lists: dict[str, tuple[Rule, ...]] = {
        "root": (
            _grammar_block(),
            Include("comments"),
            *_prompts(),
            _use(),
            *_declared(),
            _json(),
            Include("phrases"),
            Include("string start"),
            Include("regex"),
            Include("words"),
            *_brackets("bracket"),
            Include("leaves"),
        ),
        "bracket": (Include("comments"), Include("in brackets"), *_brackets("bracket"), Include("leaves")),
        "insert": (Include("in brackets"), *_brackets("insert"), Include("leaves")),
        "hole": (Match(rf"(?<=\?\{{){BLANK}({NAME})(?=[ \t]*:)", ("name",)), Include("insert")),
        "grammar": (
            Include("comments"),
            Include("string start"),
            Include("slashed"),
            Include("words of grammars"),
            Region(
                "parameters",
                r"(?<=\w)(\()",
                ("punctuation",),
                rf"(\))|{_TOP_LEVEL}",
                ("punctuation",),
                "",
                "bracket",
            ),
            *_brackets("group"),
            Include("leaves"),
        ),
        "group": (
            Include("comments"),
            Include("string start"),
            Include("slashed"),
            Include("words of grammars"),
            *_brackets("group"),
            Include("leaves"),
        ),
        "in brackets": (
            _json(),
            Include("phrases"),
            Include("string start"),
            Include("regex"),
            Include("words in brackets"),
        ),
        "comments": (
            Match(rf"({BLANK}##.*)", ("documentation",)),
            Match(rf"({BLANK}#.*)", ("comment",)),
        ),
        "phrases": _phrases(),
        "words": _words(rules, True),
        "words in brackets": _words(tuple(rule for rule in rules if rule.in_brackets), False),
        "words of grammars": _words(
            tuple(rule for rule in rules if set(rule.words) & {"skip", "one", "of"}), True
        ),
        "string start": (
            Region(
                "string", rf'{BLANK}(")', ("string",), rf'(")|{END_OF_LINE}', ("string",), "string", "string"
            ),
        ),
        "string": (
            Match(r"(\\(?:u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|.))", ("escape",)),
            _insert(),
        ),
        "regex": (_regex(False),),
        "slashed": (_regex(True),),
        "text": (
            Match(r"(\\[$?]\{)", ("escape",)),
            _insert(),
            Region("hole", r"(\?\{)", ("hole",), rf"(\}})|{END_OF_LINE}", ("hole",), "", "hole"),
            Match(r"[^\\$?\r\n]+", ()),
        ),
        "json": (
            *_json_values(),
            Match(rf"({NUMBER})", ("number",)),
            Match(r"\b(true|false|null)\b", ("constant",)),
        ),
        "string of json": (Match(r"(\\(?:u[0-9a-fA-F]{4}|.))", ("escape",)),),
        "leaves": _leaves(),
    }
    return Grammar(lists)


def _insert() -> Region:
    return Region("insert", r"(\$\{)", ("insert",), rf"(\}})|{END_OF_LINE}", ("insert",), "", "insert")


def _words(rules: tuple[WordRule, ...], starts_lines: bool) -> tuple[Match, ...]:
    """The rules of some words, those with the same places before them in one; in brackets a line goes on
    with what stood before.
    """
    grouped: dict[str, list[WordRule]] = {}
    for rule in rules:
        line = "^" if starts_lines and rule.starts_line else "" if starts_lines else r"^(?=[ \t]*\w+[^\w(])"
        before = rf"(?:{line}|{rule.before})" if line and rule.before else line or rule.before
        grouped.setdefault(before, []).append(rule)
    found = []
    for before, members in grouped.items():
        arms = [rf"({'|'.join(sorted(rule.words, key=len, reverse=True))}){rule.behind}" for rule in members]
        kinds = tuple(rule.kind for rule in members)
        # Looked at first, because what stands before takes long to tell.
        quick = "|".join(sorted(word for rule in members for word in rule.words))
        found.append(Match(rf"(?={BLANK}(?:{quick})\b){before}{BLANK}\b(?:{'|'.join(arms)})", kinds))
    return tuple(found)


def _phrases() -> tuple[Match, ...]:
    """Keywords of two words."""
    hard = "".join(rf"(?<!\b{word})" for word in sorted(HARD - {"true", "false", "null"}))
    operand = rf"(?:(?<=[)\]}}\"/?.])|{hard}(?<=\w))"
    return (
        Match(rf"{operand}[ \t]*\b(not)([ \t]+)(containing)\b", ("refinement", "", "refinement")),
        Match(r"[ \t]*\b(not)([ \t]+)(in)\b", ("word operator", "", "word operator")),
        Match(r"[ \t]*\b(or)([ \t]+)(skip)(?=[ \t]*:)", ("statement", "", "statement")),
    )


def _declared() -> tuple[Match, ...]:
    return tuple(
        Match(
            rf"(?:(?<=^{word})|(?<=\b(?:pub|ure) {word})|(?<=\" {word}))[ \t]+({NAME})(?=[ \t]*[(\[:=])",
            (kind,),
        )
        for words, kind in _DECLARED
        for word in words.split("|")
    )


def _prompts() -> tuple[Region, ...]:
    begin = rf"(?:^[ ]*|(?<=:){BLANK})"
    return (
        Region("prompt", rf"{begin}(\|)", ("pipe",), END_OF_LINE, (), "prompt", "text"),
        Region(
            "fence",
            rf'(?:^{BLANK}|(?<=:){BLANK})(text)([ \t]*)(""")(?=[ \t]*\r?$)',
            ("statement", "", "pipe"),
            rf'^{BLANK}(""")(?=[ \t]*\r?$)',
            ("pipe",),
            "prompt",
            "text",
        ),
    )


def _use() -> Match:
    return Match(r'^[ ]*(use)([ \t]+)([^\s("]+)', ("import", "", "path"))


def _grammar_block() -> Region:
    begin = rf"^(?:(pub)([ \t]+))?(grammar)(?=[ ])(?:([ \t]+)({NAME}))?"
    return Region(
        "grammar",
        begin,
        ("declaration", "", "declaration", "", "type name"),
        r"^(?=[^\s#])",
        (),
        "",
        "grammar",
    )


def _regex(always: bool) -> Match:
    """A regular expression: where a slash cannot divide, or everywhere."""
    words = "|".join(rf"(?<=\b{word})" for word in _REGEX_AFTER)
    before = "" if always else rf'(?:^|(?<=[^\w)\]}}"/\s])|{words})'
    return Match(rf"{before}{BLANK}({_SLASHED})", ("regex",))


def _json() -> Region:
    begin = r"\b(json)([ \t]+)(schema)([ \t]*)(\{)"
    return Region(
        "json", begin, ("type", "", "type", "", "punctuation"), r"(\})", ("punctuation",), "json", "json"
    )


def _json_values() -> tuple[Region, ...]:
    return (
        Region(
            "json string", r'(")', ("string",), rf'(")|{END_OF_LINE}', ("string",), "string", "string of json"
        ),
        *(
            Region(
                f"json {name}",
                rf"({re.escape(o)})",
                ("punctuation",),
                rf"({re.escape(c)})",
                ("punctuation",),
                "json",
                "json",
            )
            for name, o, c in (("object", "{", "}"), ("array", "[", "]"))
        ),
    )


def _brackets(rules: str) -> tuple[Region, ...]:
    """Brackets; one that was left open ends where the next declaration begins, in a hole at the end of its
    line.
    """
    otherwise = END_OF_LINE if rules == "insert" else _TOP_LEVEL
    return tuple(
        Region(
            f"{name} {rules}",
            rf"{BLANK}({re.escape(o)})",
            ("punctuation",),
            rf"({re.escape(c)})|{otherwise}",
            ("punctuation",),
            "",
            rules,
        )
        for name, o, c in (("parens", "(", ")"), ("list", "[", "]"), ("map", "{", "}"))
    )


def _leaves() -> tuple[Match, ...]:
    """Numbers, names, operators and marks."""
    return (
        Match(rf"{BLANK}(?<!\w)({NUMBER})", ("number",)),
        Match(rf"{BLANK}(?<!\w)({NAME})", ("name",)),
        Match(rf"{BLANK}({OPERATOR})", ("operator",)),
        Match(rf"{BLANK}([.,:;])", ("punctuation",)),
    )
