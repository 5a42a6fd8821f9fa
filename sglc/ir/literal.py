"""Values and types as text: the literal notation of the printed IR.

Python-like constructor notation over a closed list of classes, fields with default values left out:
`Str(max_chars=20)`, `dec"1.50"`, `EnumValue("Mood", "calm")`, `[1, 2]`, `(1,)`, `{"a": null}`. Floats are
written in hexadecimal (`float"0x1.8p+0"`), so that reading gives the same number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any

from sglc.callables.extern_spec import ExternSpec
from sglc.ir.module import ErrorInfo, HoleInfo
from sglc.types import condition
from sglc.types import type as t
from sglc.types.decoding import Decoding
from sglc.types.model_use import ModelUse, ModelView
from sglc.types.values import EnumValue, RecordValue

CLASSES: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        t.Str,
        t.Int,
        t.Dec,
        t.Float,
        t.Bool,
        t.Null,
        t.Constant,
        t.ListOf,
        t.MapOf,
        t.TupleOf,
        t.Optional,
        t.Alternatives,
        t.Named,
        t.OneOf,
        t.SpanOf,
        t.Applied,
        t.Source,
        t.OpenType,
        t.Json,
        t.InForm,
        t.FieldType,
        t.RecordType,
        t.EnumType,
        t.UnionType,
        t.AliasType,
        t.Predicate,
        EnumValue,
        RecordValue,
        HoleInfo,
        ErrorInfo,
        Decoding,
        ModelUse,
        ModelView,
        ExternSpec,
        *condition.CLASSES,
    )
}


def print_literal(value: object) -> str:
    """Text of a value, a type or one of the small classes in `CLASSES`."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    match value:
        case str():
            return _quoted(value)
        case int():
            return str(value)
    kind: type = value.__class__
    parts = _parts_of(kind)
    if parts is not None:
        return _print_fields(value, parts)
    match value:
        case float():
            return f'float"{value.hex()}"'
        case Decimal():
            return f'dec"{value}"'
        case list():
            return f"[{', '.join(map(print_literal, value))}]"
        case tuple():
            return f"({', '.join(map(print_literal, value))}{',' if len(value) == 1 else ''})"
        case Mapping():
            return "{" + ", ".join(f"{print_literal(k)}: {print_literal(v)}" for k, v in value.items()) + "}"
    raise TypeError(f"no literal for {type(value).__name__}")


_quoted = json.JSONEncoder(ensure_ascii=False).encode


def _print_fields(value: object, parts: tuple[tuple[str, object], ...]) -> str:
    """The constructor of a value with its fields, those with their defaults left out."""
    printed = []
    for name, default in parts:
        item = getattr(value, name)
        if default is MISSING:
            printed.append(print_literal(item))
        elif item != default or type(item) is not type(default):
            printed.append(f"{name}={print_literal(item)}")
    return f"{type(value).__name__}({', '.join(printed)})"


@cache
def _parts_of(cls: type) -> tuple[tuple[str, object], ...] | None:
    """Names and defaults of the fields of a class in `CLASSES`; None for any other class."""
    if not is_dataclass(cls) or cls.__name__ not in CLASSES:
        return None
    return tuple((field.name, field.default) for field in fields(cls))


