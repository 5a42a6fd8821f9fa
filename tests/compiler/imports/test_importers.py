"""SQL tables and TypeScript declarations as types: what is read, what is refused, and against oracles."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from decimal import Decimal
from importlib.resources import files
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from golden_case import GoldenCase, golden_cases
from sglc.automata.dfa.operations import difference
from sglc.automata.regex.compile import compile_regex
from sglc.importers.core.declared import Declared
from sglc.importers.core.fault import SourceFault
from sglc.importers.sql.reader import read_sql
from sglc.importers.sql.types import DATE, UUID
from sglc.importers.typescript.reader import read_typescript
from sglc.lalr import tables
from sglc.library import Library
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.mask.vocabulary.vocabulary import BYTES
from sglc.runtime.vm.holes.fuzz import random_word
from sglc.source import Source
from sglc.types.language.language import language
from sglc.types.language.membership import MemberError
from sglc.types.notation.sgl import show_type
from sglc.types.notation.typescript import typescript_text
from sglc.types.text.decode import decode
from sglc.types.text.plain_json import from_json, to_json
from sglc.types.text.printer import print_value
from sglc.types.type import AliasType, Named, RecordType, Str

# -- what is read and what is refused ------------------------------------------------------------------


def notation(declared: Declared) -> str:
    """The declarations in the notation of the language; names with points stand as they are."""
    out = []
    for name, type in declared.types.items():
        doc = f"  ## {type.doc}" if type.doc else ""
        if isinstance(type, AliasType):
            out.append(f"type {name} = {show_type(type.type)}{doc}")
            continue
        assert isinstance(type, RecordType)
        out.append(f"record {name}:{doc}")
        for field in type.fields:
            line = f"    {field.name}{'?' if field.optional else ''}: {show_type(field.type)}"
            if field.has_default:
                line += f" = {print_value(field.default, field.type, declared.types, surface='json')}"
            out.append(line + (f"  ## {field.doc}" if field.doc else ""))
    return "\n".join(out)


def outcome(text: str, words: str, read: Any) -> str:
    wanted = None
    first, _, rest = text.partition("\n")
    if first.startswith(words + " "):
        wanted, text = first.removeprefix(words + " "), rest
    try:
        return notation(read(text, wanted, "Row"))
    except SourceFault as fault:
        assert 0 <= fault.start <= fault.end <= len(text)
        hint = f"\nhint: {fault.hint}" if fault.hint else ""
        return f"at {text[fault.start : fault.end]!r}: {fault.reason}{hint}"


@pytest.mark.parametrize("case", golden_cases("sources/sql"), ids=str)
def test_reading_sql(case: GoldenCase, golden: Any) -> None:
    golden(case, outcome(case.input, "sql table", read_sql))


@pytest.mark.parametrize("case", golden_cases("sources/typescript"), ids=str)
def test_reading_typescript(case: GoldenCase, golden: Any) -> None:
    golden(case, outcome(case.input, "typescript", read_typescript))


@pytest.mark.parametrize(("name", "start"), [("sql", "table"), ("typescript", "module")])
def test_the_grammars_have_no_conflicts(name: str, start: str) -> None:
    grammar = files(f"sglc.importers.{name}") / f"{name}.lark"
    assert len(tables.build(grammar.read_text(encoding="utf-8"), (start,), strict=True)["rows"]) > 100


PIECES = (
    "CREATE TABLE t ( ) a INT TEXT 'x' CHECK ( , ; NOT NULL IN = 1 [ -- /* \" interface A { } type A = "
    "| string : ? < > => ` // enum"
).split(" ")


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=2), max_size=14), st.sampled_from(["", " "]))
def test_no_text_breaks_the_readers(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    for read in (read_sql, read_typescript):
        try:
            read(text, None, "T")
        except SourceFault as fault:
            assert 0 <= fault.start <= fault.end <= len(text)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (read_sql, "CREATE TABLE t (a INT CHECK (" + "(" * 5_000 + "a > 1"),
        (read_sql, "CREATE TABLE t (a INT CHECK (" + "NOT " * 5_000 + "a > 1))"),
        (read_typescript, "type A = " + "(" * 5_000),
        (read_typescript, "type A = " + "{ a: " * 5_000 + "string" + "}" * 5_000),
        (read_typescript, "type A = string" + "[]" * 5_000),
    ],
    ids=["brackets", "not", "parentheses", "objects", "arrays"],
)
def test_deep_nesting_is_refused(read: Any, text: str) -> None:
    with pytest.raises(SourceFault, match=r"deep|early|end of the text"):
        read(text, None, "T")


# -- SQL against SQLite ----------------------------------------------------------------------------------

TABLES = [
    """CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(12) NOT NULL CHECK (length(name) > 1),
       age INT NOT NULL CHECK (age BETWEEN 0 AND 120), sex CHAR(1) CHECK (sex IN ('m', 'f')) DEFAULT 'f',
       pay NUMERIC(8, 2) DEFAULT 0 CHECK (pay >= 0), weight REAL CHECK (weight > 0 AND weight < 0.1),
       ok BOOLEAN NOT NULL DEFAULT TRUE, born DATE, code TEXT)""",
    """CREATE TABLE t (a INT NOT NULL CHECK (a % 5 = 0 AND a <> 0), b INT CHECK (b = 1 OR b = 3 OR b IS NULL),
       c DECIMAL CHECK (c > 0 AND c < 2), d TEXT CHECK (d LIKE 'A-%_' AND length(d) <= 6),
       e TEXT NOT NULL CHECK (e GLOB '[a-c]?[^x]*'), f INT DEFAULT 7, g TEXT DEFAULT CURRENT_TIMESTAMP,
       h INT GENERATED ALWAYS AS (a + 1), "i j" TEXT NOT NULL CHECK ("i j" <> ''),
       k BOOLEAN CHECK (k IN (0, 1)))""",
    """CREATE TABLE t (a REAL NOT NULL CHECK (a >= -0.5 AND a <= 1e2), b REAL CHECK (b < 0 AND b > -1e-5),
       c SMALLINT NOT NULL CHECK (NOT (c < 3) AND 10 >= c), d VARCHAR(3) NOT NULL CHECK (d NOT IN ('ab') AND
       d IN ('ab', 'abc', 'c')), e TIMESTAMP NOT NULL, f TIME(3) NOT NULL, g INT CHECK (g IS NOT NULL))""",
]


def plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def inserted(create: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row as SQLite gives it back. Raises IntegrityError where a constraint of the table refuses it."""
    with sqlite3.connect(":memory:") as database:
        database.execute("PRAGMA case_sensitive_like = ON")
        database.execute(create)
        names = ", ".join(f'"{name}"' for name in row)
        marks = ", ".join("?" * len(row))
        values = [plain(value) for value in row.values()]
        database.execute(
            f"INSERT INTO t ({names}) VALUES ({marks})" if row else "INSERT INTO t DEFAULT VALUES", values
        )
        found = database.execute("SELECT * FROM t")
        return dict(zip([column[0] for column in found.description], found.fetchone(), strict=True))


