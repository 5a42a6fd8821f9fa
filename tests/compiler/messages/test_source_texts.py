"""SQL tables and TypeScript declarations: SQLite and the compiler of TypeScript agree with the readers.

The compiler runs where `SGLC_TYPESCRIPT` is the folder of the package `typescript`, and node is there.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from random import Random
from typing import Any

import pytest

from example_budget import examples
from sglc.importers.core.fault import SourceFault
from sglc.importers.sql.reader import read_sql
from sglc.importers.typescript.reader import read_typescript
from sglc.runtime.mask.constraint import compile_constraint
from sglc.runtime.session import BYTES
from sglc.runtime.vm.holes.fuzz import random_word
from sglc.types.language.language import language
from sglc.types.type import Named

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


COMPILER = os.environ.get("SGLC_TYPESCRIPT", "")
SCRIPT = """
const ts = require(process.argv[1]);
const options = { strict: true, noEmit: true, lib: ["lib.es2020.d.ts"], types: [] };
const texts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const files = new Map(texts.map((text, at) => [`/f${at}.ts`, text + "\\nexport {}\\n"]));
const host = ts.createCompilerHost(options);
const read = host.getSourceFile;
host.getSourceFile = (name, target) => files.has(name)
  ? ts.createSourceFile(name, files.get(name), target, true) : read(name, target);
const old = host.fileExists;
host.fileExists = (name) => files.has(name) || old(name);
const program = ts.createProgram([...files.keys()], options, host);
const found = [...files.keys()].map((name) => {
  const file = program.getSourceFile(name);
  const faults = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  return faults.map((fault) => ts.flattenDiagnosticMessageText(fault.messageText, " ")).join("; ");
});
console.log(JSON.stringify(found));
"""


def compiler_says(texts: list[str]) -> list[str]:
    """What the compiler has against each text, as a file of its own."""
    node = shutil.which("node")
    assert node is not None
    ran = subprocess.run(
        [node, "-e", SCRIPT, os.path.abspath(COMPILER)],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    found: list[str] = json.loads(ran.stdout)
    return found


@pytest.mark.skipif(not COMPILER or shutil.which("node") is None, reason="there is no compiler of TypeScript")
def test_the_compiler_takes_the_same_declarations_and_their_values() -> None:
    assert dict(zip(TYPESCRIPT_GOOD, compiler_says(TYPESCRIPT_GOOD), strict=True)) == dict.fromkeys(
        TYPESCRIPT_GOOD, ""
    )
    assert "" not in compiler_says(TYPESCRIPT_BAD)
    values = []
    for text in TYPESCRIPT_GOOD:
        declared = read_typescript(text, None, "A")
        constraint = compile_constraint(
            language=language(Named(declared.root), declared.types, surface="json")
        )
        # A text is no member of an enum of texts for the compiler, unless it is asked for as a text.
        root = "`${A}`" if "enum A { Red" in text else declared.root
        for seed in range(examples(5)):
            written = random_word(constraint.matcher(BYTES), Random(seed)).decode()
            values.append(f"{text}\nconst value: {root} = {written};")
    assert dict(zip(values, compiler_says(values), strict=True)) == dict.fromkeys(values, "")
