"""Texts for the grammars of the library: taken, refused, and refused although other parsers take them."""

from __future__ import annotations

GOOD: dict[str, list[str]] = {
    "json": [
        "0", "-0", "10", "-1.5e+3", "1E-2", '""', '"a\\"\\u00e9\\/"', '"\\b\\f\\n\\r\\t"',
        '"é 漢 \U0001f600"', '"\x7f"', "true", "false", "null", "[]", "{}", "[ ]", "{ }", "[[[]]]",
        "[1,2 , 3]", '{"a":{}}', ' {"a" : [1, {"b": null}],\n"c": true } ', '\t[\r\n"x"\n]\r\n',
        '{"a":1,"a":2}', '["\\ud83d\\ude00"]',
    ],
    "arithmetic": [
        "1", "0", "0.5", "12.250", "1+2*3", "1 - 2 - 3", "8/4/2", "-(1.5 - 2) ^ -2 / 3", "2^3^2", "2 ^ -1",
        "((1))", "1 - -1", "--1", "-2^2", "-(-(1))", "(1+2)*(3-4)", "1*-2", "1 / (2 + 3)", "  7  ",
        "3 ^ (1 + 1)", "1000000000000", "((2)^(3))", "-0.0",
    ],
    "csv": [
        "", "a", "a,b", ",", ",,\n\n,x", 'a,"b ""c"" , d"\n1,\r\n', '""', '"",""', '"a\nb"', '"a\r\nb",c',
        "a\nb", "a\r\nb\r\n", "\n", " a , b ", "é,漢", '""""', '"a,b"', "1,2,3\n4,5,6\n", "'a','b'",
        "x;y\tz", '"a"\n"b"', 'a,"",b', "\r\n\r\n",
    ],
    "xml": [
        "<note/>", "<note />", "<note></note>", "<note ></note >", "<note>a</note>", "<note>é</note>",
        '<item id="a"  class=\'b&amp;\'><name>x &lt; y</name><!-- c --></item>',
        '<name lang="en" type="x"/>', "<list><item>1</item>\n<item/></list>",
        "<code><![CDATA[<b>]]></code >", "<code><![CDATA[]]></code>", "<value>&#650;</value>",
        "<value>&#x20AC;</value>", "<field><!----></field>", "<field><!-- - --></field>",
        '<note\nid="1"\n/>', '<note id=""/>', "<section><section><section/></section></section>",
        "<note id='\"'/>", '<note id="a > b"/>', "<paragraph>&apos;&quot;&gt;</paragraph>",
        "<document><title>T</title><section>x</section></document>", "<record>]]</record>",
        "<code><![CDATA[a]b]]></code>", "<value>&#55295;&#57344;&#65533;&#65536;&#99999;</value>",
        "<note>\ufffd\U0001fffe</note>",
    ],
    "date": [
        "2024-02-29", "2000-02-29", "1999-12-31", "2023-04-30", "0001-01-01", "9999-12-31",
        "2023-12-31T23:59:59.25Z", "1999-01-01T00:00:00+02:00", "2024-02-29T12:00:00-23:59",
        "2024-01-01T00:00:00Z", "2024-01-01", "12:30:00", "00:00:00", "23:59:59.123456", "06:07:08.9",
        "P3W", "P1Y2M3DT4H5M6.7S", "PT0S", "P1D", "P2Y", "P6M", "P1Y6M", "PT36H", "PT1M", "P1DT12H",
        "PT1H30M", "P10DT0.5S", "23:59:59Z", "12:00:00.5+01:00", "12:00:00-05:30",
    ],
    "email": [
        "a@b", "a@b.c", "first.last+tag@sub.example.org", '"a b\\"c"@x.y', "x@[127.0.0.1]", "o'hara@e-x.co",
        "1@2.3", "a-b_c@d", "!#$%&'*+/=?^_`{|}~-@x.org", '""@x', '"@"@x', '"a@b"@c.d', '"\\\\"@x',
        "A.B.C@D.E.F", "x@[0.0.0.0]", "x@[255.255.255.255]", "x@" + "a" * 63 + ".org",
        "user@xn--bcher-kva.example", "a@1-2.x", '"a..b"@c', "a=b@c",
    ],
    "url": [
        "http://a", "https://user:pw@example.org:8080/a/b%20c?q=1&r=/x#frag", "http://127.0.0.1/",
        "https://example.org./?", "http://a?x#y", "http://h:65535", "http://:@a//b/?#",
        "http://u%40@a-b.c:1/@:", "http://a/", "http://a//", "http://a/.", "http://a/b;c=d", "http://a/?",
        "http://a#", "http://a?#", "http://a/%E2%82%AC", "https://a.b.c.d.e/", "http://user@h",
        "http://h:80?x", "http://h/~u/!$&'()*+,;=:@", "http://1.2.3", "https://x-y.z:443/p?a=b/c?d#e/f?g",
        "http://xn--bcher-kva.example/",
    ],
    "sql": [
        "SELECT * FROM t", "SELECT 1",
        "select a, count(*) as n from t where x >= 1.5 and not y like 'a%' group by a "
        "having n > 1 order by n desc, a limit 10 offset 5;",
        "SELECT DISTINCT t.a AS \"x y\" FROM main.t AS t LEFT OUTER JOIN u ON t.id = u.id, v WHERE t.a IN "
        "(SELECT 1)",
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT n FROM c",
        "INSERT INTO t (a, b) VALUES (1, 'x''y'), (NULL, x'00ff') ON CONFLICT (a) DO UPDATE SET b = "
        "excluded.b",
        "insert or ignore into t default values returning *", "REPLACE INTO u SELECT a, id FROM v",
        "UPDATE t SET a = a + 1, (b, c) = (1, 2) WHERE id BETWEEN 1 AND 9",
        "DELETE FROM t WHERE a IS NOT NULL RETURNING id",
        "SELECT CASE WHEN a THEN 1 ELSE 2 END, CAST(b AS TEXT), -a || 'z', (SELECT max(x) FROM v) FROM t",
        "SELECT sum(x) OVER (PARTITION BY a ORDER BY b ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) "
        "FROM t",
        "SELECT 1 WHERE EXISTS (SELECT 1) OR 3 NOT IN (1, 2) OR 4 ISNULL",
        "SELECT a FROM t UNION SELECT id FROM u",
        "SELECT a FROM t EXCEPT SELECT id FROM u INTERSECT SELECT 3 ORDER BY 1 NULLS LAST LIMIT 1",
        "SELECT t.* FROM t NATURAL JOIN u", "SELECT * FROM t JOIN u USING (id) CROSS JOIN v",
        "SELECT * FROM (SELECT a FROM t) AS s WHERE s.a IS NOT 3",
        "SELECT count(DISTINCT a) FILTER (WHERE a > 1) FROM t",
        "UPDATE OR REPLACE t AS s SET a = (SELECT max(id) FROM u) WHERE s.b GLOB 'x*'",
        "INSERT INTO u VALUES (1, 2.5e3) ON CONFLICT DO NOTHING", "DELETE FROM t",
        "INSERT INTO u (id) SELECT 1", "SELECT x FROM t ORDER BY x COLLATE nocase ASC",
        "WITH s AS (SELECT 1 AS n) UPDATE t SET a = 1 WHERE b IN (SELECT n FROM s)",
        "SELECT NULL, TRUE, CURRENT_DATE",
        "SELECT ~a & 3 | 4 << 1 FROM t WHERE a <> 1 AND b != 2 OR c == 3", "SELECT\n\t1 +\n2 AS three",
        'SELECT "a" FROM "t" WHERE "a" LIKE \'%!%\' ESCAPE \'!\'',
        "SELECT a COLLATE NOCASE || b COLLATE binary, x -> '$.a', x ->> 2 FROM t",
        "SELECT a FROM t WHERE a IS DISTINCT FROM b OR a IS NOT DISTINCT FROM 1 OR b NOT NULL",
        "SELECT a FROM t WHERE (a, b) = (1, 2) OR (a, b) IN (SELECT id, z FROM u) OR (1, 2) < (SELECT 3, 4)",
        "SELECT 1 WHERE 2 NOT IN s1 OR 3 IN main.s1",
        "SELECT CAST(a AS VARCHAR(10)), CAST(b AS DECIMAL(5, -2)) FROM t",
        "SELECT replace(a, 'x', 'y'), 0x1F, .5, 5., 1.e3 FROM t",
        "SELECT a AS key, b AS \u00fcber FROM t AS plan",
        "SELECT sum(x) OVER (ORDER BY b ROWS 1 PRECEDING), max(a) OVER (ORDER BY x RANGE BETWEEN 1 PRECEDING "
        "AND 2 FOLLOWING EXCLUDE TIES) FROM t",
        "SELECT id FROM u NOT INDEXED WHERE id = 1", "UPDATE t SET (a, b) = (SELECT id, z FROM u)",
        "SELECT id FROM u INDEXED BY by_z WHERE z = 1", "DELETE FROM u INDEXED BY by_z WHERE z = 1",
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
        "pass\n", "x = y = 1, 2\n", "def f():\n    return\n", "global_ = 0x1f + 1.5e-3\n", "a, *b = c\n",
        "def f(x, *, y, **z):\n    nonlocal_ = x\n    global q\n", "print(*a, **b)\n",
        "x = b\"ab\" + b\"\"\n", "f(x for x in y)\n", "x = {k: v for k, v in d.items() if v}\n",
        "x = not a == b or c in d\n", "class A:\n    pass\n", "try:  # x\n    x[1:]\nfinally:  #\n    0\n",
        "@a.b(1)\ndef f():\n    pass\n", "if a:\n    if b:\n        if c:\n            pass\n",
        "x = lambda: 0\n", "x = (1,)\n", "while True:\n    break\n", "a.b[c].d = e\n", "x = -a ** -b\n",
        "x = a in d\n", "x = {{1}}\n", "x = {{a: b for a in c}: f\"{a}{b}{{{c}}}\"}\n",
        "x = [a in b for a in c]\n", "x = [\n    1,\n    2,\n]\n",
        "x = b'a\\x00' b\"c\"\n", "x = '''a\n'b''' \"c\"\n", 'x = """a""b\\n"""\n', "x = f\"a{b}\" 'c'\n",
        "x = 'a' 'b'\n", "x = 1; y = 2\n", "if x:\n    return; pass\n",
        "x = 0xfF + 0b1 + 0o7 + 1_000 + 1e5 + .5 + 5.\n", "x = '\\x41\\u00e9'\n", "x[.5:1.]\n",
    ],
}  # fmt: skip
"""Taken by the grammar and by another parser."""