def words(declared: Declared, count: int) -> Iterator[str]:
    constraint = compile_constraint(language=language(Named(declared.root), declared.types, surface="json"))
    for seed in range(count):
        yield random_word(constraint.matcher(BYTES), Random(seed)).decode()


@pytest.mark.slow
@pytest.mark.parametrize("create", TABLES, ids=["people", "checks", "numbers"])
def test_every_row_of_the_type_can_be_inserted(create: str) -> None:
    declared = read_sql(create, None, "Row")
    type = Named(declared.root)
    for text in words(declared, 60):
        value = decode(text, type, declared.types, surface="json")
        row = to_json(value, type, declared.types)
        stored = inserted(create, row)
        for name, item in row.items():
            assert stored[name] == plain(item), (name, text)


def test_rows_without_a_field_get_its_default_from_the_database_too() -> None:
    declared = read_sql(TABLES[0], None, "Row")
    row = {"name": "Ada", "age": 36}
    value = from_json(row, Named("t"), declared.types)
    stored = inserted(TABLES[0], row)
    assert {name: stored[name] for name in ("sex", "pay", "ok")} == {
        name: plain(value.fields[name]) for name in ("sex", "pay", "ok")
    }
    assert stored["id"] == 1


STRICT = """CREATE TABLE t (a INT NOT NULL CHECK (a > -2 AND a <= 4 AND a <> 1),
    b INT CHECK (b IN (1, 3) OR b = 5), c REAL NOT NULL CHECK (c BETWEEN 0.1 AND 0.3),
    d TEXT NOT NULL CHECK (length(d) BETWEEN 1 AND 2 AND d <> ''), e TEXT CHECK (e GLOB '[ab]*c'),
    f TEXT CHECK (f LIKE '_b%' OR f IS NULL), g INT DEFAULT 3 CHECK (g % 3 = 0),
    h TEXT NOT NULL CHECK (h = 'x' OR 'y' = h)) STRICT"""
