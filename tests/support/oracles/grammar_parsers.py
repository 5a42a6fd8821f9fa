"""Parsers that have nothing to do with the grammars of the library: whether a text is of their kind."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import sqlite3
import warnings
from collections.abc import Callable
from datetime import datetime
from email.errors import HeaderParseError
from email.headerregistry import Address
from ipaddress import IPv4Address
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree


def is_json(text: str) -> bool:
    def no_number(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=no_number)
    except ValueError:
        return False
    return True


def is_python(text: str, mode: str = "exec") -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text, mode=mode)
        except (SyntaxError, ValueError):
            return False
    return True


def is_arithmetic(text: str) -> bool:
    """Sums are those of Python but for the sign of powers."""
    return not re.search("[^-+*/^%() 0-9._e\t]", text) and is_python(text.strip().replace("^", "**"), "eval")


def is_csv(text: str) -> bool:
    try:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return True


def is_xml(text: str) -> bool:
    try:
        ElementTree.fromstring(text)
    except ElementTree.ParseError:
        return False
    return True


def is_date(text: str) -> bool:
    """A date, a time, both, or a duration, which the standard library has no parser of."""
    if text.startswith("P"):
        return _is_duration(text)
    if re.search("[Zz+].*-|-.*[Zz+]|^T", text) and "T" not in text[1:]:
        return False
    try:
        # The year 0 is one of ISO 8601, but not of the standard library; it is a leap year.
        whole = text if "-" in text[:5] or text[2:3] != ":" else f"2000-01-01T{text}"
        datetime.fromisoformat(re.sub(r"^0000(?=-)", "2000", whole))
    except ValueError:
        return False
    return True


def _is_duration(text: str) -> bool:
    units, time = "YMWD", False
    number = ""
    found = ""
    for char in text[1:]:
        if char.isdigit() or (char == "." and number):
            number += char
        elif char == "T" and not time and not number:
            units, time = "HMS", True
            found += "T"
        elif char in units and number and ("." not in number or char == "S"):
            units = units[units.index(char) + 1 :]
            found, number = found + char, ""
        else:
            return False
    return not number and found[-1:] not in ("", "T") and ("W" not in found or found == "W")


def _is_host(text: str) -> bool:
    labels = text.split(".")
    return all(
        label.isascii()
        and label.replace("-", "a").isalnum()
        and len(label) <= 63
        and label.strip("-") == label
        for label in labels
    )


def is_email(text: str) -> bool:
    try:
        read = Address(addr_spec=text)
        if read.domain.startswith("["):
            IPv4Address(read.domain[1:-1])
            return read.domain.endswith("]")
    except (HeaderParseError, ValueError, IndexError, AttributeError):
        # Some defects make the parser itself stumble.
        return False
    return bool(read.username or text.startswith('""')) and _is_host(read.domain)


def is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or text.strip() != text:
        return False
    if not parts.netloc.rpartition("@")[2].startswith("[") and not _is_host(parts.hostname.removesuffix(".")):
        return False
    safe = "!$&'()*+,;=:%"
    user = parts.netloc.rpartition("@")[0]
    pieces = [
        (user, safe),
        (parts.path, safe + "@/"),
        (parts.query, safe + "@/?"),
        (parts.fragment, safe + "@/?"),
    ]
    return all(quote(piece, safe=also) == piece for piece, also in pieces) and not re.search(
        "%(?![0-9a-fA-F]{2})", text
    )


SCHEMA = """
CREATE TABLE t (a PRIMARY KEY, b, c, id, x, y); CREATE TABLE u (id UNIQUE, z); CREATE TABLE v (x, a, id);
CREATE TABLE a1 (a, b, c, x, y); CREATE TABLE s1 (a); CREATE INDEX by_z ON u (z);
"""
NO_SYNTAX = (
    "no such",
    "no tables specified",
    "misuse",
    "same number",
    "wrong number",
    "ambiguous",
    "values for",
    "circular",
    "row value",
    "must have",
    "sub-select",
    "columns",
    "unsafe",
    "may not",
    "RANGE",
    "duplicate",
    "DISTINCT",
    "parse tree",
    "unsupported",
    "HAVING",
    "cannot",
    "should come",
    "clause",
    "argument",
    "recursive",
    "unknown",
    "term does not match",
    "out of range",
    "can't",
    "too large",
    "has no column",
    "bindings",
    "unable to use",
    "element has",
    "RAISE()",
    "frame",
)
"""What SQLite has against statements that it has parsed."""


def sqlite_says(text: str) -> str:
    """What SQLite has against a statement; nothing if it would run."""
    with sqlite3.connect(":memory:") as base:
        base.executescript(SCHEMA)
        try:
            base.execute(text)
        except (sqlite3.Error, sqlite3.Warning) as fault:
            return str(fault)
    return ""


def is_sql(text: str) -> bool:
    """One statement that SQLite parses, whatever it says of names and types in it."""
    said = sqlite_says(text)
    if any(word in said for word in ("syntax", "incomplete", "unrecognized", "one statement")):
        return False
    assert not said or any(word in said for word in NO_SYNTAX), (said, text)
    return bool(text.strip(" ;"))


OTHERS: dict[str, Callable[[str], bool]] = {
    "arithmetic": is_arithmetic,
    "csv": is_csv,
    "date": is_date,
    "email": is_email,
    "json": is_json,
    "python": is_python,
    "sql": is_sql,
    "url": is_url,
    "xml": is_xml,
}
