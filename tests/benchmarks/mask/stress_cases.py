"""Constraints that are hard for mask engines, with texts that say what is legal."""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mask.maskbench import text_of
from mask.stress_grammars import C_GOOD, C_LIKE, SQL, SQL_GOOD, hard_grammars

TESTS = Path(__file__).resolve().parents[2]
PROSE = (
    "When the last ferry had left, nobody on the quay spoke; lamps went out one by one, and the gulls came. "
)
LONG = (PROSE * 9).strip()
PLAIN = "".join(character for character in LONG.lower() if character == " " or "a" <= character <= "z")
STRING: dict[str, Any] = {"type": "string"}
INTEGER: dict[str, Any] = {"type": "integer"}


@dataclass(frozen=True)
class Case:
    """`legal` and `illegal` are values for schemas, texts for the other kinds.

    `dialects` has the constraint in the words of another engine where there is no common form.
    """

    name: str
    kind: str
    constraint: Any
    legal: Sequence[Any]
    illegal: Sequence[Any] = ()
    dialects: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    """Of this project."""

    def job(self, engine: str) -> dict[str, Any]:
        texts = [(value, True) for value in self.legal] + [(value, False) for value in self.illegal]
        if self.kind == "schema":
            texts = [(text_of(value), valid) for value, valid in texts]
        constraint = self.dialects.get(engine.split("-")[0], self.constraint)
        return {
            "kind": self.kind,
            "constraint": constraint,
            "texts": texts,
            "options": self.options if engine.startswith("sglc") else {},
            "again": True,
        }


def closed(properties: dict[str, Any], required: Sequence[str] | None = None) -> dict[str, Any]:
    """An object with these properties and no others, all required unless said otherwise."""
    needed = list(properties) if required is None else list(required)
    return {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}


def one_key(schema: dict[str, Any]) -> dict[str, Any]:
    return closed({"s": schema})


def alternating(depth: int) -> dict[str, Any]:
    """Two alternatives at each level, one of them going on."""
    if depth == 0:
        return STRING
    left, right = closed({f"down{depth}": alternating(depth - 1)}), closed({f"stop{depth}": INTEGER})
    return {"oneOf": [left, right]}


def descend(depth: int) -> Any:
    return "bottom" if depth == 0 else {f"down{depth}": descend(depth - 1)}


def tree(depth: int) -> dict[str, Any]:
    return {"v": depth, "kids": [tree(depth - 1), tree(depth - 1)] if depth else []}


