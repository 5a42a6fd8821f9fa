"""Functions, methods and fields as other languages call them: what stands for them here."""

from __future__ import annotations

from collections.abc import Sequence

from sglc.check.core.result import ExpressionType, ListValue
from sglc.check.types.kinds import Table, is_text
from sglc.diagnostics.diagnostic import Edit
from sglc.immutable import value
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import ListOf, MapOf


@value
class Advice:
    """What to do about a foreign name, and the edits that do it, if they are certain."""

    hint: str
    edits: tuple[Edit, ...] = ()
    message: str = ""
    """What is wrong, where that there is no such name does not say it."""


_FUNCTIONS = {
    "length": "len",
    "size": "len",
    "count": "len",
    "strlen": "len",
    "String": "str",
    "string": "str",
    "to_string": "str",
    "tostring": "str",
    "repr": "str",
    "Number": "int",
    "parseInt": "int",
    "integer": "int",
    "parseFloat": "float",
    "double": "float",
    "Decimal": "decimal",
    "sort": "sorted",
    "reverse": "reversed",
    "maximum": "max",
    "minimum": "min",
}
"""Functions of one argument that have another name here."""

_NO_FUNCTIONS = {
    "system": "a role is a block: `system: | …`",
    "user": "a role is a block: `user: | …`",
    "assistant": "a role is a block: `assistant: | …`",
    "assertEqual": "a test states `expect a == b`",
    "expect": "a test states `expect a == b`",
    "println": "a program prints nothing: return the value, and leave the line out",
    "print": "a program prints nothing: return the value, and leave the line out",
    "input": "what a program is given are the parameters of its function",
    "open": 'a file is read by `include "file"`, on a line of its own',
    "map": "write `xs.map(f)`, or a comprehension: `[f(x) for x in xs]`",
    "filter": "write `xs.filter(f)`, or a comprehension: `[x for x in xs if …]`",
    "reduce": "go through the list with `for` and a `var`",
    "format": 'insert values into a text: "…${x}…"',
    "isinstance": "`match` tells the arms of a type apart",
    "type": "`match` tells the arms of a type apart",
    "typeof": "`match` tells the arms of a type apart",
    "list": "a list is written `[a, b]`",
    "dict": 'a map is written `{"a": 1}`',
    "set": "a list is written `[a, b]`",
    "tuple": "a tuple is written `(a, b)`",
    "bool": "compare: `x != 0`, `x != null`, `len(x) > 0`",
    "gen": "a hole is written `?{name: T}` in text, or `let name = gen T` in code",
    "select": "write `?{name: choose [a, b]}` in text, or `let name = choose [a, b]` in code",
    "exit": "a function ends with `return`, or with `raise E(…)`",
    "super": "records have no methods",
    "gather": "calls in a comprehension run at the same time: leave it out",
    "stream": "a result as it is written is a loop: `for part in stream f(x):`",
    "trusted": "what was checked is said by `trust(x)`",
    "sanitize": "what was checked is said by `trust(x)`",
}

_STR_METHODS = {
    "toUpperCase": "upper",
    "to_upper": "upper",
    "toUpper": "upper",
    "uppercase": "upper",
    "toLowerCase": "lower",
    "to_lower": "lower",
    "toLower": "lower",
    "lowercase": "lower",
    "casefold": "lower",
    "trim": "strip",
    "startswith": "starts_with",
    "startsWith": "starts_with",
    "endswith": "ends_with",
    "endsWith": "ends_with",
    "includes": "contains",
    "indexOf": "find",
    "index": "find",
    "splitlines": "lines",
    "replaceAll": "replace",
    "capitalize": "title",
}
_LIST_METHODS = {
    "sorted": "sort",
    "includes": "contains",
    "has": "contains",
    "some": "any",
    "every": "all",
    "select": "map",
    "where": "filter",
    "group_by": "group",
    "groupBy": "group",
}
_MAP_METHODS = {"has": "contains", "has_key": "contains", "containsKey": "contains"}
_SIZES = ("length", "size", "len", "count", "__len__", "Count", "Length")
_GROWING = ("append", "push", "add", "push_back", "extend", "concat", "insert")
_SHRINKING = ("pop", "remove", "shift", "clear")


def function_advice(node: ast.Call, name: str) -> Advice | None:
    """About a call of a function that there is not."""
    place = node.function.span
    values = [argument.value.span.text for argument in node.arguments]
    if name in ("range", "xrange"):
        return _range(node, values)
    if name in ("print", "println"):
        return Advice(_NO_FUNCTIONS[name], _without_line(node.span))
    meant = _FUNCTIONS.get(name)
    if meant is not None and len(values) == 1:
        return Advice(f"write `{meant}({values[0]})`", (Edit(place, meant),))
    if name in _NO_FUNCTIONS:
        return Advice(_NO_FUNCTIONS[name])
    return None


