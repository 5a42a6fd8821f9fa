"""The grammars of the library: what they take, what they refuse, and that others agree with them."""

from __future__ import annotations

import ast
import csv
import io
import json
import random
import sqlite3
import warnings
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sglc.grammar.errors import GrammarError
from sglc.grammar.language import GrammarOptions, grammar_language
from sglc.grammar.read import SHIPPED, shipped_grammar
from sglc.runtime.mask.constraint import Constraint, compile_constraint
from sglc.runtime.mask.vocabulary import Vocabulary

FOLDER = Path(__file__).resolve().parent.parent / "stdlib" / "grammars"
BYTES = Vocabulary([bytes([byte]) for byte in range(256)])
LEXINGS = ("dynamic", "longest")


@lru_cache
def constraint_of(name: str, lexing: str) -> Constraint:
    options = GrammarOptions(lexing=lexing)  # type: ignore[arg-type]
    return compile_constraint(language=grammar_language(shipped_grammar(name), options))


def takes(name: str, text: str, lexing: str) -> bool:
    matcher = constraint_of(name, lexing).matcher(BYTES)
    return matcher.accept_bytes(text.encode()) and matcher.is_accepting()


def test_every_file_is_shipped() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.lark")) == sorted(SHIPPED)
    with pytest.raises(GrammarError, match="the library has no grammar cobol"):
        shipped_grammar("cobol")


GOOD: dict[str, list[str]] = {
    "json": ["0", "-1.5e+3", '"a\\"\\u00e9\\/"', "[]", ' {"a" : [1, {"b": null}],\n"c": true } ', "[[[]]]"],
    "arithmetic": ["1", "1+2*3", "-(1.5 - 2) ^ -2 / 3", "2^3^2", "((1))", "1 - -1"],
    "csv": ["", "a,b", 'a,"b ""c"" , d"\n1,\r\n', ",,\n\n,x"],
    "xml": [
        "<note/>", '<item id="a"  class=\'b&amp;\'><name>x &lt; y</name><!-- c --></item>',
        "<list><item>1</item>\n<item/></list>", "<code><![CDATA[<b>]]></code >",
    ],
    "date": [
        "2024-02-29", "2000-02-29", "2023-12-31T23:59:59.25Z", "1999-01-01T00:00:00+02:00", "12:30:00", "P3W",
        "P1Y2M3DT4H5M6.7S", "PT0S",
    ],
    "email": ["a@b", "first.last+tag@sub.example.org", '"a b\\"c"@x.y', "x@[127.0.0.1]", "o'hara@e-x.co"],
    "url": [
        "http://a", "https://user:pw@example.org:8080/a/b%20c?q=1&r=/x#frag", "http://127.0.0.1/",
        "https://example.org./?", "http://a?x#y", "http://h:65535", "http://:@a//b/?#",
        "http://u%40@a-b.c:1/@:",
    ],
    "sql": [
        "SELECT * FROM t", "select a, count(*) as n from t where x >= 1.5 and not y like 'a%' group by a "
        "having n > 1 order by n desc, a limit 10 offset 5;",
        "SELECT DISTINCT t.a AS \"x y\" FROM s.t AS t LEFT OUTER JOIN u ON t.id = u.id, v WHERE a IN "
        "(SELECT 1)",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT n FROM c",
        "INSERT INTO t (a, b) VALUES (1, 'x''y'), (NULL, x'00ff') ON CONFLICT (a) DO UPDATE SET b = "
        "excluded.b",
        "insert or ignore into t default values returning *", "REPLACE INTO t SELECT * FROM u",
        "UPDATE t SET a = a + 1, (b, c) = (1, 2) WHERE id BETWEEN 1 AND 9",
        "DELETE FROM t WHERE a IS NOT NULL RETURNING id",
        "SELECT CASE WHEN a THEN 1 ELSE 2 END, CAST(b AS TEXT), -a || 'z', (SELECT max(x) FROM y) FROM t",
        "SELECT sum(x) OVER (PARTITION BY a ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) "
        "FROM t",
        "SELECT 1 WHERE EXISTS (SELECT 1) OR x NOT IN (1, 2) OR y ISNULL",
    ],
    "python": [
        "x = 1\n", "def f(a, b=2, *args, c: int = 3, **kw) -> str:\n    return a + b\n",
        "class A(B, metaclass=M):\n    \"\"\"Doc.\"\"\"\n    x: int = 0\n\n    @property\n    def y(self):\n"
        "        # why\n        return [i ** 2 for i in self.z if i % 2 == 0]\n",
        "for i, (a, b) in enumerate(x):\n    if a < b <= c and not d:\n        continue\n    elif e:\n    "
        "    break\n    else:\n        pass\nelse:\n    print(f\"{a.b:>10} {{}}\", sep='')\n",
        "try:\n    f(\n        1,\n        *a,\n        k=lambda x, *y: x,\n    )\nexcept (A, B) as e:\n"
        "    raise C from e\nfinally:\n    del a[0], b.c\n",
        "import a.b as c, d\nfrom ..x import (\n    y,\n    z as w,\n)\n",
        "with open(p) as f, g() as h:\n    while (n := next(f)):\n        x, *y = {1: 2, **d}, {3, 4}\n",
        "x = a if b else c  # comment\nx[1:2, ::3] //= yield y\nassert x is not None, 'no'\n",
        "def g():\n    yield from f(fr)\n    x = yield from_\n    raise a from b\n    return  # x\n",
    ],
}  # fmt: skip

