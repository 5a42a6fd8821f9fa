"""Tables of SQL as records: `CREATE TABLE` of SQLite and standard SQL.

A record holds what an INSERT into the table gives: columns in their order, NOT NULL ones required, others
optional, with their defaults. What a database keeps between rows (UNIQUE, keys, references) is no matter of
one row's type. Whatever says more of a value than a type can is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path

from sglc.importers.core.comments import Comments
from sglc.importers.core.declared import Declared, reachable
from sglc.importers.core.fault import SourceFault
from sglc.importers.sql.checks import Limits, literal, take_check
from sglc.importers.sql.columns import narrowed
from sglc.importers.sql.tokens import name_of, statements, string_of
from sglc.importers.sql.types import SERIALS, Written, column_type
from sglc.lalr import tables
from sglc.lalr.machine import LalrMachine
from sglc.lalr.parse import ParseNode, Part, Token, TooDeep, Unexpected, machine_of, parse
from sglc.types.language.membership import MemberError, check_member
from sglc.types.type import (
    Bool,
    Dec,
    DeclaredType,
    FieldType,
    Float,
    Int,
    Json,
    Named,
    Optional,
    RecordType,
    Type,
)

MAX_COLUMNS = 2000
_PASSED_OVER = (
    ("CREATE", "INDEX"),
    ("CREATE", "UNIQUE", "INDEX"),
    ("CREATE", "VIEW"),
    ("DROP",),
    ("PRAGMA",),
    ("BEGIN",),
    ("COMMIT",),
    ("SET",),
    ("INSERT",),
    ("USE",),
    ("ANALYZE",),
)
"""Statements that say nothing of one row of a table."""


def read_sql(text: str, wanted: str | None, like: str) -> Declared:
    """The row of a table: of the one named `wanted`, else of the only one, or the one named `like`.

    Raises SourceFault.
    """
    machine = sql_machine()
    found, comments = statements(text, machine.literals)
    nodes: dict[str, ParseNode] = {}
    names: list[str] = []
    for tokens in found:
        words = [token.text.upper() for token in tokens[:3]]
        if any(words[: len(begin)] == list(begin) for begin in _PASSED_OVER):
            continue
        if words[:1] != ["CREATE"] or not {"TABLE"} & set(token.text.upper() for token in tokens[1:3]):
            first = tokens[0]
            raise SourceFault(
                first.start,
                first.end,
                f"a statement that begins with {first.text} is not read",
                "only CREATE TABLE says what a row is",
            )
        node = _parsed(machine, tokens)
        name = _table_name(node)
        if name.lower() in nodes:
            raise SourceFault(tokens[0].start, tokens[0].end, f"table {name} is created twice")
        nodes[name.lower()] = node
        names.append(name)
    if not nodes:
        raise SourceFault(0, len(text), "there is no CREATE TABLE in it")
    chosen = _chosen(nodes, names, wanted, like)
    return _Table(chosen, comments).declared()


@cache
def sql_machine() -> LalrMachine:
    """The parser of `create table` statements, made once."""
    grammar = Path(__file__).with_name("sql.lark").read_text(encoding="utf-8")
    return machine_of(tables.load("sql", grammar, lambda text: tables.build(text, ("table",))))


def _parsed(machine: LalrMachine, tokens: Sequence[Token]) -> ParseNode:
    try:
        return parse(machine, tokens, "table")
    except Unexpected as fault:
        token = fault.token
        what = f"`{token.text}`" if token.text else "the end of the text"
        raise SourceFault(
            token.start, token.end, f"{what} is not expected here", _expectation(fault.expected)
        ) from None
    except TooDeep as fault:
        raise SourceFault(fault.token.start, fault.token.end, "it is nested too deeply") from None


def _expectation(kinds: frozenset[str]) -> str:
    named = {
        "NAME": "a name",
        "QUOTED": "",
        "STRING": "a text in '…'",
        "NUMBER": "a number",
        "$END": "the end",
    }
    said = sorted(filter(None, (named.get(kind, f"`{kind}`") for kind in kinds)))
    return "expected " + " or ".join(said) if 0 < len(said) <= 6 else ""


def _chosen(nodes: dict[str, ParseNode], names: list[str], wanted: str | None, like: str) -> ParseNode:
    if wanted is not None:
        node = nodes.get(wanted.lower())
        if node is None:
            raise SourceFault(0, 0, f"there is no table {wanted}", f"there are {', '.join(names)}")
        return node
    if len(nodes) == 1:
        return next(iter(nodes.values()))
    node = nodes.get(like.lower())
    if node is None:
        raise SourceFault(0, 0, f"there are {len(nodes)} tables", f"name one: `sql table {names[0]} from …`")
    return node


def _table_name(node: ParseNode) -> str:
    dotted = next(part for part in node.parts if isinstance(part, ParseNode) and part.kind == "dotted")
    assert isinstance(dotted.parts[-1], Token)
    return name_of(dotted.parts[-1])


class _Column:
    """A column while its table is read."""

    def __init__(self, node: ParseNode, name: str) -> None:
        self.node = node
        self.name = name
        self.type: Type | None = None
        self.written: Written | None = None
        self.limits = Limits(name, "other")
        self.required = False
        self.counted = False
        """Whether the database fills it where a row leaves it out."""
        self.generated = False
        self.default: ParseNode | None = None
        self.note = ""
        self.checks: list[Part] = []
        self.last = node.end
        """The end of its last part that is text, for the comment behind it."""


class _Table:
    def __init__(self, node: ParseNode, comments: Comments) -> None:
        self.node = node
        self.comments = comments
        self.name = _table_name(node)
        self.types: dict[str, DeclaredType] = {}
        self.columns: dict[str, _Column] = {}
        self.checks: list[Part] = []

    def declared(self) -> Declared:
        clauses = []
        for part in self.node.parts:
            if isinstance(part, ParseNode) and part.kind == "column":
                self.column(part)
            elif isinstance(part, ParseNode) and part.kind == "table_clause":
                clauses.append(part)
        for clause in clauses:
            self.table_clause(clause)
        limits = {key: column.limits for key, column in self.columns.items() if not column.generated}
        for column in self.columns.values():
            for check in column.checks:
                take_check(check, limits)
        for check in self.checks:
            take_check(check, limits)
        fields = tuple(self.field(column) for column in self.columns.values() if not column.generated)
        doc = self.comments.of(self.node.start, self.node.start)
        types = {self.name: RecordType(self.name, fields, doc), **self.types}
        return Declared(self.name, reachable(self.name, types))

    def column(self, node: ParseNode) -> None:
        first = node.parts[0]
        assert isinstance(first, Token)
        name = name_of(first)
        if name.lower() in self.columns:
            raise SourceFault(first.start, first.end, f"column {name} is there twice")
        if len(self.columns) >= MAX_COLUMNS:
            raise SourceFault(first.start, first.end, f"a table has at most {MAX_COLUMNS} columns")
        column = self.columns[name.lower()] = _Column(node, name)
        clauses = [part for part in node.parts[1:] if isinstance(part, ParseNode)]
        for part in clauses:
            if part.kind == "type":
                column.written = _written(part)
        for part in clauses:
            self.clause(column, part)
        if column.generated:
            return
        if column.written is None:
            raise SourceFault(
                first.start, first.end, f"column {name} has no type, so it may hold anything", "give it one"
            )
        column.type, declared = column_type(column.written)
        if declared is not None:
            self.types[declared.name] = declared
        column.limits.sort = _sort(column.type)
        if column.written.words in SERIALS:
            column.counted = True
            column.required = True

    def clause(self, column: _Column, node: ParseNode) -> None:
        match node.kind:
            case "not_null":
                column.required = True
            case "primary_key":
                self.primary_key(column)
            case "automatic":
                column.counted = True
            case "check":
                column.checks.append(node.parts[0])
            case "default":
                inner = node.parts[0]
                assert isinstance(inner, ParseNode)
                if inner.kind == "computed" and literal(inner.parts[0]) is None:
                    column.counted = True
                else:
                    column.default = inner if inner.kind != "computed" else _node(inner.parts[0])
            case "collate":
                name = node.parts[0]
                column.limits.collated = isinstance(name, Token) and name.text.upper() != "BINARY"
            case "comment":
                assert isinstance(node.parts[0], Token)
                column.note = string_of(node.parts[0])
            case "generated":
                column.generated = True

    def primary_key(self, column: _Column) -> None:
        """SQLite numbers the rows of a table in its INTEGER PRIMARY KEY."""
        column.required = True
        if column.written is not None and column.written.name == "INTEGER":
            column.counted = True

    def table_clause(self, node: ParseNode) -> None:
        for part in node.parts:
            if not isinstance(part, ParseNode):
                continue
            if part.kind == "check":
                self.checks.append(part.parts[0])
            elif part.kind == "primary_keys":
                names = part.parts[0]
                assert isinstance(names, ParseNode)
                keys = [indexed.parts[0] for indexed in names.parts if isinstance(indexed, ParseNode)]
                for key in keys:
                    assert isinstance(key, Token)
                    column = self.columns.get(name_of(key).lower())
                    if column is None:
                        raise SourceFault(key.start, key.end, f"there is no column {name_of(key)}")
                    if len(keys) == 1:
                        self.primary_key(column)
                    column.required = True

    def field(self, column: _Column) -> FieldType:
        assert column.type is not None
        type = narrowed(column.type, column.limits, self.types, column.node)
        doc = " ".join(filter(None, (column.note, self.comments.of(column.node.start, column.last))))
        required = column.required or column.limits.not_null
        if column.counted:
            return FieldType(column.name, type, optional=True, doc=doc)
        node = column.default
        if node is None or node.kind == "null":
            if node is not None and required:
                raise SourceFault(node.start, node.end, "a column that is NOT NULL cannot be NULL by default")
            return FieldType(column.name, type, optional=not required, doc=doc)
        default = _default(node, column.type)
        try:
            check_member(default, type, self.types)
        except MemberError as fault:
            raise SourceFault(
                node.start, node.end, f"the default is no value of its column: {fault.reason}"
            ) from None
        whole = type if required else Optional(type)
        return FieldType(column.name, whole, has_default=True, default=default, doc=doc)


def _node(part: Part) -> ParseNode:
    assert isinstance(part, ParseNode)
    return part


def _written(node: ParseNode) -> Written:
    words: list[str] = []
    behind: list[str] = []
    arguments: list[str | int] = []
    seen = False
    for part in node.parts:
        if isinstance(part, Token):
            if part.kind == "EMPTY_BRACKETS":
                raise SourceFault(part.start, part.end, "arrays are no columns of standard SQL")
            (behind if seen else words).append(part.text.upper())
        elif isinstance(part, ParseNode):
            seen = True
            arguments = [_argument(one) for one in part.parts if isinstance(one, ParseNode)]
    return Written(" ".join(words), tuple(arguments), " ".join(behind), node.start, node.end)


def _argument(node: ParseNode) -> str | int:
    first = node.parts[0]
    assert isinstance(first, Token)
    unit = node.parts[1] if len(node.parts) > 1 else None
    if isinstance(unit, Token) and unit.text.upper() not in ("CHAR", "CHARACTERS"):
        raise SourceFault(unit.start, unit.end, f"a length in {unit.text} is not one in characters")
    if first.kind == "STRING":
        return string_of(first)
    if first.kind == "NUMBER" and first.text.isdigit() and len(first.text) < 10:
        return int(first.text)
    raise SourceFault(first.start, first.end, f"`{first.text}` is not understood here")


def _sort(type: Type) -> str:
    match type:
        case Int() | Dec() | Float():
            return "number"
        case Bool():
            return "bool"
        case Named():
            return "moment"
        case Json():
            return "other"
    return "text"


def _default(node: ParseNode, type: Type) -> str | int | Decimal | float | bool:
    value = literal(node)
    if value is None:
        raise SourceFault(node.start, node.end, "this default is not understood")
    if isinstance(value, bool) or isinstance(value, str):
        return value
    match type:
        case Bool() if value in (0, 1):
            return bool(value)
        case Float():
            return float(value)
        case Dec():
            return Decimal(value)
    return value
