"""Random expressions of random programs, as source text in brackets where that is due."""

from __future__ import annotations

from collections.abc import Callable

from strategies.programs.scope import MOST_ITEMS, Signature, Writer

WORDS = ("a", "be", "sea", "two words", "")
MOODS = ("calm", "glad", "wild")


def expression(writer: Writer, type: str, depth: int = 2) -> str:
    """An expression of a type. Some can fail: an index, a division, a call, a text too long for a field."""
    known = writer.scope.of(type)
    if known and writer.chance(35):
        return writer.one_of(*known)
    if depth > 0:
        calls = writer.callable(("fn", "fn", "pure"), type)
        if calls and writer.chance(60):
            return call(writer, writer.one_of(*calls), depth - 1)
        return writer.one_of(*_MAKERS[type])(writer, depth - 1)
    return _LEAVES[type](writer)


def call(writer: Writer, callee: Signature, depth: int) -> str:
    """A call; where it raises, either a fallback follows or the function around raises too."""
    writer.spend(callee.holes)
    writer.forks = writer.forks or callee.forks
    arguments = ", ".join(expression(writer, type, depth) for type in callee.parameters)
    text = f"{callee.name}({arguments})"
    if writer.chance(50 if callee.raises else 10):
        return f"({text} else {expression(writer, callee.result, 0)})"
    if callee.raises:
        writer.raises = True
    return text


def items(writer: Writer, type: str, depth: int) -> str:
    """What a loop may go over, of items of a type: a list, or a range of numbers."""
    if type == "int" and writer.chance(30):
        return f"0..<{1 + writer.upto(MOST_ITEMS - 1)}"
    return expression(writer, "ints" if type == "int" else "strs", depth)


# -- plain ones ------------------------------------------------------------------------------------


def _int(writer: Writer) -> str:
    return str(writer.upto(9))


def _str(writer: Writer) -> str:
    return f'"{writer.one_of(*WORDS)}"'


def _bool(writer: Writer) -> str:
    known = writer.scope.of("int")
    return f"({known[-1]} > {writer.upto(6)})" if known else writer.one_of("true", "false")


def _mood(writer: Writer) -> str:
    return f"Mood.{writer.one_of(*MOODS)}"


_LEAVES: dict[str, Callable[[Writer], str]] = {
    "int": _int,
    "str": _str,
    "bool": _bool,
    "mood": _mood,
    "card": lambda writer: f'Card("{writer.one_of("a", "b")}", {writer.upto(9)})',
    "ints": lambda writer: "[1, 2]",
    "strs": lambda writer: '["x", "y z"]',
    "pair": lambda writer: f"({_int(writer)}, {_str(writer)})",
}


# -- composed ones ---------------------------------------------------------------------------------


def _arithmetic(writer: Writer, depth: int) -> str:
    operator = writer.one_of("+", "+", "-", "*", "//", "%")
    known = writer.scope.of("int")
    # A divisor that is known to be 0 is an error of the program, one that turns out to be 0 is not.
    right = writer.one_of(*known) if known and writer.chance(40) else str(1 + writer.upto(4))
    return f"({expression(writer, 'int', depth)} {operator} {right})"


def _conditional(type: str) -> Callable[[Writer, int], str]:
    def write(writer: Writer, depth: int) -> str:
        condition = expression(writer, "bool", depth)
        return f"({expression(writer, type, depth)} if {condition} else {expression(writer, type, depth)})"

    return write


def _fallback(type: str, text: Callable[[Writer, int], str]) -> Callable[[Writer, int], str]:
    def write(writer: Writer, depth: int) -> str:
        return f"({text(writer, depth)} else {expression(writer, type, 0)})"

    return write


def _item(type: str, list_type: str) -> Callable[[Writer, int], str]:
    def write(writer: Writer, depth: int) -> str:
        # An index that is known to be outside is an error of the program, one that turns out to be is not.
        known = writer.scope.of("int")
        index = f"{writer.one_of(*known)} % 3" if known else "0"
        return f"{expression(writer, list_type, depth)}[{index}]"

    return write


def _comprehension(type: str) -> Callable[[Writer, int], str]:
    def write(writer: Writer, depth: int) -> str:
        source = writer.one_of("int", "str") if type == "int" else writer.one_of("str", "int")
        over = items(writer, source, depth)
        variable = writer.fresh("x")
        with writer.block():
            writer.scope.variables[variable] = source
            with writer.repeated(MOST_ITEMS):
                condition = f" if {expression(writer, 'bool', 1)}" if writer.chance(30) else ""
                value = expression(writer, type, max(depth, 1))
        return f"[{value} for {variable} in {over}{condition}]"

    return write


