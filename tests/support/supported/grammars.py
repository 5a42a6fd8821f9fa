"""The page that says what of each notation is supported: every line has an example that a test runs.

`make docs` writes it to `docs/grammars.md`.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal as OneOf

from sglc.cfg.notation.reader import ENDINGS, SHIPPED

Notation = OneOf["lark", "ebnf", "gbnf", "sgl"]


@dataclass(frozen=True, slots=True)
class Feature:
    """A line of a table. `example` is a grammar; with `refused` its error holds this text.

    Else its texts are `good` and not `bad`. `lexer`: terminals are matched longest first.
    """

    notation: Notation
    written: str
    meaning: str
    example: str
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    refused: str = ""
    lexer: bool = False


def _lark(written: str, meaning: str, example: str, good: str, bad: str = "", lexer: bool = False) -> Feature:
    return Feature("lark", written, meaning, example, _texts(good), _texts(bad), "", lexer)


def _ebnf(written: str, meaning: str, example: str, good: str, bad: str = "") -> Feature:
    return Feature("ebnf", written, meaning, example, _texts(good), _texts(bad))


def _gbnf(written: str, meaning: str, example: str, good: str, bad: str = "") -> Feature:
    return Feature("gbnf", written, meaning, example, _texts(good), _texts(bad))


def _sgl(written: str, meaning: str, example: str, good: str, bad: str = "") -> Feature:
    return Feature("sgl", written, meaning, example, _texts(good), _texts(bad))


def _not(notation: Notation, written: str, reason: str, example: str, refused: str) -> Feature:
    return Feature(notation, written, reason, example, refused=refused)


def _texts(words: str) -> tuple[str, ...]:
    """Words with blanks between them; `_` is the empty text, `·` a blank."""
    return tuple("" if word == "_" else word.replace("·", " ") for word in words.split())


FEATURES: tuple[Feature, ...] = (
    _lark("`a b`, `a | b`, `(…)`", "one after the other, either, groups", 'start: "x" ("y" | "z")',
         "xy xz", "x"),
    _lark("`a?`, `[a]`", "or nothing", 'start: "x"? ["y"]', "_ x y xy", "yx"),
    _lark("`a*`, `a+`", "any number, at least one", 'start: "x"* "y"+', "y xxyy", "x _"),
    _lark("`a~3`, `a~2..4`", "counts", 'start: "x"~3 "y"~1..2', "xxxy xxxyy", "xxy xxxyyy"),
    _lark("`\"text\"`, `\"text\"i`", "texts, in any case of letters", 'start: "x" "y"i', "xy xY", "Xy"),
    _lark("`\"a\"..\"z\"`", "one character of a range", 'start: "a".."c"', "a c", "d"),
    _lark("`/regex/imsux`", "a pattern as Python matches it, which prefers the first way", "start: /a|ab/",
         "a", "ab"),
    _lark("`/x(?!y)/`, `/x(?=y)/`", "a look at the next character", 'start: /x(?!y)/ ("y" | "z")', "xz",
         "xy"),
    _lark("`\\b` inside a pattern", "a boundary that the pattern itself decides", r"start: /x\b-x/", "x-x",
         "xx"),
    _lark("`NAME: …`", "terminals made of terminals", 'start: A\nA: B "y"\nB: "x"', "xy", "x"),
    _lark("`NAME.2: …`", "priority of a terminal, where they are matched longest first",
          'start: (A | B "!")\nA: /x/\nB.2: /x/', "x!", "x", lexer=True),
    _lark("rules", "recursive on every side, empty, ambiguous", 'start: start start | "x" | ', "_ x xxx",
         "y"),
    _lark("`?rule`, `!rule`, `_rule`, `rule.2`, `-> alias`",
         "only shape trees: nothing of it changes the texts",
          '?start: _a -> b\n!_a.3: "x"', "x"),
    _lark("`rule{x, y}: …`", "templates", 'start: two{"x"} two{b}\ntwo{a}: a a\nb: "y"', "xxyy", "xy"),
    _lark("`%ignore`", "text that may stand between terminals, as long as it goes",
          'start: "x" "y"\n%ignore / +/', "xy x··y ·xy", "x_y"),
    _lark("`%import common.NAME`", "from the libraries of Lark: common, unicode, python, lark",
          "start: INT\n%import common.INT", "12", "x"),
    _lark("`%extend`, `%override`", "of what is defined or imported before",
          'start: A\nA: "x"\n%extend A: "y"', "x y", "z"),
    _not("lark", "`%declare`", "a declared terminal has no text", "start: A\n%declare A",
         "%declare is not supported"),
    _not("lark", "`%import .file`", "imports of other files", "start: A\n%import .other.A",
         "imports of other files"),
    _not("lark", "postlexers (`Indenter`)", "blanks cannot be counted by a grammar",
         "start: _INDENT\n%import python._INDENT", "python has no _INDENT"),
    _not("lark", "terminals that may be empty", "as in Lark", "start: A\nA: /x*/", "may be empty"),
    _not("lark", "`/(a)\\1/`, `/a++/`, `/(?(1)a)/`", "not regular", r"start: /(a)\1/", "backreference"),
    _not("lark", "`/^a/`, `/(?<=x)a/`", "depends on the text before the match", "start: /^a/", "beginning"),
    _not("lark", "`/…/l`", "depends on the machine", "start: /x/l", "locale"),
    _ebnf("`name ::= …` and `name = … ;`, `.`", "rules of the W3C and of ISO; the first one is the start",
          'a ::= b "y"\nb = "x" ;', "xy", "x"),
    _ebnf("`<name> ::= …`", "plain BNF", '<a> ::= <b> | <b> <a>\n<b> ::= "x"', "x xxx", "_"),
    _ebnf("`a b`, `a, b`, `a | b`, `(…)`", "one after the other, either, groups", 'a = "x", ("y" | "z") ;',
         "xy xz", "x"),
    _ebnf("`a?`, `a*`, `a+`", "as everywhere", 'a ::= "x"? "y"* "z"+', "z xyyzz", "_"),
    _ebnf("`[…]`, `{…}`, `3 * a`", "an option, any number, a count (ISO)", 'a = ["x"], {"y"}, 2 * "z" ;',
         "zz xyyzz", "z"),
    _ebnf("`a - b`", "texts of a that are not of b; both without recursion", 'a ::= [a-c]+ - ("ab" | "c")',
         "a abc", "ab c"),
    _ebnf("`\"…\"`, `'…'`", "texts, without escapes", "a ::= \"x'\" 'y\"'", "x'y\"", "xy"),
    _ebnf("`#x41`, `[a-z#x41]`, `[^…]`", "characters and classes", "a ::= #x41 [b-d] [^x]", "Abb", "Abx"),
    _ebnf("`/* … */`, `(* … *)`", "comments", 'a ::= /* no */ "x"', "x"),
    _not("ebnf", "`? … ?`", "special sequences of ISO mean what people agree on", 'a = ? any ? ;',
         "special sequences"),
    _not("ebnf", "`a - b` of recursive rules", "no grammar may be left",
         'a ::= b - "x"\nb ::= "x" b | "y"', "recursive"),
    _gbnf("`root ::= …`", "rules; the start is `root`", 'root ::= a "y"\na ::= "x"', "xy", "x"),
    _gbnf("`a b`, `a | b`, `(…)`, `a?`, `a*`, `a+`", "as everywhere", 'root ::= ("x" | "y")? "z"+',
         "z xzz", "_"),
    _gbnf("`a{3}`, `a{2,}`, `a{2,4}`", "counts", 'root ::= "x"{2} "y"{1,} "z"{0,1}', "xxyy xxyz", "xy"),
    _gbnf("`[a-z]`, `[^a-z]`, `.`", "characters", "root ::= [a-c] [^x] .", "abx a··", "axb"),
    _gbnf("`\\n \\t \\r \\\\ \\\" \\[ \\] \\x41 \\u0041 \\U00000041`", "escapes",
         r'root ::= "\x41\"" [\]]', 'A"]', "A"),
    _gbnf("left recursion", "unlike llama.cpp", 'root ::= root "+x" | "x"', "x x+x", "+x"),
    _gbnf("`# …`", "comments", 'root ::= "x" # why', "x"),
    _not("gbnf", "`<[token]>`", "tokens of one vocabulary", "root ::= <[1000]>", "tokens are not supported"),
    _sgl("`start: …`", "rules; the start is `start`", 'start: a "y"\na: "x"', "xy", "x"),
    _sgl("`a b`, `a | b`, `(…)`, `a?`, `a*`, `a+`", "as everywhere", 'start: ("x" | "y")? "z"+', "z xzz",
         "_"),
    _sgl("`a{3}`, `a{2,}`, `a{2,4}`", "counts", 'start: "x"{2} "y"{1,} "z"{0,1}', "xxyy xxyz", "xy"),
    _sgl("`/regex/`", "a pattern as Python matches it", "start: /[a-c]{2}|x/", "ab x", "a"),
    _sgl("`skip /regex/`",
         "text between the parts and after the last; terminals are then matched longest first",
         'start: "x" /[0-9]+/\nskip / +/', "x1 x·1·", "·x1"),
    _sgl("`one of NAMES`", "a text of a constant or an enum", "start: one of NAMES", "ab c", "d"),
    _sgl("`grammar G(xs: [str], r: Record, t: str)`",
         "parameters: `one of xs`, `one of r.field`, and `t` alone",
         'start: one of xs "-" one of xs', "ab-c ab-ab", "ab-x"),
    _not("sgl", "rules that are not defined", "with the nearest name", "start: a", "a is not defined"),
    _not("sgl", "grammars without a text", "every way to write them needs itself", 'start: "x" start',
         "no text at all"),
)  # fmt: skip

_TITLES = {"lark": "Lark", "ebnf": "EBNF and BNF", "gbnf": "GBNF", "sgl": "`grammar` blocks"}
_READ = {
    "lark": 'In programs, terminals are matched as by Lark\'s contextual lexer (`lexing="longest"` of '
    "`GrammarOptions`): longest first, keywords before names, only those that the parser can use. The "
    "other way, "
    '`dynamic`, takes them as Lark\'s Earley parser with `lexer="dynamic_complete"` does. In both '
    "everything that "
    "is generated parses with the same grammar in Lark.",
    "ebnf": "Three notations in one, told apart rule by rule. They describe characters: there are no "
    "terminals.",
    "gbnf": "Grammars of llama.cpp. They describe characters.",
    "sgl": "They describe characters, or tokens where they skip text. See [types.md](types.md#grammars).",
}

_LONGEST = (
    "A text is legal if Lark's contextual lexer reads it back as it was written: of the terminals that "
    "the parser can use after the last one read, none goes on into the next, none that is tried before "
    "the right one matches in its place, and a keyword is no name. Terminals are told apart place by "
    'place: with `start: "if" NAME "then" NAME | NAME NAME` the text `if if then then` is legal, since '
    "behind `if` comes a name and nothing else, and `if then` is not. What the parser can use is found "
    "as for LALR tables, but with everything that may follow a rule anywhere."
)
_LESS = (
    "Where only a second character would tell, the first one is left out. With `%ignore` of blanks and "
    'of comments `/ *#!.*/`, no `"#"` comes behind a blank: it could be a comment.',
    'Ignored text is told from all terminals, wherever they stand. With `VALUE: /.+/` and `%ignore " "` '
    "no blank is ignored anywhere: it could begin a value.",
    "Where blanks are ignored, a text that ends in a letter, digit or underscore is not followed by a "
    "character with which a pattern could go on from it: in the grammar above `if a thenb` is not "
    "generated, `if a then b` is.",
    "Of two patterns that only a name made up by Lark would sort, neither is generated where both match.",
    "Beyond 20,000 symbols or states, or with counts above 8, terminals are told from all that may come "
    "after the same terminal somewhere; beyond 1,000 terminals, from all.",
)

_OTHERS = (
    "`sglc.cfg.notation.print_lark.to_lark(grammar)` writes what `read_grammar` has read, in any notation "
    "and without differences, in that of Lark, and names the rule to start with: what is generated parses "
    'with it there (parser `earley`, `lexer="dynamic_complete"`).'
)


def page() -> str:
    """The text of `docs/grammars.md`."""
    about = (
        "A grammar becomes the exact set of its texts, whatever its recursion and ambiguity: the mask at "
        "each token leaves what some text of the grammar goes on with, and nothing else. What cannot be "
        "taken over exactly is refused, with the place. `tests/support/supported/grammars.py` makes this "
        "page; a test runs an example of every line."
    )
    lines = ["# Grammars", "", *textwrap.wrap(about, 110)]
    for notation, title in _TITLES.items():
        endings = [f"`.{ending}`" for ending, dialect in ENDINGS.items() if dialect == notation]
        lines += ["", f"## {title}" + (f" ({', '.join(endings)})" if endings else ""), ""]
        lines += [*textwrap.wrap(_READ[notation], 110), ""]
        lines += ["| written | |", "|---|---|"]
        own = [feature for feature in FEATURES if feature.notation == notation]
        lines += [f"| {_cell(f.written)} | {f.meaning} |" for f in own if f.refused == "" and f.good]
        lines += ["", "Refused:", "", "| written | why |", "|---|---|"]
        lines += [f"| {_cell(f.written)} | {f.meaning} |" for f in own if not f.good]
    lines += [
        "",
        "## Longest first",
        "",
        *textwrap.wrap(_LONGEST, 110),
        "",
        "What Lark's lexer takes beyond that is left out:",
        "",
        *[line for case in _LESS for line in textwrap.wrap("- " + case, 110, subsequent_indent="  ")],
        "",
        "A grammar whose terminals take each other's beginnings everywhere has no text and is refused.",
        "",
        "## Other parsers",
        "",
        *textwrap.wrap(_OTHERS, 110),
        "",
        "## Trees",
        "",
        "Of a value of a grammar its parts are known by their rules (`sql.table` in SGL). Where a text "
        "has several",
        "trees, alternatives count in the order in which they are written, and each part is as long as "
        "it can be.",
        "",
        "## Grammars of the library",
        "",
        "`import grammar std.name` in a program, `sglc.cfg.notation.reader.shipped_grammar(name)` in Python; "
        "the files are in `stdlib/grammars`.",
        "",
        "| name | |",
        "|---|---|",
    ]
    for name in SHIPPED:
        text = (files("sglc.stdlib") / "grammars" / f"{name}.lark").read_text(encoding="utf-8")
        comment = " ".join(line.removeprefix("//").strip() for line in text.split("\n\n")[0].splitlines())
        lines.append(f"| {name} | {comment} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
