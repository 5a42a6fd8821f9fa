"""`std.math`: `eval` against Python's own arithmetic, and `arithmetic` against what `eval` takes."""

from __future__ import annotations

import ast
import asyncio
import functools
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from sglc.driver import compile_source
from sglc.runtime.errors import SglError
from sglc.runtime.session import Session
from sglc.source import Source

PROGRAM = (
    "use std.math (eval, arithmetic, NoArithmetic)\n"
    "pub pure fn value(text: str) -> decimal raises NoArithmetic:\n    return eval(text)\n"
    'pub pure fn judged(text: str) -> str:\n    return "${arithmetic(text)}"\n'
)


@functools.cache
def session() -> Session:
    program = compile_source(Source("p.sgl", PROGRAM)).program
    assert program is not None
    return Session(program)


def call(name: str, text: str):
    """The result, or the error's name."""
    try:
        return asyncio.run(session().run(name, {"text": text})).value
    except SglError as error:
        return error.name


NUMBERS = st.integers(0, 99).map(str) | st.sampled_from(["0.5", "12.25", "3.0"])
SUMS = st.recursive(
    NUMBERS,
    lambda part: (
        st.builds(
            "{}{}{}{}{}".format,
            part,
            st.sampled_from(["", " "]),
            st.sampled_from(["+", "-", "*", "/", "//", "%"]),
            st.sampled_from(["", " "]),
            part,
        )
        | st.builds("({})".format, part)
        | st.builds("-{}".format, part)
    ),
    max_leaves=7,
)


def computed(text: str):
    """Python's own reading, with exact decimals; `Failure` where it has no value."""

    def of(node: ast.expr) -> Decimal:
        match node:
            case ast.Constant():
                return Decimal(ast.get_source_segment(text, node) or "")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -of(operand)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = of(left), of(right)
                match op:
                    case ast.Add():
                        return a + b
                    case ast.Sub():
                        return a - b
                    case ast.Mult():
                        return a * b
                    case ast.Div():
                        return a / b
                floor = (a / b).to_integral_value(rounding="ROUND_FLOOR")
                return floor if isinstance(op, ast.FloorDiv) else a - b * floor
        raise AssertionError(node)

    try:
        return of(ast.parse(text.strip(), mode="eval").body)
    except ArithmeticError:
        return "Failure"


@settings(max_examples=120, deadline=None)
@given(SUMS)
def test_eval_computes_what_python_does(text: str) -> None:
    text = text.replace("--", "- -")
    wanted, found = computed(text), call("value", text)
    if isinstance(wanted, Decimal) and isinstance(found, Decimal):
        assert abs(wanted - found) <= abs(wanted) * Decimal("1e-20") + Decimal("1e-20"), text
    else:
        assert wanted == found, text
    assert call("judged", text) == "final"


@settings(max_examples=120, deadline=None)
@given(st.text(alphabet="0179.()+-*/% ", max_size=8))
def test_arithmetic_is_final_where_eval_takes_the_text(text: str) -> None:
    said, found = call("judged", text), call("value", text)
    leading = any(part.startswith("0") and part[1:2].isdigit() for part in _runs(text))
    assert (said == "final") == (found != "std.math.NoArithmetic" and not leading), (text, said, found)
    if said != "dead":
        # Something good begins like this; and dead stays dead, so no beginning of it was called dead.
        assert all(call("judged", text[:size]) != "dead" for size in range(len(text)))
        ends = [end + ")" * text.count("(") for end in ("", "1", "0", ".5", "(1)")]
        ends += [end + ")" * closed for end in ("", "1") for closed in range(text.count("(") + 1)]
        assert any(call("judged", text + end) == "final" for end in ends), text


def _runs(text: str) -> list[str]:
    """The numbers before their points."""
    runs, current, behind = [], "", False
    for char in text + " ":
        if char.isdigit():
            current += char
        else:
            if current and not behind:
                runs.append(current)
            behind = char == "."
            current = ""
    return runs
