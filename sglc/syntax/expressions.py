"""Building expressions: leaves, calls, operators by precedence."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from sglc.diagnostics.diagnostic import Diagnostic, Edit, Label
from sglc.source import Source, Span
from sglc.syntax import ast
from sglc.syntax.tokens import Replacements, Tokens

MAX_TERMS = 200
"""Operands of one chain of operators; a chain becomes a tree as deep as it is long."""

MAX_TOLD = 100
"""Diagnostics that are kept of one file."""

_PRECEDENCE: dict[str, int] = {
    "or": 1, "and": 2,
    "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "in": 4, "not in": 4, "matches": 4, "contains": 4,
    "..": 5, "..=": 5, "..<": 5, "+": 6, "-": 6, "*": 7, "/": 7, "//": 7, "%": 7, "**": 9,
}  # fmt: skip
_NOT, _COMPARISON, _RANGE, _MINUS, _POWER = 3, 4, 5, 8, 9
_REPLACED = {"&&": "and", "&": "and", "|": "or", "^": "**", "=": "==", "is": "=="}

_FOREIGN_WORDS = {"None": "null", "True": "true", "False": "false", "nil": "null", "undefined": "null"}

_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "$": "$", "?": "?", "/": "/", "0": "\0"}


class Prefixed:
    """`-x` or `not x` before it is known what the operator reaches over."""

    __slots__ = ("end", "operand", "operator", "start")

    def __init__(self, operator: str, operand: Any, start: int, end: int) -> None:
        self.operator, self.operand, self.start, self.end = operator, operand, start, end


class Expressions:
    """Methods named after the rules of the grammar; each takes the place and the parts of its node."""

    source: Source
    text: str
    diagnostics: list[Diagnostic]

    # -- shared ----------------------------------------------------------------------------------------

    def span(self, start: int, end: int) -> Span:
        return Span(self.source, start, end)

    def report(
        self, code: str, message: str, start: int, end: int, *,
        label: str = "", reason: str = "", hint: str = "", secondary: tuple[Label, ...] = (),
        edits: Replacements = (),
    ) -> None:  # fmt: skip
        """Add an error about the characters `start` to `end`."""
        if len(self.diagnostics) >= MAX_TOLD:
            return
        self.diagnostics.append(
            Diagnostic(
                code, message, Span(self.source, start, end),
                label=label, reason=reason, hint=hint, secondary=secondary, edits=self._made(edits),
            )
        )  # fmt: skip

    def _made(self, replacements: Replacements) -> tuple[Edit, ...]:
        return tuple(Edit(Span(self.source, start, end), text) for start, end, text in replacements)

    def parse_inside(self, tokens: Tokens, start: str, place: Span) -> Any:
        """Parse the tokens of an insert or hole; None after a fault, which is reported."""
        raise AssertionError("given by the builder")

    def broken(self, start: int, end: int, *parts: Any) -> None:
        return None

    def group(self, start: int, end: int, inner: Any) -> Any:
        return inner

    # -- leaves ----------------------------------------------------------------------------------------

    def leaf_name(self, start: int, end: int) -> ast.Name:
        return ast.Name(self.text[start:end], Span(self.source, start, end))

    def leaf_number(self, start: int, end: int) -> ast.Number:
        digits = self.text[start:end].replace("_", "")
        span = Span(self.source, start, end)
        if len(digits) > 60:
            self.report("E0120", "this number is too long", start, end, label=f"{len(digits)} characters")
            return ast.Number(0, span)
        if digits.isdecimal():
            return ast.Number(int(digits), span)
        exponent = digits.lower().partition("e")[2]
        if len(exponent) > 4:
            self.report("E0120", "this number is too large", start, end, label="its exponent is out of range")
            return ast.Number(0, span)
        return ast.Number(Decimal(digits), span)

    def leaf_string(self, start: int, end: int) -> ast.String:
        text, span = self.text, Span(self.source, start, end)
        pieces = self.tokens_strings.get(start)
        if pieces is None:
            raw = text[start + 1 : end - 1]
            if text[start] == "'":
                return ast.String((raw,) if raw else (), span)
            value = self.unescape(raw, start + 1) if "\\" in raw else raw
            return ast.String((value,) if value else (), span)
        parts: list[str | ast.Expression] = []
        for piece in pieces:
            if len(piece) == 2:
                literal = self.unescape(text[piece[0] : piece[1]], piece[0])
                if literal:
                    parts.append(literal)
            else:
                value = self.parse_inside(
                    piece[2], "expression", Span(self.source, piece[0] - 2, piece[1] + 1)
                )
                if value is not None:
                    parts.append(value)
        return ast.String(tuple(parts), span)

    tokens_strings: dict[int, Any]

    def leaf_regex(self, start: int, end: int) -> ast.Regex:
        pattern = self.text[start + 1 : end - 1]
        if "\\/" in pattern:
            pattern = re.sub(r"\\(.)", lambda m: "/" if m[1] == "/" else m[0], pattern)
        return ast.Regex(pattern, Span(self.source, start, end))

    def leaf_operator(self, start: int, end: int) -> tuple[str, int, int]:
        text = self.text[start:end]
        return " ".join(text.split()) if text.startswith("not") else text, start, end

    def unescape(self, raw: str, start: int) -> str:
        """The characters that a string's text stands for; a bad escape is reported and dropped."""

        def replace(match: re.Match[str]) -> str:
            code = match[1] or match[2]
            if code is None:
                char = _ESCAPES.get(match[3])
                if char is not None:
                    return char
            elif (point := int(code, 16)) < 0x110000 and not 0xD800 <= point < 0xE000:
                return chr(point)
            what = "is no character" if code else "is not an escape"
            self.report(
                "E0116", f"`{match[0]}` {what}", start + match.start(), start + match.end(),
                label="in this string",
                hint=r'escapes are \n \t \r \" \\ \$ \u{1F600}; write \\ for a backslash',
            )  # fmt: skip
            return ""

        return _ESCAPE.sub(replace, raw) if "\\" in raw else raw

    def plain(self, string: ast.String, what: str) -> str:
        """The text of a string that may not have inserts."""
        if any(not isinstance(part, str) for part in string.parts):
            self.report(
                "E0119", f"{what} cannot have `${{…}}` in it", string.span.start, string.span.end,
                label="must be known when the program is compiled",
            )  # fmt: skip
        return "".join(part for part in string.parts if isinstance(part, str))

    # -- operands --------------------------------------------------------------------------------------

    def reference(self, start: int, end: int, name: ast.Name) -> ast.Expression:
        if name.text not in _FOREIGN_WORDS:
            return ast.Reference(name.text, name.span)
        meant = _FOREIGN_WORDS[name.text]
        self.report(
            "E0113", f"`{name.text}` is written `{meant}`", start, end, label="from another language",
            hint=f"write `{meant}`", edits=((start, end, meant),),
        )  # fmt: skip
        return ast.Null(name.span) if meant == "null" else ast.Boolean(meant == "true", name.span)

    def true(self, start: int, end: int) -> ast.Boolean:
        return ast.Boolean(True, Span(self.source, start, end))

    def false(self, start: int, end: int) -> ast.Boolean:
        return ast.Boolean(False, Span(self.source, start, end))

    def null(self, start: int, end: int) -> ast.Null:
        return ast.Null(Span(self.source, start, end))

    def attribute(self, start: int, end: int, value: Any, name: ast.Name) -> ast.Attribute:
        return ast.Attribute(value, name, Span(self.source, start, end))

    def call(self, start: int, end: int, function: Any, *arguments: Any) -> ast.Call:
        return ast.Call(function, _present(arguments), Span(self.source, start, end))

    def positional(self, start: int, end: int, value: Any) -> ast.Argument:
        return ast.Argument(None, value, Span(self.source, start, end))

    def named(self, start: int, end: int, name: ast.Name, value: Any) -> ast.Argument:
        return ast.Argument(name, value, Span(self.source, start, end))

    def index(self, start: int, end: int, value: Any, index: Any) -> ast.Index:
        return ast.Index(value, index, Span(self.source, start, end))

    def slice_(self, start: int, end: int, value: Any, first: Any, stop: Any) -> ast.Slice:
        return ast.Slice(value, first, stop, Span(self.source, start, end))

    def list_(self, start: int, end: int, *items: Any) -> ast.ListDisplay:
        return ast.ListDisplay(_present(items), Span(self.source, start, end))

    def tuple_(self, start: int, end: int, *items: Any) -> ast.TupleDisplay:
        return ast.TupleDisplay(items, Span(self.source, start, end))

    def map_(self, start: int, end: int, *entries: Any) -> ast.MapDisplay:
        return ast.MapDisplay(_present(entries), Span(self.source, start, end))

    def entry(self, start: int, end: int, key: Any, value: Any) -> tuple[Any, Any]:
        return key, value

    def comprehension(
        self, start: int, end: int, element: Any, variable: ast.Name, iterable: Any, condition: Any
    ) -> ast.Comprehension:
        return ast.Comprehension(element, variable, iterable, condition, Span(self.source, start, end))

    def schema_of(self, start: int, end: int, type: Any, style: ast.String | None) -> ast.SchemaOf:
        text = None if style is None else self.plain(style, "the style of a schema")
        return ast.SchemaOf(type, text, Span(self.source, start, end))

    # -- operators -------------------------------------------------------------------------------------

    def conditional(self, start: int, end: int, then: Any, condition: Any, otherwise: Any) -> ast.Conditional:
        return ast.Conditional(then, condition, otherwise, Span(self.source, start, end))

    def or_else(self, start: int, end: int, value: Any, fallback: Any) -> ast.OrElse:
        return ast.OrElse(value, fallback, Span(self.source, start, end))

    def prefix_minus(self, start: int, end: int, operand: Any) -> Prefixed:
        return Prefixed("-", operand, start, end)

    def prefix_not(self, start: int, end: int, operand: Any) -> Prefixed:
        return Prefixed("not", operand, start, end)

    def prefix_only(self, start: int, end: int, operand: Prefixed) -> Any:
        return self.chain(start, end, operand)

    def chain(self, start: int, end: int, first: Any, *rest: Any) -> Any:
        """`a + b * c …`: operands and operators in turn, joined by precedence (an operator stack)."""
        if len(rest) == 2 and not isinstance(first, Prefixed) and not isinstance(rest[1], Prefixed):
            return self._join(rest[0], first, rest[1], start, end)
        if len(rest) > 2 * MAX_TERMS:
            self.report(
                "E0131", f"more than {MAX_TERMS} operands in one expression", start, end,
                hint="give parts of it names with `let`, or use a list and `sum` or `join`",
            )  # fmt: skip
            return ast.Null(Span(self.source, start, end))
        operands: list[Any] = []
        operators: list[tuple[str, int, int, int]] = []
        last = rest[-1] if rest else first
        while isinstance(last, Prefixed):
            last = last.operand

        def until(node: Any) -> int:
            """Where a node ends; the last one with the brackets around it."""
            return end if node.span.end == last.span.end else node.span.end

        def reduce_to(level: int) -> None:
            while operators and operators[-1][3] >= level:
                text, begin, stop, _ = operators.pop()
                right = operands.pop()
                if text in ("-1", "not"):
                    kind = "-" if text == "-1" else "not"
                    span = Span(self.source, begin, max(stop, until(right)))
                    operands.append(ast.Unary(kind, right, span))  # type: ignore[arg-type]
                else:
                    left = operands.pop()
                    place = left.span.start if operands or isinstance(first, Prefixed) else start
                    operands.append(self._join((text, begin, stop), left, right, place, until(right)))

        def push(operand: Any) -> None:
            depth = 0
            while isinstance(operand, Prefixed):
                minus = operand.operator == "-"
                level = _MINUS if minus else _NOT
                operators.append(("-1" if minus else "not", operand.start, operand.end, level))
                operand = operand.operand
                depth += 1
                if depth > MAX_TERMS:
                    self.report("E0131", f"more than {MAX_TERMS} signs before a value", start, end)
                    operators.clear()
                    operands.clear()
                    operand = ast.Null(Span(self.source, start, end))
            operands.append(operand)

        push(first)
        for operator, operand in zip(rest[::2], rest[1::2], strict=True):
            text, begin, stop = operator
            level = _PRECEDENCE.get(_REPLACED.get(text, text), 1)
            reduce_to(level + 1 if level == _POWER else level)
            operators.append((text, begin, stop, level))
            push(operand)
        reduce_to(0)
        return operands[0]

    def _join(self, operator: tuple[str, int, int], left: Any, right: Any, begin: int, end: int) -> Any:
        """The node of an infix operator between `begin` and `end`."""
        text, start, stop = operator
        text = _REPLACED.get(text, text)
        level = _PRECEDENCE.get(text, 1)
        span = Span(self.source, begin, end)
        if level == _RANGE:
            return ast.Range(left, right, text != "..<", self.span(start, stop), span)
        if (
            level == _COMPARISON
            and isinstance(left, ast.Binary)
            and _PRECEDENCE[left.operator] == _COMPARISON
            and not self.text[left.span.end : start].strip()
        ):
            middle = self.text[left.right.span.start : left.right.span.end]
            self.report(
                "E0125", "comparisons do not chain", begin, end,
                hint=f"write `{left.span.text} and {middle} {text} {right.span.text}`",
                edits=((left.span.end, left.span.end, f" and {middle}"),),
            )  # fmt: skip
            return ast.Binary("and", left, ast.Binary(text, left.right, right, span), span)  # type: ignore[arg-type]
        return ast.Binary(text, left, right, span)  # type: ignore[arg-type]


def _present(parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """The parts of an optional list: a single None stands for an absent one."""
    return () if parts == (None,) else parts