BAD: dict[str, list[str]] = {
    "json": [
        "", " ", "01", "1.", ".5", "+1", "1e", "-", "0x1", "'a'", "[1,]", "[,1]", '{"a" 1}', '{"a":1,}',
        "{a:1}", '{1:2}', '"\\x"', '"\\u12g4"', '"\n"', '"\t"', '"a', "nul", "True", "[1 2]", '"a" "b"',
        "[", "}", "[1]]", "// c\n1", '{"a"}', "\x0c1",
    ],
    "arithmetic": [
        "", " ", "1+", "(1", "1)", "(", "1 2", "*1", "1..2", "01", "1 ** 2 **", "1//", "a", "1,2,", "2^",
        "^2", "1 + * 2", "(1)(", "1.2.3", "((1)", "1 - ", "$1", "1 +/ 2",
    ],
    "csv": [
        '"', '"a', '"a"b', 'a,"', 'a,"b', '"a""', '"a" ', '"a" ,b', '"a"x,"b"', 'a\n"b', '"a"\n"b"c', '"""',
        '"a"""b', ',"', '"a","b', '"a","b"c', 'x,y\n"z"w\n', '""a', '"\n', '"a"\r\n"b"x', '"é"é',
        'a,b\n"c\nd',
    ],
    "xml": [
        "", "note", "<note>", "</note>", "<note></item>", "<note a=1/>", '<note id="1" id="2"/>',
        "<note>&</note>", "<note><</note>", "<note>&foo;</note>", "<note/><note/>", "<note", "<note/>x",
        "< note/>", "<note></ note>", '<note id="<"/>', '<note id="&"/>', '<note id="a/>', "<note id/>",
        "<note><!-- -- --></note>", "<note><![CDATA[</note>", "<note>\x00</note>", "<note>\x0b</note>",
        '<noteid="1"/>', "<item><note></item></note>", "<note>&#x0;</note>", '<note id="1"class="2"/>',
        "<note>&#55296;</note>", "<note>&#56796;</note>", "<note>&#57343;</note>", "<note>&#65534;</note>",
        "<note>&#65535;</note>", "<note>\ufffe</note>", "<note id='\uffff'/>", "<note><!--\uffff--></note>",
    ],
    "date": [
        "", "2023-02-29", "1900-02-29", "2023-04-31", "2023-13-01", "2023-00-10", "2023-01-00",
        "2023-01-32", "24:00:00", "12:60:00", "12:00:60", "2023-1-1", "2023-01-01T",
        "2023-01-01T00:00:00+24:00", "T12:00:00", "23-01-01", "2023-01-01T25:00:00Z", "P", "P1YT", "PT",
        "P1M1Y", "P1", "1D", "PT1D", "P1H", "P1.5Y", "P1W2D", "-P1D", "2023-01-01Z", "12:00:00+",
        "12:00:00+1:00", "12:00:00ZZ", "12:00:00Z+01:00",
    ],
    "email": [
        "", "a", "@", "@b", "a@", "a..b@c", ".a@b", "a.@b", "a@-b", "a@b-", "a@b..c", "a@.b", "a@b.",
        "a@[256.0.0.1]", "a@[1.2.3]", "a b@c", '"a@b', '"a"b@c', "a@b@c", "a@b c", "é@b", "a@b_c", "(a@b",
        "a@" + "x" * 64, "a,b@c", "a@[1.2.3.4", "<a@b>",
    ],
    "url": [
        "", "a", "http:", "http:/a", "http://", "ftp://a", "//a", "http://a b", "http://a/%2",
        "http://a/%zz", "http://a:70000", "http://a:65536", "http://a#b#c", "http://u@v@a", "http://a-",
        "http://-a", "http://a..b", "http://a:0", "http://a:x", "http://a/<b>", 'http://a/"', "http://a/é",
        "http://a/[b]", "http://a?{x}", "http://a\\b", "https:///a", "http://a_b", "http://?x",
        "http://:80", " http://a",
    ],
    "sql": [
        "\u017felect 1", "select 1 A\u017f a", "select a li\u212ae b from t", "select ca\u017ft(a as text)",
        "insert \u0131nto t values (1)", "select 1 l\u0130mit 1",
        "", ";", "SELECT 1;;", "SELECT", "SELECT * FROM", "SELECT a b c FROM t", "SELECTa FROM t",
        "SELECT select FROM t", "INSERT INTO t", "UPDATE t SET", "SELECT 'a", "SELECT * FROM t WHERE",
        "SELECT (1", "SELECT 1a", "DELETE t", "SELECT 1)", "SELECT a, FROM t", "SELECT , a FROM t",
        "FROM t", "SELECT * FROM t ORDER a", "SELECT * FROM t GROUP a", "UPDATE SET a = 1",
        "UPDATE t a = 1", "INSERT t VALUES (1)", "INSERT INTO t VALUES 1", "INSERT INTO t VALUES (1,)",
        "DELETE FROM", "SELECT a FROM t HAVING", "SELECT CASE END", "SELECT CAST(a TEXT) FROM t",
        "SELECT x'0' FROM t", "SELECT a = FROM t", "SELECT a BETWEEN 1 OR 2 FROM t", "SELECT * FROM t JOIN",
        "SELECT * FROM t LIMIT", "WITH SELECT 1", "SELECT 1 UNION", "SELECT (1--2)", "SELECT NOT",
        "SELECT a IS FROM t", "SELECT 1..2", "UPDATE t SET a = 1 SET b = 2",
    ],
    "python": [
        "def f():\n", "if x:\npass\n", "  x = 1\n", "def f(a=1, b):\n    pass\n", "f(a=1, 2)\n", "1 = x\n",
        "for = 2\n", "x = = 1\n", "return(\n", "class:\n    pass\n", "if x:\n    # only\n", "x = 'a\n",
        "try:\n    pass\n", "f() = 1\n", "x = 01\n", "yield from\n", "x = (1\n",
        "def f(a, a b):\n    pass\n", "import\n", "from x import\n", "x +\n", "else:\n    pass\n",
        "def f:\n    pass\n", "x = 1 2\n", "while:\n    pass\n", "a b\n", "x = [1,, 2]\n", "del\n",
        "lambda: = 1\n", "if a = b:\n    pass\n", "    pass\n", "f(**a, *b)\n", "x = {1: 2, 3}\n",
        "def f(**k, *a):\n    pass\n", "x = f\"{\"\n", "a + b = c\n", "x = 5a\n", "for x y:\n    pass\n",
        "if x:\n    y\n  z\n", "raise from x\n",
    ],
}  # fmt: skip
"""Taken by neither."""

