# ruff: noqa: E501 (a program to a line)
"""Expressions, statements, patterns, functions and values inside each other, `n` levels deep."""

from __future__ import annotations

from strategies.nests.core import form, ind, lines

H = "pub pure fn f(a: int, s: str, xs: [int], b: bool, n: int?) -> json:\n    return "


@form
def parentheses(n):
    return H + "(" * n + "a" + ")" * n + "\n"


@form
def lists(n):
    return H + "[" * n + "a" + "]" * n + "\n"


@form
def maps(n):
    return H + '{"a": ' * n + "a" + "}" * n + "\n"


@form
def tuples(n):
    return "pub pure fn f(a: int) -> int:\n    let x = " + "(" * n + "a" + ",)" * n + "\n    return 1\n"


@form
def calls(n):
    return "pub pure fn g(a: int) -> int:\n    return a\n" + H + "g(" * n + "a" + ")" * n + "\n"


@form
def builtins(n):
    return H + "str(" * n + "a" + ")" * n + "\n"


@form
def minus(n):
    return H + "- " * n + "a\n"


@form
def nots(n):
    return H + "not " * n + "b\n"


@form
def plus(n):
    return H + "a" + " + a" * n + "\n"


@form
def plus_right(n):
    return H + "a + (" * n + "a" + ")" * n + "\n"


@form
def ands(n):
    return H + "b" + " and b" * n + "\n"


@form
def concats(n):
    return H + "s" + " + s" * n + "\n"


@form
def compares(n):
    return H + "(a == " * n + "a" + ")" * n + "\n"


@form
def conditionals(n):
    return H + "1 if b else " * n + "2\n"


@form
def power(n):
    return H + "a" + " ** a" * n + "\n"


@form
def attributes(n):
    return "record R:\n    a: R?\n" + 'pub pure fn f(a: R) -> str:\n    return "${a' + ".a" * n + '}"\n'


@form
def attributes_in_text(n):
    return (
        "record R:\n    a: R?\npub fn f(a: R) -> str:\n    user: | ${a"
        + ".a" * n
        + "}\n    assistant: | ?{x: str max 9 chars}\n    return x\n"
    )


@form
def indexes(n):
    return H + "xs" + "[0]" * n + "\n"


@form
def json_indexes(n):
    return "pub pure fn f(a: json) -> json:\n    return a" + '["a"]' * n + "\n"


@form
def methods(n):
    return H + "s" + ".strip()" * n + "\n"


@form
def comprehensions(n):
    return H + "[" * n + "a" + "".join(f" for i{k} in xs]" for k in range(n)) + "\n"


@form
def strings(n):
    return H + '"${' * n + "a" + '}"' * n + "\n"


@form
def elses(n):
    return H + "n " + "else (n " * n + "else 1" + ")" * n + "\n"


@form
def ifs(n):
    return "pub pure fn f(a: int) -> int:\n" + ind(n, "return 1", lambda i: "if a == 1:") + "    return 2\n"


@form
def elifs(n):
    return (
        "pub pure fn f(a: int) -> int:\n    if a == 0:\n        return 0\n"
        + lines(n, lambda i: f"    elif a == {i}:\n        return 1")
        + "    return 2\n"
    )


@form
def fors(n):
    return (
        "pub pure fn f(a: int) -> int:\n    var x = 0\n"
        + ind(n, "x = 1", lambda i: f"for i{i} in 0..1:")
        + "    return x\n"
    )


@form
def matches(n):
    return (
        "pub pure fn f(a: int) -> int:\n"
        + "".join("    " * (2 * i + 1) + "match a:\n" + "    " * (2 * i + 2) + "case _:\n" for i in range(n))
        + "    " * (2 * n + 1)
        + "return 1\n"
    )


@form
def tries(n):
    return "pub pure fn f(a: int) -> int:\n" + ind(n, "return 1", lambda i: "try:") + "    return 2\n"


@form
def pattern_tuples(n):
    return (
        "pub pure fn f(a: int) -> int:\n    match a:\n        case "
        + "(" * n
        + "1"
        + ",)" * n
        + ": return 1\n        case _: return 2\n"
    )


@form
def pattern_alternatives(n):
    return (
        "pub pure fn f(a: int) -> int:\n    match a:\n        case "
        + " | ".join(str(i) for i in range(n))
        + ": return 1\n        case _: return 2\n"
    )


@form
def pattern_records(n):
    return (
        "record R:\n    a: R?\npub pure fn f(a: R) -> int:\n    match a:\n        case "
        + "R(a = " * n
        + "null"
        + ")" * n
        + ": return 1\n        case _: return 2\n"
    )


@form
def functions(n):
    return (
        "pub pure fn g0(a: int) -> int:\n    return a\n"
        + lines(n, lambda i: f"pub pure fn g{i + 1}(a: int) -> int:\n    return g{i}(a)")
        + f"pub pure fn f() -> int:\n    return g{n}(1)\n"
    )


@form
def recursion(n):
    return f"pub pure fn g(a: int) -> int:\n    if a == 0: return 0\n    return g(a - 1)\npub pure fn f() -> int:\n    return g({n})\n"


@form
def parts(n):
    return (
        "part p0():\n    | a\n"
        + lines(n, lambda i: f"part p{i + 1}():\n    part p{i}()")
        + f"pub fn f() -> str:\n    user:\n        part p{n}()\n    assistant: | ?{{x: str max 4 chars}}\n    return x\n"
    )


@form
def values(n):
    return (
        "pub pure fn f() -> str:\n    var x: json = []\n    for i in 0..<"
        + str(n)
        + ':\n        x = [x]\n    return "${x}"\n'
    )


@form
def values_equal(n):
    return (
        "pub pure fn f() -> bool:\n    var x: json = []\n    var y: json = []\n    for i in 0..<"
        + str(n)
        + ":\n        x = [x]\n        y = [y]\n    return x == y\n"
    )


@form
def values_returned(n):
    return (
        "pub pure fn f() -> json:\n    var x: json = []\n    for i in 0..<"
        + str(n)
        + ":\n        x = [x]\n    return x\n"
    )


@form
def values_in_prompt(n):
    return (
        "pub fn f() -> str:\n    var x: json = []\n    for i in 0..<"
        + str(n)
        + ':\n        x = {"a": x}\n    user: | ${x}\n    assistant: | ?{y: str max 4 chars}\n    return y\n'
    )


@form
def values_records(n):
    return (
        "record R:\n    a: R?\npub pure fn f() -> R:\n    var x = R(null)\n    for i in 0..<"
        + str(n)
        + ":\n        x = R(x)\n    return x\n"
    )


@form
def values_matched(n):
    return (
        "record R:\n    a: R?\npub pure fn f() -> bool:\n    var x = R(null)\n    for i in 0..<"
        + str(n)
        + ':\n        x = R(x)\n    return x == x and x in [x] and "${x}" != ""\n'
    )