TREE = {
    "$defs": {"node": closed({"v": INTEGER, "kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}})},
    "$ref": "#/$defs/node",
}
CALCULATOR = """start: sum
sum: product (("+" | "-") product)*
product: value (("*" | "/") value)*
value: NUMBER | WORD | "(" sum ")" | WORD "(" (sum ("," sum)*)? ")"
NUMBER: /[0-9]+(\\.[0-9]+)?/
WORD: /[a-z_][a-z0-9_]*/
"""
CHAIN = """start: chain
chain: WORD | WORD "," chain
WORD: /[a-z]+/
"""
UNTIL_TAG = """start: /(.|\\n)*?<\\/think>/
"""
UNTIL_TAG_LAZY = """start: text
text[lazy]: /(.|\\n)*<\\/think>/
"""
STEMS = """start: STEM END
STEM: "list" | "listen"
END: "ed"
"""
AMBIGUOUS = """start: pile
pile: "a" | "a" pile | pile_of_two pile
pile_of_two: "a" "a"
"""


def _objects_that_overlap(count: int) -> dict[str, Any]:
    """Arms share their first keys and differ in what a later one may be."""
    arms = []
    for number in range(count):
        properties = {f"p{index}": STRING for index in range(number % 7, number % 7 + 5)}
        properties["amount"] = {"type": "integer", "minimum": number, "maximum": number + 10}
        arms.append({"type": "object", "properties": properties, "required": ["amount"]})
    return {"anyOf": arms}


def _nested_options(depth: int) -> dict[str, Any]:
    if depth == 0:
        return STRING
    names = [f"{letter}{depth}" for letter in "abcdef"]
    return closed({name: _nested_options(depth - 1) for name in names}, [])


def _random_words(count: int) -> list[str]:
    chance = random.Random(5)
    return [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(5, 9))) for _ in range(count)
    ]


def _deep(depth: int) -> Any:
    schema: dict[str, Any] = STRING
    for level in range(depth):
        schema = closed({f"n{level % 10}": schema}) if level % 2 else {"type": "array", "items": schema}
    return schema


def _deep_value(depth: int) -> Any:
    value: Any = "x"
    for level in range(depth):
        value = {f"n{level % 10}": value} if level % 2 else [value]
    return value


def _pattern(name: str, pattern: str, legal: list[str], illegal: list[str]) -> Case:
    schema = one_key(STRING | {"pattern": pattern})
    return Case(name, "schema", schema, [{"s": text} for text in legal], [{"s": text} for text in illegal])


def _unique(item: dict[str, Any], contains: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": item, "uniqueItems": True, "contains": contains, "maxItems": 30}


FIELDS = [f"field_{number}" for number in range(200)]
KEYS = [f"key_{number}" for number in range(5000)]
SHUFFLED = random.Random(3).sample(KEYS, 40)
LABELS = [f"item {number} of {number * 7919 % 1000}" for number in range(2000)]
CODES = [f"{number * 2654435761 % 2**32:08x}-{number}" for number in range(100_000)]
WORDS = _random_words(600)

COUNTED = r"([A-Z]{2,4}-([0-9]{1,4}(\.[0-9]{1,3}){0,4}){1,3}(/[a-z0-9]{1,12}){0,8}[;,]?){1,64}"
SCRIPTS = "naïve élan, здравствуй мир; ελληνικά हिन्दी 日本語の文章 العربية 한국어 e\u0301te\u0301’s co-op"
BASE64 = "SGVsbG8sIHdvcmxkISBUaGUgbGFzdCBmZXJyeSBoYWQgbGVmdC4="
BASE64_PATTERN = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
CITIES = [f"city-{number * 7919 % 1000:03d}" for number in range(40)]

CASES: list[Case] = [
    Case("text", "schema", one_key(STRING), [{"s": LONG}]),
    Case("text of at most 2,000", "schema", one_key(STRING | {"maxLength": 2000}), [{"s": LONG}]),
    Case("text of at most 100,000", "schema", one_key(STRING | {"maxLength": 100_000}), [{"s": LONG}]),
    Case(
        "text of at least 200",
        "schema",
        one_key(STRING | {"minLength": 200}),
        [{"s": LONG}],
        [{"s": "too short"}],
    ),
    Case(
        "pattern of an id",
        "schema",
        one_key(STRING | {"pattern": "^[a-zA-Z0-9_-]{1,64}$"}),
        [{"s": "user_Account-42-production-eu-west"}],
        [{"s": "a b"}],
    ),
    Case(
        "pattern of words",
        "schema",
        one_key(STRING | {"pattern": "^[a-z ]*$"}),
        [{"s": PLAIN}],
        [{"s": "a1"}],
    ),
    Case(
        "pattern inside",
        "schema",
        one_key(STRING | {"pattern": "ferry.*gulls"}),
        [{"s": LONG}],
        [{"s": "the ferry"}],
    ),
    Case(
        "enum of 2,000",
        "schema",
        one_key({"enum": LABELS}),
        [{"s": LABELS[1234]}],
        [{"s": LABELS[1234] + "7"}],
    ),
    Case(
        "200 optional keys",
        "schema",
        closed(dict.fromkeys(FIELDS, STRING), []),
        [{name: "v" for name in FIELDS[::9]}],
        [{"field_3": "a", "other": "b"}],
    ),
    Case(
        "60 optional keys and others",
        "schema",
        closed(dict.fromkeys(FIELDS[:60], STRING), []) | {"additionalProperties": True},
        [{name: "v" for name in FIELDS[:60:7]} | {"extra": [1, {"z": None}]}],
        [{"field_0": 1}],
    ),
    Case(
        "anyOf of 20 objects",
        "schema",
        {
            "anyOf": [
                closed({"kind": {"const": f"k{n}"}, "id": INTEGER, f"only{n}": STRING}) for n in range(20)
            ]
        },
        [{"kind": "k17", "id": 12, "only17": "text"}],
        [{"kind": "k17", "id": 12, "only16": "text"}],
    ),
    Case("oneOf, six deep", "schema", alternating(6), [descend(6)], [descend(5)]),
    Case(
        "array of at most 1,000",
        "schema",
        {"type": "array", "items": INTEGER, "maxItems": 1000},
        [list(range(0, 900, 3))],
        [["a"]],
    ),
    Case("recursive tree", "schema", TREE, [tree(5)], [{"v": 1, "kids": [2]}]),
    Case("any JSON", "schema", {}, [tree(4), {"a": LONG[:200], "b": [1.5e3, True, None]}]),
    Case(
        "integer up to 1,000,000,007",
        "schema",
        closed({"n": {"type": "integer", "minimum": 1, "maximum": 1_000_000_007}}),
        [{"n": 1_000_000_007}],
        [{"n": 1_000_000_008}, {"n": 0}],
    ),
    Case(
        "unique items",
        "schema",
        {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True},
        [["a", "b"]],
        [["a", "a"]],
    ),
    Case(
        "allOf of two objects",
        "schema",
        {
            "allOf": [
                {"type": "object", "properties": {"x": INTEGER}, "required": ["x"]},
                {"type": "object", "properties": {"y": STRING}, "required": ["y"]},
            ]
        },
        [{"x": 1, "y": "a"}],
        [{"x": 1}, {"x": 1, "y": 2}],
    ),
    Case("keys in another order", "schema", closed({"a": INTEGER, "b": STRING}), [{"b": "x", "a": 1}]),
    Case(
        "grammar of sums",
        "lark",
        CALCULATOR,
        ["alpha*(beta+12.5)-" + "max(a,b,min(c_1,d,3))+" * 20 + "1"],
        ["a+*b"],
    ),
    Case("grammar that recurses right", "lark", CHAIN, [PLAIN.replace(" ", ",")], ["a,,b"]),
    Case(
        "text until a tag",
        "lark",
        UNTIL_TAG,
        [LONG + "</think>"],
        [LONG, "a</think>b"],
        {"llguidance": UNTIL_TAG_LAZY},
    ),
    Case("stem and ending", "lark", STEMS, ["listened", "listed"], ["listeed"]),
    Case(
        "regex of 32,768 states", "regex", "(a|b)*a(a|b){14}", ["abba" * 12 + "abbbabababbabba"], ["b" * 40]
    ),
    Case("regex of 1 to 3,000", "regex", "[a-z ]{1,3000}", [PLAIN], [""]),
]

WORSE: list[Case] = [
    Case("60 levels", "schema", _deep(60), [_deep_value(60)], [_deep_value(59)]),
    Case(
        "5,000 keys in any order",
        "schema",
        closed(dict.fromkeys(KEYS, INTEGER), SHUFFLED[:20]),
        [dict.fromkeys(SHUFFLED, 1)],
        [dict.fromkeys(SHUFFLED[1:], 1)],
    ),
    Case(
        "enum of 100,000", "schema", one_key({"enum": CODES}), [{"s": CODES[77_777]}], [{"s": CODES[5] + "0"}]
    ),
    Case(
        "counts of counts of counts",
        "regex",
        "(([a-c]{2,40}-){1,40};){1,40}",
        ["".join("abcab-" * n + ";" for n in range(1, 30))],
        ["abc-ab;" + "abc-;"],
    ),
    Case(
        "anyOf of 50 objects that overlap",
        "schema",
        _objects_that_overlap(50),
        [{"p3": "a", "p4": "b", "other": 5, "amount": 52}],
        [{"p3": "a", "amount": 70}, {"p3": 1, "amount": 59}],
    ),
    Case("text of at most 1,000,000", "schema", one_key(STRING | {"maxLength": 1_000_000}), [{"s": LONG}]),
    Case(
        "regex of 600 words",
        "regex",
        f"[a-z ]*({'|'.join(WORDS)})[a-z ]*",
        [f"{PLAIN[:300]} {WORDS[321]} {PLAIN[:100]}"],
        ["qqq qqq qqq"],
    ),
    Case("ambiguous grammar", "lark", AMBIGUOUS, ["a" * 400], ["a" * 20 + "b"]),
    Case(
        "optional keys, five deep",
        "schema",
        _nested_options(5),
        [{"f5": {"a4": {"b3": {"c2": {"a1": "x", "d1": "y"}, "d2": {}}}, "b4": {}}}],
        [{"f5": {"a4": {"b3": {"c2": {"a2": "x"}}}}}],
    ),
    Case(
        "letters of all scripts",
        "schema",
        one_key(STRING | {"pattern": "^[\\p{L}\\p{M}\\p{Nd} .,]{1,500}$"}),
        [{"s": "Ελληνικά, кириллица, 日本語の文章, हिन्दी, العربية, 2026 Ærøskøbing."}],
        [{"s": "no ☃ here"}],
    ),
    *(Case(hard.name, "lark", hard.text, hard.legal, hard.illegal) for hard in hard_grammars()),
]

WALKED: list[Case] = [
    Case(
        "format regex",
        "schema",
        one_key(STRING | {"format": "regex"}),
        [{"s": r"^(?:[a-z_]\w{0,15}|\d+(?=x)|[^\x00-\x1f]{2,})+?$"}, {"s": r"(?<y>\d{4})-\d\d\p{Lu}"}],
        [{"s": "(a"}],
    ),
    _pattern("letters and marks", r"^[\p{Ll}\p{M}'’-]+$", ["l’été-naïve", "здравствуй"], ["Élan", "a b"]),
    _pattern(
        "words of letters", r"^[\p{L}\p{M}'’-]+( [\p{L}\p{M}'’-]+)*$", ["co-op Здравствуй l’été"], ["a  b"]
    ),
    _pattern("no letters or digits", r"^[^\p{L}\p{N}\s]+$", ["!?…—«»☃"], ["a", "! !"]),
    _pattern(
        "names in capitals", r"^\p{Lu}[\p{Ll}\p{M}]*([ -]\p{Lu}[\p{Ll}\p{M}]*)*$", ["Ærøskøbing Élan"], ["aB"]
    ),
    _pattern(
        "at most 40 letters", r"^[\p{L}\p{Pd}\p{Zs}]{2,40}$", ["Здравствуй мир", "naïve élan"], ["a", "a1"]
    ),
    _pattern(
        "address of letters",
        r"^[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+\.\p{L}{2,}$",
        ["jürgen.groß@école.fr", "почта@пример.рф"],
        ["a@b"],
    ),
    Case("regex of letters and marks", "regex", r"[\p{Ll}\p{M}'’-]+", ["l’été-naïve"], ["Élan"]),
    Case("regex of neither letters nor digits", "regex", r"[^\p{L}\p{N}\s]+", ["!?…—«»☃"], ["a"]),
    Case(
        "regex of words and marks",
        "regex",
        r"([\p{L}\p{M}]+|[^\p{L}\p{N}\s]+|\p{N}{1,3}|\s+)+",
        [SCRIPTS, "x = 12, y"],
        [""],
    ),
    Case(
        "unique items that contain one of 40",
        "schema",
        _unique({"enum": CITIES}, {"const": CITIES[17]}),
        [CITIES[3:25]],
        [[*CITIES[3:10], CITIES[5]], CITIES[:10]],
    ),
    Case(
        "unique items that contain some of 40",
        "schema",
        _unique({"enum": CITIES}, {"enum": CITIES[10:20]}) | {"minContains": 2, "maxContains": 4},
        [[*CITIES[3:13]]],
        [[*CITIES[3:11]]],
    ),
    Case(
        "base64 of at most 2,000,000 characters",
        "schema",
        one_key(STRING | {"contentEncoding": "base64", "pattern": BASE64_PATTERN, "maxLength": 2_000_000}),
        [{"s": BASE64}, {"s": BASE64[:48] * 20}],
        [{"s": BASE64[:-1]}],
    ),
    _pattern(
        "base64 in counted groups",
        "^(?:[A-Za-z0-9+/]{4}){0,500000}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
        [BASE64, BASE64[:48] * 20],
        [BASE64[:-1], "a"],
    ),
    _pattern("pattern of base64", BASE64_PATTERN, [BASE64, BASE64[:48] * 20], [BASE64[:-1], "a"]),
    Case("C-like grammar", "lark", C_LIKE, [C_GOOD], ["int x = 3", "int f() { return ); }"]),
    Case(
        "C-like grammar, longest match",
        "lark",
        C_LIKE,
        [C_GOOD],
        ["int f() { if x; }"],
        options={"lexing": "longest"},
    ),
    Case("SQL in any case", "lark", SQL, [SQL_GOOD], ["SELEKT *;", "select 1 from;"]),
    Case(
        "regex of counts inside of counts",
        "regex",
        COUNTED,
        ["AB-12.3.4/abc/d;CDEF-1234.123.12.1.999;", "XY-1"],
        ["A-1", "AB-"],
    ),
    _pattern("counts inside of counts", f"^{COUNTED}$", ["AB-12.3.4/abc/d;CD-1"], ["A-1", "AB-"]),
]
"""Constructs whose masks are slow where random texts go, which no written text may ever show."""


def library_cases() -> list[Case]:
    """The grammars that this project ships, with the texts that their tests take and refuse."""
    sys.path.insert(0, str(TESTS / "support"))
    from strategies.grammar_texts import BAD, GOOD

    files = {path.stem: path for path in (TESTS.parent / "stdlib" / "grammars").glob("*.lark")}
    return [
        Case(
            name, "lark", files[name].read_text("utf-8"), GOOD[name], BAD[name], options={"lexing": "longest"}
        )
        for name in sorted(files)
    ]
