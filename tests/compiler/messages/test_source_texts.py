"""SQL tables and TypeScript declarations: SQLite and the compiler of TypeScript agree with the readers.

The compiler of TypeScript is the one of `judges.typescript_compiler`.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

from judges.typescript_compiler import compiler, needs_compiler
from sglc.importers.core.fault import SourceFault
from sglc.importers.sql.reader import read_sql
from sglc.importers.typescript.reader import read_typescript

MANY = 20
SQL_GOOD = [
    "CREATE TABLE t (a INT)",
    "create table t (a int);",
    "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS t (a INT NOT NULL)",
    'CREATE TABLE "my table" ("my column" TEXT)',
    "CREATE TABLE t (a VARCHAR(20), b CHAR(3), c NUMERIC(8, 2))",
    "CREATE TABLE t (a REAL CHECK (a > 0 AND a < 1.5))",
    "CREATE TABLE t (a TEXT CHECK (a IN ('x', 'y')) DEFAULT 'x')",
    "CREATE TABLE t (a INT CHECK (a BETWEEN 1 AND 9))",
    "CREATE TABLE t (a TEXT CHECK (length(a) <= 5 AND a LIKE 'a%'))",
    "CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b))",
    "CREATE TABLE t (a INT UNIQUE, b INT, UNIQUE (b))",
    "CREATE TABLE t (a INT REFERENCES u (id), FOREIGN KEY (a) REFERENCES u (id))",
    "CREATE TABLE t (a INT CONSTRAINT positive CHECK (a > 0))",
    "-- people\nCREATE TABLE t (\n  a INT -- the first\n)",
    "/* people */ CREATE TABLE t (a INT /* first */, b TEXT)",
    "CREATE TABLE t (a INT DEFAULT 3, b REAL DEFAULT -1.5, c TEXT DEFAULT 'it''s')",
    "CREATE TABLE t (a BOOLEAN NOT NULL DEFAULT TRUE)",
    "CREATE TABLE t (a DATE, b TIMESTAMP, c TIME(3))",
    "CREATE TABLE t (a INT); CREATE TABLE u (b INT);",
    "CREATE TABLE t (a TEXT CHECK (a GLOB '[a-z]*')) STRICT",
    "CREATE TABLE t (a INT CHECK (NOT (a = 1)))",
    "CREATE TABLE t (a INT GENERATED ALWAYS AS (b + 1), b INT)",
]
SQL_BAD = [
    "",
    "CREATE",
    "CREATE TABLE",
    "CREATE TABLE t",
    "CREATE TABLE t ()",
    "CREATE TABLE t (a INT",
    "CREATE TABLE t a INT)",
    "CREATE TABLE t (a INT,)",
    "CREATE TABLE t (, a INT)",
    "CREATE TABLE (a INT)",
    "CREATE t (a INT)",
    "TABLE t (a INT)",
    "CREATE TABLE t (a INT NOT)",
    "CREATE TABLE t (a INT CHECK a > 0)",
    "CREATE TABLE t (a INT CHECK (a >))",
    "CREATE TABLE t (a INT CHECK (a > 0)",
    "CREATE TABLE t (a INT CHECK ())",
    "CREATE TABLE t (a VARCHAR(20)",
    "CREATE TABLE t (a VARCHAR(x y))",
    "CREATE TABLE t (a INT DEFAULT)",
    "CREATE TABLE t (a TEXT DEFAULT 'x)",
    "CREATE TABLE t (a INT CHECK (a IN 1, 2))",
    "CREATE TABLE t (a INT, a INT)",
    "CREATE TABLE t (PRIMARY KEY)",
    "CREATE TABLE t (a INT CHECK (a BETWEEN 1))",
]
SQL_WIDER = ["CREATE TABLE t (a INT) ENGINE = InnoDB", "CREATE TABLE t (select INT)"]
"""Options of other databases, and words that SQLite alone keeps to itself."""
TYPESCRIPT_GOOD = [
    "interface A { a: string }",
    "type A = { a: string; b: number }",
    "export interface A { a: string, b?: number }",
    "interface A {\n  a: string\n  b: boolean\n}",
    "type A = 'x' | 'y'",
    "type A = | 'x'\n  | 3\n  | true",
    "type A = string[]",
    "type A = Array<{ a: number }>",
    "type A = [string, number]",
    "type A = [string, ...string[]]",
    "type A = Record<string, number>",
    "type A = Record<'a' | 'b', boolean>",
    "type A = { [key: string]: number }",
    "interface A { readonly a: string; 'b c': number | null }",
    "enum A { Red = 'red', Blue = 'blue' }",
    "enum A { X, Y, Z = 7 }",
    "interface A { next?: A; kids: A[] }",
    "type A = Partial<{ a: string; b: number }>",
    "type A = Pick<{ a: string; b: number }, 'a'>",
    "type A = Omit<{ a: string; b: number }, 'a'>",
    "interface B { a: string } interface A extends B { b: number }",
    "/** What it is. */\ntype A = { /** first */ a: string } // end",
    "type A = (string | number)[]",
    "type A = { kind: 'x'; a: string } | { kind: 'y'; b: number }",
    "type A = { a: unknown }",
    "type A = -1.5 | 2e3",
]
TYPESCRIPT_BAD = [
    "interface",
    "interface A",
    "interface A {",
    "interface A { a string }",
    "interface A { a: }",
    "interface A { : string }",
    "interface A { a: string b: number }",
    "interface A { a: string }}",
    "interface { a: string }",
    "type = string",
    "type A string",
    "type A =",
    "type A = |",
    "type A = 'x' |",
    "type A = string[",
    "type A = [string, number",
    "type A = Array<string",
    "type A = (string | number",
    "type A = { a: string",
    "type A = 'x",
    "enum A { X Y }",
    "enum A { X",
    "enum { X }",
    "type A = Record<string number>",
    "interface A { a?? : string }",
    "type A = { [key string]: number }",
    "/* never closed\ntype A = string",
]


def taken(read: Any, text: str) -> bool:
    try:
        read(text, None, "A")
    except SourceFault as fault:
        # Which of several is meant is said elsewhere.
        return "there are 2 tables" in fault.reason
    return True


def sqlite_takes(text: str) -> bool:
    with sqlite3.connect(":memory:") as base:
        try:
            base.executescript(text)
        except sqlite3.Error:
            return False
        return base.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0


def test_sqlite_takes_the_same_tables() -> None:
    assert len(set(SQL_GOOD)) >= MANY <= len(set(SQL_BAD))
    for text in SQL_GOOD:
        assert sqlite_takes(text), text
        assert taken(read_sql, text), text
    for text in SQL_BAD:
        assert not sqlite_takes(text), text
        assert not taken(read_sql, text), text
    for text in SQL_WIDER:
        assert taken(read_sql, text) and not sqlite_takes(text), text


def test_which_declarations_are_taken() -> None:
    assert len(set(TYPESCRIPT_GOOD)) >= MANY <= len(set(TYPESCRIPT_BAD))
    for text in TYPESCRIPT_GOOD:
        assert taken(read_typescript, text), text
    for text in TYPESCRIPT_BAD:
        assert not taken(read_typescript, text), text


def compiler_says(texts: list[str], folder: Path) -> list[str]:
    """What the compiler has against each text, as a file of its own; empty where it takes it.

    It tells of types only where no file has a fault of syntax: the others are compiled again.
    """
    names = [f"f{number}.ts" for number in range(len(texts))]
    for name, text in zip(names, texts, strict=True):
        (folder / name).write_text(f"{text}\nexport {{}}\n", encoding="utf-8", newline="")
    options = {"strict": True, "noEmit": True, "lib": ["es2020"], "types": []}
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": options, "files": names}))
    done = subprocess.run(
        [str(compiler()), "--pretty", "false", "-p", "."], cwd=folder, capture_output=True, text=True
    )
    said = dict.fromkeys(names, "")
    for line in done.stdout.splitlines():
        said[line.partition("(")[0]] += line
    assert list(said) == names, done.stdout
    silent = [text for name, text in zip(names, texts, strict=True) if not said[name]]
    if len(silent) in (0, len(texts)):
        return list(said.values())
    again = iter(compiler_says(silent, folder))
    return [told or next(again) for told in said.values()]


@needs_compiler
def test_the_compiler_takes_the_same_declarations_and_their_values(tmp_path: Path) -> None:
    said = compiler_says([*TYPESCRIPT_GOOD, *TYPESCRIPT_BAD], tmp_path)
    good, bad = said[: len(TYPESCRIPT_GOOD)], said[len(TYPESCRIPT_GOOD) :]
    assert dict(zip(TYPESCRIPT_GOOD, good, strict=True)) == dict.fromkeys(TYPESCRIPT_GOOD, "")
    assert "" not in bad
