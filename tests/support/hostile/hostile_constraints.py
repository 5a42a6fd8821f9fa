# ruff: noqa: E501
"""Constraints that ask for as much work as they can: what compiles them, opens texts of them and asks for masks has
to end within its limits, with masks or with a typed error.

A case is a name and the arguments of `compile_constraint`, made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hostile.hostile_schemas import ANY_WAY, SCHEMAS
from sglc.schema.core.options import SchemaOptions

Arguments = dict[str, Any]
ANY_ORDER = SchemaOptions(order="any", spelling="any", spacing="flexible")


def nested_pattern(open_: str, inner: str, close: str, depth: int) -> str:
    return open_ * depth + inner + close * depth


REGEXES: dict[str, str] = {
    "counts in counts": "((a{1,1000}){1,1000}){1,1000}",
    "counts in counts of classes": "(([a-z]{1,1000};){1,1000}-){1,1000}",
    "counts that overlap": "((a{1,30}){1,30}){1,30}b",
    "counts in turn": "(a{1,300}b{1,300}){1,300}",
    "counts of a choice": "((ab|cd|ef){1,500}|g{1,500}){1,500}",
    "huge count": "a{1000000}",
    "huge optional count": "a{0,1000000}",
    "count beyond all": "a{2147483648}",
    "count beyond integers": "a{99999999999999999999}",
    "counts to a billion": "(((a{1000}){1000}){1000}){1000}",
    "counts of nothing": "((a{0,0}){0,0}){0,1000000}",
    "counts of the empty": "((){1,1000}){1,1000}a",
    "stars in stars": "((((a*)*)*)*)*b",
    "stars side by side": "a*" * 500,
    "optional side by side": "a?" * 1000 + "a" * 1000,
    "alternatives that begin alike": "(a|aa|aaa|aaaa|aaaaa)*b",
    "the 15th from the end": "(a|b)*a(a|b){14}",
    "the 40th from the end": "(a|b)*a(a|b){40}",
    "the 400th from the end": "(a|b)*a(a|b){400}",
    "two from the end": "(a|b)*a(a|b){12}c(a|b)*b(a|b){12}",
    "from the end, any": "[^x]*x.{1,200}y.{1,200}z",
    "windows": ".*a.{20}b.{20}c.{20}.*",
    "many dots": ".*a.*b.*c.*d.*e.*f.*g.*h.*i.*j.*k.*l.*m.*n.*o.*p.*",
    "dots and counts": "(.{0,50},){0,50}.{0,50}",
    "huge alternation": "|".join(f"word{i}" for i in range(2000)),
    "huge alternation of patterns": "|".join(f"[a-z]{{{i}}}x" for i in range(1, 200)),
    "huge alternation in a star": "(" + "|".join(f"k{i}" for i in range(1000)) + ")*",
    "alternation in counts": "(" + "|".join(f"{i}a" for i in range(300)) + "){100,200}",
    "nested groups": nested_pattern("(", "a", ")", 99),
    "groups too deep": nested_pattern("(", "a", ")", 5000),
    "nested stars": nested_pattern("(a", "b", ")*", 90),
    "nested counts": nested_pattern("(a", "b", "){1,3}", 60),
    "nested options": nested_pattern("(a", "b", ")?", 95),
    "lookaheads side by side": "".join(f"(?=.*{c})" for c in "abcdefghijkl") + "[a-z]*",
    "lookaheads of counts": "(?=.{100,200}$)(?=.*a.{50})(?=.*b.{50}).*",
    "lookaheads nested": nested_pattern("(?=a", ".*", ")", 40) + "a*",
    "lookahead in a loop": "(?:(?=.*a)(?=.*b).)*",
    "negative lookahead in a loop": "(?:(?!abc|bcd|cde).)*",
    "lookbehinds": "(?:.(?<=a.{0,20}))*b",
    "lookbehinds of any length": ".*(?<=a+b+c+d+)x(?<!e.*f.*g.*)",
    "lookaround, both": "(?:a(?=.*b)(?<=.*a))*b*",
    "word edges": r"(\b\w+\b\W*){1,100}",
    "back references": "(a|b|c|d|e|f)(g|h|i|j)\\1\\2\\1\\2\\1\\2",
    "back references to many": "(" + "|".join(f"w{i}" for i in range(190)) + ")x\\1y\\1z\\1",
    "flags": "(?i)" + "(straße|ﬀ|K|ſ){1,200}",
    "no text": "a(?!a)a",
    "classes of everything": r"[\s\S]{0,100000}x",
    "bad escape": "\\",
    "open": "(" * 100,
    "null": "\0" * 2000,
    "long literal": "x" * 19_999,
    "too long": "x" * 30_000,
    "astral": "[\U00010000-\U0010ffff]{0,5000}[\ud7ff-\ue000]*",
}
ECMA: dict[str, str] = {
    "letters counted": r"\p{L}{1,5000}\p{Lu}",
    "properties side by side": "".join(
        rf"\p{{{name}}}*" for name in ("L", "Lu", "N", "P", "S", "Z", "M", "Ll")
    ),
    "scripts": "|".join(
        rf"\p{{Script={name}}}+" for name in ("Greek", "Latin", "Cyrillic", "Han", "Arabic", "Hebrew", "Thai")
    ),
    "not properties": r"(\P{L}\P{N}\P{P}){1,300}",
    "properties from the end": r"[\p{L}\p{N}]*\p{Lu}[\p{L}\p{N}]{15}",
    "lookaheads of properties": r"(?=.*\p{Lu})(?=.*\p{Ll})(?=.*\p{N})(?=.*\p{P}).{8,64}",
    "properties of any case": r"(?i)\p{Lu}{1,200}\p{Ll}{1,200}",
}


def doubled(levels: int) -> str:
    lines = [f"r{level}: r{level + 1} r{level + 1}" for level in range(levels)]
    return "\n".join(["start: r0", *lines, f'r{levels}: "a" | "bb"'])


GRAMMARS: dict[str, Callable[[], str]] = {
    "ambiguous sums": lambda: 'start: start start | start start start | "a"',
    "ambiguous empty sums": lambda: 'start: start start | "a" |',
    "all empty": lambda: "start: a*\na: b* c*\nb: d?\nc: d* b*\nd:",
    "a circle of empty rules": lambda: 'start: a "x"\na: b | \nb: c | a\nc: a |',
    "a circle": lambda: "start: a\na: b\nb: a",
    "hidden left recursion": lambda: 'start: a start "x" | "y"\na: "z"?',
    "left recursion through 60": lambda: (
        "start: r0\n" + "\n".join(f'r{i}: r{(i + 1) % 60} "{chr(97 + i % 26)}" | "q{i}"' for i in range(60))
    ),
    "both recursions": lambda: (
        'start: start "+" start | "-" start | "(" start ")" | start "?" start ":" start | /[a-z]+/'
    ),
    "30 empty in turn": lambda: (
        "start: "
        + " ".join(f"r{i}" for i in range(30))
        + "\n"
        + "\n".join(f'r{i}: "{chr(97 + i % 26)}"?' for i in range(30))
    ),
    "300 empty in turn": lambda: (
        "start: ("
        + " ".join(f"r{i}" for i in range(300))
        + ")*\n"
        + "\n".join(f'r{i}: "k{i}"?' for i in range(300))
    ),
    "doubled 200": lambda: doubled(200),
    "huge alternation": lambda: (
        "start: (" + " | ".join(f'"w{i}" x' for i in range(3000)) + ')+\nx: "y" start?'
    ),
    "500 rules that begin alike": lambda: (
        "start: "
        + " | ".join(f"r{i}" for i in range(500))
        + "\n"
        + "\n".join(f'r{i}: "a" r{(i + 1) % 500} | "b{i}"' for i in range(500))
    ),
    "terminals that overlap": lambda: (
        "start: (A | B | C | D | E)+\n"
        + "\n".join(f"{n}: /[a-z]{{{i},20}}[{n.lower()}]/" for i, n in enumerate("ABCDE", 1))
    ),
    "100 terminals": lambda: (
        "start: ("
        + " | ".join(f"T{i}" for i in range(100))
        + ")*\n"
        + "\n".join(f"T{i}: /[a-z]{{1,{i + 1}}}{i}/" for i in range(100))
    ),
    "a terminal from the end": lambda: "start: T+\nT: /(a|b)*a(a|b){14}/",
    "a terminal of counts": lambda: "start: T\nT: /((a{1,100}){1,100}){1,100}/",
    "a terminal with lookahead": lambda: "start: (T | /[a-z]/)+\nT: /(?=.*a)(?=.*b)(?!.*c)[a-z]{1,30}/",
    "counts of rules": lambda: 'start: x~1000..2000\nx: y~1..100 ";"\ny: "a" | "b"',
    "counts of counts": lambda: 'start: ((("a"~1..50)~1..50)~1..50)~1..50',
    "a count too large": lambda: 'start: "a"~99999999999',
    "brackets, many kinds": lambda: (
        "start: " + " | ".join(f'"{o}" start* "{c}"' for o, c in ("()", "[]", "{}", "<>", "ab", "cd", "ef"))
    ),
    "ignored blanks": lambda: "start: (/[a-z]+/ | /[a-z ]+/ | /[ ]+x/)+\n%ignore /[ \\t\\n]+/\n%ignore /#.*/",
    "nested groups": lambda: "start: " + "(" * 90 + '"a"' + ")*" * 90,
    "groups too deep": lambda: "start: " + "(" * 3000 + '"a"' + ")" * 3000,
    "templates": lambda: 'start: t{t{t{t{x}}}}\nt{y}: "(" y ")" | y y\nx: "a"',
    "templates without end": lambda: 'start: t{"a"}\nt{y}: "(" t{"(" y} ")" | y',
    "palindromes": lambda: 'start: "a" start "a" | "b" start "b" | "a" | "b" |',
    "dangling else": lambda: 'start: "if " start ("else " start)? | "if " start | "x;" | "{" start* "}"',
    "rules of 3000": lambda: (
        "start: r0\n" + "\n".join(f'r{i}: "a" r{i + 1} | "b"' for i in range(3000)) + '\nr3000: "c"'
    ),
    "no text": lambda: 'start: "a" start',
    "undefined": lambda: "start: nothing",
    "not a grammar": lambda: ":" * 5000,
}
CHOICES: dict[str, Callable[[], list[str]]] = {
    "50000 words": lambda: [f"word {i * 7919 % 100003}" for i in range(50_000)],
    "words of one letter": lambda: ["a" * size for size in range(1, 1500)],
    "the empty word": lambda: [""],
    "one huge word": lambda: ["x" * 1_000_000],
}


def cases() -> Iterator[tuple[str, Callable[[], Arguments]]]:
    for name, pattern in REGEXES.items():
        yield f"regex, {name}", lambda pattern=pattern: {"regex": pattern}
    for name, pattern in ECMA.items():
        yield f"ecma, {name}", lambda pattern=pattern: {"regex": pattern, "dialect": "ecma"}
    for name, schema in SCHEMAS.items():
        yield f"schema, {name}", lambda schema=schema: {"json_schema": schema()}
    for name in ANY_WAY:
        yield (
            f"schema in any order, {name}",
            lambda name=name: {
                "json_schema": SCHEMAS[name](),
                "schema_options": ANY_ORDER,
            },
        )
    for name, grammar in GRAMMARS.items():
        yield f"grammar, {name}", lambda grammar=grammar: {"grammar": grammar()}
    for name, words in CHOICES.items():
        yield f"choices, {name}", lambda words=words: {"choices": words()}