NARROWER: dict[str, list[str]] = {
    "json": [],
    # A sign before a number is a minus; numbers have digits on both sides of the point, and no exponent.
    "arithmetic": ["+1", "1.", ".5", "1e5", "1//2", "1 % 2", "1_0", "1\t+ 2", "()"],
    # Quotes stand around a whole field; a line ends as RFC 4180 or Unix has it.
    "csv": ['a"b', 'a,b"c"', "a\rb"],
    # Tags and attributes are those of the list, attributes in its order.
    "xml": [
        "<other/>", "<note a='1'/>", "<note class='1' id='2'/>", "<?xml version='1.0'?><note/>",
        "<note>&#9;</note>",
        "<note>a > b</note>",
    ],
    # RFC 3339 has no other forms.
    "date": [
        "20240229", "2024-W01-1", "2023-01-01 00:00:00", "2023-01-01T00:00", "12:30", "2024-01-01T00:00:00",
    ],
    # Comments and blanks around the parts are of e-mail headers.
    "email": ["a @b", "a(c)@b"],
    "url": ["HTTP://a", "http://[::1]/"],
    "sql": [
        "DROP TABLE t", "EXPLAIN SELECT 1", "SELECT [a] FROM t", "SELECT `a` FROM t", "SELECT ?",
        "SELECT 1 -- x", "SELECT 1 --x", "VALUES (1)",
        "SELECT sum(a) OVER w FROM t WINDOW w AS ()", "SELECT a$b FROM t", "SELECT a AS 'b' FROM t",
        "SELECT RAISE(IGNORE)", "SELECT * FROM json_each('[]')", "SELECT (1, 2)", "SELECT 1 = NOT 2",
        "SELECT * FROM t LEFT NATURAL JOIN u", "SELECT count(*) HAVING 1",
        "WITH c AS MATERIALIZED (SELECT 1) SELECT * FROM c", "SELECT 1 AS desc", "SELECT like(1, 2)",
        "INSERT INTO u VALUES (1, 2) ON CONFLICT (id) DO NOTHING ON CONFLICT DO NOTHING",
        "SELECT 1234567890123456789",
    ],
    # One way to write blanks; a line end at the end; no empty module.
    "python": [
        "", "x = 1", "x=1\n", "x = 1;y = 2\n", "x = 1;\n", "x = 1 \n",
        "if x: pass; y\n", "if x: pass\n", "if x:\n  pass\n", "f(a,b)\n",
        "x = (1, )\n", "async def f():\n    pass\n", "x = 'a''b'\n", "x = 'a' f\"b\"\n", "x = f'a'\n",
        "x = (\n    'a'\n    'b',\n)\n", "x = \\\n    1\n", "x = '\\N{DIGIT ONE}'\n", "é = 1\n", "x = 0x_f\n",
        "try:\n    pass\nexcept* A:\n    pass\n", "x = rb'a'\n", 'x = f"{a!r}"\n', 'x = f"{a + b}"\n',
        "\nx = 1\n", "x = b'''a'''\n",
        "match x:\n    case 1:\n        pass\n", "x: int\ny = r'a'\n", "def f(a, /):\n    pass\n",
        "x = 1j\n",
    ],
}  # fmt: skip
"""Not taken by the grammar, on purpose, although another parser takes it."""