BAD: dict[str, list[str]] = {
    "json": ["", "01", "1.", "'a'", "[1,]", '{"a" 1}', '"\\x"', '"\n"', "nul", "[1 2]", '"a" "b"'],
    "arithmetic": ["", "1+", "(1", "1 2", "+1", "01", "1..2"],
    "csv": ['"a', 'a"b', '"a"b'],
    "xml": [
        "<note>", "<note></item>", "<other/>", "<note a='1'/>", '<note id="1" id="2"/>', "<note>&</note>",
    ],
    "date": [
        "2023-02-29", "1900-02-29", "2023-04-31", "24:00:00", "2023-01-01 00:00:00", "P", "P1YT", "12:60:00",
    ],
    "email": ["a", "@b", "a@", "a..b@c", ".a@b", "a@-b", "a@b..c", "a@[256.0.0.1]", "a b@c"],
    "url": [
        "ftp://a", "http:/a", "http://", "http://a b", "http://a/%2", "http://a:70000", "//a", "http://a#b#c",
        "http://u@v@a", "http://a-", "http://a..b", "http://a:0",
    ],
    "sql": [
        "", "SELECT", "SELECT * FROM", "SELECT a b c FROM t", "SELECTa FROM t", "DROP TABLE t", "SELECT 1;;",
        "SELECT select FROM t", "INSERT INTO t", "UPDATE t SET", "SELECT 'a", "SELECT * FROM t WHERE",
        "SELECT (1", "SELECT 1a", "DELETE t",
    ],
    "python": [
        "", "x = 1", "def f():\n", "if x:\npass\n", "  x = 1\n", "def f(a=1, b):\n    pass\n", "f(a=1, 2)\n",
        "1 = x\n", "for = 2\n", "x = = 1\n", "return(\n", "class:\n    pass\n", "if x:\n    # only\n",
        "x = 'a\n", "try:\n    pass\n", "f() = 1\n", "x = 01\n", "yield from\n",
    ],
}  # fmt: skip


@pytest.mark.parametrize("lexing", LEXINGS)
@pytest.mark.parametrize(("name", "text"), [(name, text) for name in GOOD for text in GOOD[name]])
def test_what_is_taken(name: str, text: str, lexing: str) -> None:
    assert takes(name, text, lexing)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name in BAD for text in BAD[name]])
def test_what_is_refused(name: str, text: str) -> None:
    assert not takes(name, text, "longest")
    # Without a lexer words may run together, in SQL as in Lark's Earley parser.
    if name != "sql":
        assert not takes(name, text, "dynamic")