class IrSyntaxError(Exception):
    """The text is no IR. `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


TOKEN = re.compile(
    r"""(?P<space>[ \t]+|;[^\n]*)
    |(?P<newline>\n)
    |(?P<dec>dec"[^"\n]*")
    |(?P<float>float"[^"\n]*")
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<temp>%\d+)
    |(?P<slot>\$(?:[^\s"(),=:\[\]{}]+|"(?:[^"\\\n]|\\.)*"))
    |(?P<label>\^[\w.]+)
    |(?P<function>@(?:[\w.]+|"(?:[^"\\\n]|\\.)*"))
    |(?P<int>-?\d+)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<punct>->|[()\[\]{},=:])""",
    re.VERBOSE,
)


class Cursor:
    """The tokens of a text, with the small questions a reader asks."""

    def __init__(self, text: str) -> None:
        self.tokens: list[tuple[str, str, int]] = []
        self.at = 0
        line, position = 1, 0
        while position < len(text):
            found = TOKEN.match(text, position)
            if found is None:
                raise IrSyntaxError(line, f"unexpected {text[position]!r}")
            kind = found.lastgroup or ""
            if kind == "newline":
                if self.tokens and self.tokens[-1][0] != "newline":
                    self.tokens.append((kind, "\n", line))
                line += 1
            elif kind != "space":
                self.tokens.append((kind, found.group(), line))
            position = found.end()
        if self.tokens and self.tokens[-1][0] != "newline":
            self.tokens.append(("newline", "\n", line))
        self.tokens.append(("end", "the end", line))

    @property
    def kind(self) -> str:
        """The kind of the next token."""
        return self.tokens[self.at][0]

    @property
    def text(self) -> str:
        """The text of the next token."""
        return self.tokens[self.at][1]

    def fail(self, reason: str) -> IrSyntaxError:
        """An error at the line of the next token."""
        return IrSyntaxError(self.tokens[self.at][2], reason)

    def take(self, kind: str) -> str:
        """The text of the next token, which must be of that kind."""
        if self.kind != kind:
            raise self.fail(f"expected {kind}, found {self.text!r}")
        text = self.text
        self.at += 1
        return text

    def expect(self, text: str) -> None:
        """Step over the next token, which must be that one. Raises IrSyntaxError."""
        if self.text != text or self.kind == "string":
            raise self.fail(f"expected {text!r}, found {self.text!r}")
        self.at += 1

    def accept(self, text: str) -> bool:
        """Step over the next token if it is that one."""
        if self.text == text and self.kind != "string":
            self.at += 1
            return True
        return False

    def name_after(self, kind: str) -> str:
        """A name with its sigil, plain or quoted."""
        text = self.take(kind)[1:]
        return json.loads(text) if text.startswith('"') else text

    def literal(self) -> Any:
        """One literal value."""
        kind, text = self.kind, self.text
        match kind:
            case "string":
                self.at += 1
                return json.loads(text)
            case "int":
                self.at += 1
                return int(text)
            case "dec":
                self.at += 1
                try:
                    return Decimal(text[4:-1])
                except InvalidOperation:
                    raise self.fail(f"no decimal: {text}") from None
            case "float":
                self.at += 1
                try:
                    return float.fromhex(text[6:-1])
                except ValueError:
                    raise self.fail(f"no float: {text}") from None
            case "name":
                return self._named()
        if self.accept("["):
            return self._items("]")
        if self.accept("("):
            return tuple(self._items(")"))
        if self.accept("{"):
            entries: dict[Any, Any] = {}
            while not self.accept("}"):
                key = self.literal()
                self.expect(":")
                entries[key] = self.literal()
                if not self.accept(","):
                    self.expect("}")
                    break
            return entries
        raise self.fail(f"expected a value, found {text!r}")

    def _items(self, close: str) -> list[Any]:
        items = []
        while not self.accept(close):
            items.append(self.literal())
            if not self.accept(","):
                self.expect(close)
                break
        return items

    def _named(self) -> Any:
        name = self.take("name")
        plain = {"null": None, "true": True, "false": False}
        if name in plain:
            return plain[name]
        if name not in CLASSES:
            raise self.fail(f"unknown class {name!r}")
        positional: list[Any] = []
        named: dict[str, Any] = {}
        self.expect("(")
        while not self.accept(")"):
            if self.kind == "name" and self.tokens[self.at + 1][1] == "=":
                key = self.take("name")
                self.expect("=")
                named[key] = self.literal()
            else:
                positional.append(self.literal())
            if not self.accept(","):
                self.expect(")")
                break
        try:
            return CLASSES[name](*positional, **named)
        except TypeError as error:
            raise self.fail(str(error)) from None