def _range(node: ast.Call, values: Sequence[str]) -> Advice:
    made = ""
    if 1 <= len(values) <= 2:
        low, high = ("0", values[0]) if len(values) == 1 else values
        made = f"{low}..<{_operand(high)}"
    return Advice(
        f"write `{made}`" if made else "write `for i in 0..<n`, and the step in the body",
        (Edit(node.span, made),) if made else (),
        "there is no function `range`: a range is written with dots",
    )


def _operand(text: str) -> str:
    return text if all(char.isalnum() or char in "_.()+-* " for char in text) else f"({text})"


def _without_line(span: Span) -> tuple[Edit, ...]:
    """The line of a statement, where it holds nothing else and other lines stand beside it in its block."""
    source = span.source
    number, column = source.position(span.start)
    last = source.position(span.end)[0]
    line = source.line(number)
    indent = line[: column - 1]
    if last != number or indent.strip() or line[column - 1 :].rstrip() != span.text:
        return ()
    neighbours = [source.line(n) for n in (number - 1, number + 1) if 0 < n <= len(source.line_starts)]
    beside = any(
        text.startswith(indent)
        and text[len(indent) : len(indent) + 1].strip()
        and not text.lstrip().startswith("#")
        for text in neighbours
    )
    start = source.line_starts[number - 1]
    end = start + len(line) + (1 if number < len(source.line_starts) else 0)
    return (Edit(Span(source, start, end), ""),) if beside else ()


def method_advice(node: ast.Call, function: ast.Attribute, kind: str) -> Advice | None:
    """About a method that there is not; `kind` is str, list, map or empty."""
    label, owner = function.name.text, function.value.span.text
    values = [argument.value.span.text for argument in node.arguments]
    if label in _SIZES and not values and kind:
        return Advice(f"write `len({owner})`", (Edit(node.span, f"len({owner})"),))
    if label in _GROWING and kind == "list":
        one = len(values) == 1
        item = values[0] if one else "x"
        added = item if label in ("extend", "concat") else f"[{item}]"
        made = f"{owner} = {owner} + {added}"
        sure = one and label != "insert" and isinstance(function.value, ast.Reference) and label != "concat"
        return Advice(
            f"lists do not change: write `{made}`",
            (Edit(node.span, made),) if sure and _is_statement(node) else (),
        )
    if label in _SHRINKING and kind == "list":
        return Advice("lists do not change: write a new one, such as `xs[1:]` or `[x for x in xs if …]`")
    table = {"str": _STR_METHODS, "list": _LIST_METHODS, "map": _MAP_METHODS}.get(kind, {})
    meant = table.get(label)
    if meant is not None:
        return Advice(f"write `.{meant}(…)`", (Edit(function.name.span, meant),))
    if label in ("prob", "probability", "probs", "confidence"):
        asked = values[0] if values else "option"
        return Advice(f"the probability of an option of `choose` or `select` is `{owner}.p({asked})`")
    if kind == "list" and label in ("reduce", "fold"):
        return Advice("go through the list with `for` and a `var`")
    if kind == "list" and label == "forEach":
        return Advice("go over it with `for x in xs:`, or make a list: `xs.map(…)`")
    if label in ("substring", "substr", "slice") and kind and 1 <= len(values) <= 2:
        made = f"{owner}[{values[0]}:{values[1] if len(values) == 2 else ''}]"
        sure = label != "substr" or len(values) == 1
        return Advice(f"write `{made}`", (Edit(node.span, made),) if sure else ())
    if kind == "list" and label in ("indexOf", "index", "find"):
        return Advice("go through the places: `for i in 0..<len(xs):` and compare `xs[i]`")
    if kind == "str" and label == "format":
        return Advice('insert values into the text: "…${x}…"')
    if kind == "map" and label == "items":
        return Advice(f"go through the keys: `for key in keys({owner})`, with `{owner}[key]`")
    return None


def _is_statement(node: ast.Call) -> bool:
    source = node.span.source
    line, column = source.position(node.span.start)
    text = source.line(line)
    return not text[: column - 1].strip() and text[column - 1 :].split("#")[0].rstrip() == node.span.text


def size_advice(node: ast.Attribute, kind: str) -> Advice | None:
    """About `xs.length` without parentheses."""
    if node.name.text not in _SIZES or not kind:
        return None
    owner = node.value.span.text
    return Advice(f"write `len({owner})`", (Edit(node.span, f"len({owner})"),))


def kind_of(plain: ExpressionType, table: Table) -> str:
    """Whose methods a value has: str, list, map, or empty."""
    if isinstance(plain, ListOf | ListValue):
        return "list"
    if isinstance(plain, MapOf):
        return "map"
    return "str" if is_text(plain, table) else ""


_STATEMENTS = {
    "pass": "there is no empty statement: leave the block out, or `return`",
    "exit": "a function ends with `return`, or with `raise E(…)`",
    "debugger": "`sglc run --trace` shows what was generated",
    "self": "records have no methods: a function takes them as a parameter",
    "this": "records have no methods: a function takes them as a parameter",
}


def name_advice(name: str) -> str:
    """About a name that there is not, where another language has it."""
    return _STATEMENTS.get(name, "")