@lru_cache
def some_texts(name: str, lexing: str, count: int, pieces: tuple[bytes, ...] = ()) -> list[str]:
    """Random texts of a grammar: legal pieces and characters for a while, then the shortest ending."""
    dice = random.Random(1)
    found = []
    printable = [bytes([byte]) for byte in (10, *range(0x20, 0x7F))]
    tokens = [*(bytes([byte]) for byte in range(256)), *pieces]
    vocabulary = Vocabulary(tokens)
    liked = {index for index, data in enumerate(tokens) if data in printable or index >= 256}
    constraint = constraint_of(name, lexing)
    for _ in range(count):
        matcher = constraint.matcher(vocabulary)
        for _ in range(dice.randrange(1, 60)):
            legal = [token for token in matcher.allowed().tolist() if token in liked]
            if not legal or (matcher.is_accepting() and dice.random() < 0.05):
                break
            long = [token for token in legal if token >= 256]
            assert matcher.accept(dice.choice(long if long and dice.random() < 0.5 else legal))
        assert matcher.accept_bytes(matcher.shortest_completion())
        found.append(matcher.text().decode())
    return found


SQL_PIECES = (
    b"SELECT ", b" FROM ", b" WHERE ", b" AND ", b"(", b"INSERT INTO ", b" VALUES (", b"UPDATE ", b" SET ",
    b"WITH ",
    b" JOIN ", b" ON ", b"CASE WHEN ", b" IN (", b"'a'", b"a1", b", ", b"DELETE FROM ", b" NOT ", b" OVER (",
)  # fmt: skip
HARMLESS = (
    "no such", "no tables specified", "misuse", "same number", "wrong number", "ambiguous", "values for",
    "circular",
    "row value", "must have", "sub-select", "columns", "unsafe", "may not", "RANGE", "duplicate", "DISTINCT",
    "parse tree", "unsupported", "HAVING", "cannot", "should come", "clause", "argument", "recursive",
    "unknown",
    "term does not match", "out of range", "can't", "too large", "has no column",
)  # fmt: skip
"""What SQLite has against statements that it has parsed."""


def test_sqlite_parses_what_is_generated() -> None:
    for text in some_texts("sql", "longest", 16, SQL_PIECES):
        assert sqlite3.complete_statement(text + ";")
        with sqlite3.connect(":memory:") as base:
            base.execute("CREATE TABLE a1 (a, b, c, x, y)")
            try:
                base.execute(text)
            except sqlite3.Error as fault:
                said = str(fault)
                assert "syntax" not in said and "incomplete" not in said and "unrecognized" not in said, text
                assert any(word in said for word in HARMLESS), (said, text)


PYTHON_PIECES = (
    b"def f(", b"):\n    ", b"if ", b"else:\n", b"return ", b"class A", b"try:\n    ", b"except ",
    b"for x in ", b" else ",
    b"lambda ", b'f"', b"(\n", b",\n", b"import ", b"with ", b"\n    ", b"{", b" = ", b": ", b"@", b"*",
    b"'a'", b"yield",
)  # fmt: skip


@pytest.mark.parametrize("lexing", LEXINGS)
def test_python_parses_what_is_generated(lexing: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in some_texts("python", lexing, 25, PYTHON_PIECES):
            ast.parse(text)


def test_other_parsers_read_what_is_generated() -> None:
    for text in some_texts("json", "dynamic", 20, (b'{"a": ', b"[1, ", b'"\\u00e9"')):
        json.loads(text)
    for text in some_texts("xml", "dynamic", 20, (b"<item>", b"</item>", b'<note id="', b"<![CDATA[")):
        ElementTree.fromstring(text)
    for text in some_texts("csv", "dynamic", 20, (b'"a""', b'",', b"\r\n")):
        list(csv.reader(io.StringIO(text), strict=True))
    for text in some_texts("date", "dynamic", 40, (b"2024-02-", b"-02-29", b"T12:")):
        if not text.startswith("P") and not text.startswith("0000"):
            datetime.fromisoformat(text if "-" in text else f"2000-01-01T{text}")


@pytest.mark.parametrize("name", ["arithmetic", "date", "email", "json", "sql", "url", "xml"])
def test_lark_parses_what_is_generated(name: str) -> None:
    from lark import Lark

    lark = Lark((FOLDER / f"{name}.lark").read_text(encoding="utf-8"), parser="lalr")
    for text in some_texts(name, "longest", 16, SQL_PIECES if name == "sql" else ()):
        lark.parse(text)