TEXTS = ["", "a", "b", "x", "y", "ab", "ac", "abc", "bc", "bbc", "é", "éa", "é€a", "Bb"]
INTEGERS = [*range(-4, 8), 9, 10]
POOLS: dict[str, list[Any]] = {
    "a": INTEGERS,
    "b": [None, *INTEGERS],
    "c": [0, 0.1, 0.2, 0.3, 0.30000000000000004, 0.09, 1],
    "d": TEXTS,
    "e": [None, *TEXTS],
    "f": [None, *TEXTS],
    "g": [None, *INTEGERS],
    "h": TEXTS,
}
GOOD = {"a": 0, "c": 0.2, "d": "é", "h": "x"}


@pytest.mark.parametrize("column", POOLS)
def test_a_column_takes_what_sqlite_takes(column: str) -> None:
    declared = read_sql(STRICT, None, "Row")
    for item in POOLS[column]:
        row = {**GOOD, column: item}
        given = {name: value for name, value in row.items() if value is not None or name in "g"}
        try:
            from_json(given, Named("t"), declared.types)
            taken = True
        except MemberError:
            taken = False
        try:
            inserted(STRICT, row)
            stored = True
        except sqlite3.IntegrityError:
            stored = False
        assert taken == stored, (column, item)


NUMBER = st.integers(-3, 6).map(str) | st.sampled_from(["0.5", "2.5", "-1.0"])
INT_CHECKS = st.one_of(
    st.tuples(st.just("a"), st.sampled_from(["<", "<=", ">", ">=", "=", "<>", "!="]), NUMBER).map(" ".join),
    st.tuples(NUMBER, st.sampled_from(["<", "<=", ">", ">=", "="]), st.just("a")).map(" ".join),
    st.lists(NUMBER, min_size=1, max_size=4).map(lambda some: f"a IN ({', '.join(some)})"),
    st.lists(NUMBER, min_size=1, max_size=2).map(lambda some: f"a NOT IN ({', '.join(some)})"),
    st.tuples(NUMBER, NUMBER).map(lambda two: f"a BETWEEN {two[0]} AND {two[1]}"),
    st.sampled_from(["a % 2 = 0", "a % 3 = 0", "a IS NOT NULL", "a IS NULL"]),
)
PATTERN = st.lists(st.sampled_from(["a", "b", "%", "_", "*", "?", "[ab]", "[^a]", ".", "é"]), max_size=4).map(
    "".join
)
TEXT_CHECKS = st.one_of(
    st.tuples(st.sampled_from(["<", "<=", ">", ">=", "="]), st.integers(0, 3)).map(
        lambda two: f"length(a) {two[0]} {two[1]}"
    ),
    st.lists(st.sampled_from(["'a'", "'ab'", "''", "'é'"]), min_size=1, max_size=3).map(
        lambda some: f"a IN ({', '.join(some)})"
    ),
    PATTERN.map(lambda pattern: f"a LIKE '{pattern}'"),
    PATTERN.map(lambda pattern: f"a GLOB '{pattern}'"),
    st.sampled_from(["a <> ''", "a = 'ab'", "a IS NOT NULL", "a <> 'a'"]),
)