def _display(type: str) -> Callable[[Writer, int], str]:
    def write(writer: Writer, depth: int) -> str:
        return f"[{', '.join(expression(writer, type, depth) for _ in range(1 + writer.upto(2)))}]"

    return write


def _card(writer: Writer, depth: int) -> str:
    """A record of values that its fields may refuse, sometimes of two answers."""
    if (
        depth > 0
        and writer.chance(30)
        and writer.callable(("fn",), "str")
        and writer.callable(("fn",), "int")
    ):
        label = call(writer, writer.one_of(*writer.callable(("fn",), "str")), 0)
        known = writer.callable(("fn",), "int")  # what is left to afford
        score = call(writer, writer.one_of(*known), 0) if known else _int(writer)
        return f"Card({label}[:9], {score} % 10)"
    texts, numbers = writer.scope.of("str"), writer.scope.of("int")
    return f"Card({texts[-1] if texts else _str(writer)}[:9], {numbers[-1] if numbers else _int(writer)})"


def _inserts(writer: Writer, depth: int) -> str:
    types = [writer.one_of("int", "str", "bool", "mood", "ints") for _ in range(1 + writer.upto(1))]
    parts = [f"${{{expression(writer, type, depth)}}}" for type in types]
    return f'"{writer.one_of("", "so ")}{" and ".join(parts)}"'


_MAKERS: dict[str, tuple[Callable[[Writer, int], str], ...]] = {
    "int": (
        _arithmetic,
        _arithmetic,
        lambda writer, depth: f"len({expression(writer, writer.one_of('str', 'ints', 'strs'), depth)})",
        lambda writer, depth: f"sum({expression(writer, 'ints', depth)})",
        _item("int", "ints"),
        _fallback("int", _item("int", "ints")),
        _conditional("int"),
        lambda writer, depth: f"{expression(writer, 'card', depth)}.score",
        lambda writer, depth: f"{expression(writer, 'pair', depth)}[0]",
    ),
    "str": (
        _inserts,
        _inserts,
        lambda writer, depth: f"{expression(writer, 'str', depth)}.upper()",
        lambda writer, depth: f"({expression(writer, 'str', depth)} + {expression(writer, 'str', depth)})",
        lambda writer, depth: f'", ".join({expression(writer, "strs", depth)})',
        lambda writer, depth: f"{expression(writer, 'str', depth)}[:3]",
        _item("str", "strs"),
        _conditional("str"),
        lambda writer, depth: f"{expression(writer, 'card', depth)}.label",
    ),
    "bool": (
        lambda writer, depth: f"({expression(writer, 'int', depth)} < {expression(writer, 'int', depth)})",
        lambda writer, depth: (
            f'(({expression(writer, "str", depth)} + "") == ({expression(writer, "str", depth)} + ""))'
        ),
        lambda writer, depth: (
            f"({expression(writer, 'bool', depth)} and {expression(writer, 'bool', depth)})"
        ),
        lambda writer, depth: f"({expression(writer, 'bool', depth)} or {expression(writer, 'bool', depth)})",
        lambda writer, depth: f"(not {expression(writer, 'bool', depth)})",
        lambda writer, depth: f"({expression(writer, 'int', depth)} in {expression(writer, 'ints', depth)})",
        lambda writer, depth: f"({expression(writer, 'mood', depth)} == {_mood(writer)})",
    ),
    "mood": (lambda writer, depth: _mood(writer), _conditional("mood")),
    "card": (
        lambda writer, depth: (
            f"Card({expression(writer, 'str', depth)}[:6], {expression(writer, 'int', depth)} % 10)"
        ),
        _card,
    ),
    "ints": (
        _comprehension("int"),
        _comprehension("int"),
        _display("int"),
        lambda writer, depth: f"sorted({expression(writer, 'ints', depth)})",
    ),
    "strs": (
        _comprehension("str"),
        _comprehension("str"),
        _display("str"),
        lambda writer, depth: f"{expression(writer, 'str', depth)}[:3].split()",
    ),
    "pair": (
        lambda writer, depth: f"({expression(writer, 'int', depth)}, {expression(writer, 'str', depth)})",
        _conditional("pair"),
    ),
}
"""How an expression of a type is composed of others; the first is the plainest."""