def joined(atoms: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Conditions made of others."""
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda two: f"{two[0]} AND {two[1]}"),
            st.tuples(inner, inner).map(lambda two: f"({two[0]} OR {two[1]})"),
            inner.map(lambda one: f"NOT ({one})"),
        ),
        max_leaves=3,
    )


@pytest.mark.slow
@settings(max_examples=150)
@given(
    joined(INT_CHECKS).map(lambda check: ("INT", check, [None, *range(-5, 9)]))
    | joined(TEXT_CHECKS).map(lambda check: ("TEXT", check, [None, *TEXTS, "aab", "b.a", "abab"]))
)
def test_random_checks_are_those_of_sqlite_or_refused(case: tuple[str, str, list[Any]]) -> None:
    kind, check, values = case
    create = f"CREATE TABLE t (a {kind} CHECK ({check})) STRICT"
    declared: Declared | None = None
    try:
        declared = read_sql(create, None, "Row")
    except SourceFault as fault:
        if "is allowed" not in fault.reason:
            return
    with sqlite3.connect(":memory:") as database:
        database.execute("PRAGMA case_sensitive_like = ON")
        database.execute(create)
        for value in values:
            taken = declared is not None
            if declared is not None:
                try:
                    from_json({} if value is None else {"a": value}, Named("t"), declared.types)
                except MemberError:
                    taken = False
            try:
                database.execute("INSERT INTO t VALUES (?)", [value])
                stored = True
            except sqlite3.IntegrityError:
                stored = False
            # A column that only NULL passes is refused as one without values.
            assert taken == stored or (declared is None and value is None), (check, value)


def test_dates_and_uuids_are_those_of_the_standard_library() -> None:
    library = Library()
    importer = Source("p.sgl", "")
    for module, alias in (("std.time", DATE), ("std.text", UUID)):
        source = library.find(module, importer)
        assert source is not None
        line = next(x for x in source.text.split("\n") if x.startswith(f"pub type {alias.name} = "))
        pattern = line.split("matching /", 1)[1].rsplit("/", 1)[0]
        assert isinstance(alias.type, Str)
        ours, theirs = compile_regex(alias.type.patterns[0]), compile_regex(pattern)
        assert not difference(ours, theirs).edges
        assert not difference(theirs, ours).edges


# -- TypeScript read back ----------------------------------------------------------------------------------

SCALARS = st.sampled_from(
    ["string", "number", "boolean", "null", "unknown", '"a"', '"b c"', "3", "-1.5", "true", "E", "O", "E.Red"]
)
KEYS = st.sampled_from(["a", "bee", '"c d"', "type", "é", "readonly"])


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    keys = draw(st.lists(KEYS, unique=True, min_size=1, max_size=3))
    return "{ " + "; ".join(f"{key}{draw(st.sampled_from(['', '?']))}: {draw(inner)}" for key in keys) + " }"


TYPES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        inner.map(lambda one: f"({one})[]"),
        st.lists(inner, min_size=1, max_size=2).map(lambda some: f"[{', '.join(some)}]"),
        st.lists(inner, min_size=2, max_size=3).map(lambda some: f"({' | '.join(some)})"),
        inner.map(lambda one: f"Record<string, {one}>"),
        objects(inner),
        objects(inner).map(lambda one: f"Partial<{one}>"),
    ),
    max_leaves=6,
)


@pytest.mark.slow
@settings(max_examples=150)
@given(TYPES, objects(TYPES))
def test_a_type_shown_as_typescript_reads_back_as_the_same_type(root: str, other: str) -> None:
    text = f'type Root = {root}; interface O {other} enum E {{ Red = "red", Blue = 2 }}'
    declared = read_typescript(text, "Root", "")
    shown = typescript_text(Named(declared.root), declared.types)
    again = read_typescript(shown, "Root", "")
    assert same(declared, again), shown


def same(one: Declared, other: Declared) -> bool:
    """Whether two declarations have the same values: their languages are written by the same terms."""
    first, second = (language(Named(each.root), each.types, surface="json") for each in (one, other))
    return bool(first.root == second.root and set(first.rules.values()) == set(second.rules.values()))
