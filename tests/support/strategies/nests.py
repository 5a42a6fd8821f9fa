# ruff: noqa: E501 (a program to a line)
"""Programs of every form that nests, `n` levels deep."""

from __future__ import annotations

FORMS = {}


def lines(n, line):
    return "".join(line(i) + "\n" for i in range(n))


def ind(n, body, head):
    """Blocks inside each other."""
    return lines(n, lambda i: "    " * (i + 1) + head(i)) + "    " * (n + 1) + body + "\n"


def form(program):
    FORMS[program.__name__] = program
    return program


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


# types
T = 'pub fn f() -> str:\n    user: | go ${schema(T)}\n    assistant: | ?{x: T max 50 tok}\n    return "${x}"\npub pure fn g(t: T) -> T:\n    return t\n'


@form
def type_lists(n):
    return "type T = " + "[" * n + "int" + "; ..2]" * n + "\n" + T


@form
def type_maps(n):
    return "type T = " + "{str: " * n + "int" + "}" * n + "\n" + T


@form
def type_tuples(n):
    return "type T = " + "(" * n + "int" + ", int)" * n + "\n" + T


@form
def type_optionals(n):
    return "type T = " + "(" * n + "int" + ")?" * n + "\n" + T


@form
def type_parentheses(n):
    return "type T = " + "(" * n + "int" + ")" * n + "\n" + T


@form
def type_unions(n):
    return "type T = " + "".join(f'"w{i}" | (' for i in range(n)) + '"z"' + ")" * n + "\n" + T


@form
def aliases(n):
    return "type T0 = int\n" + lines(n, lambda i: f"type T{i + 1} = T{i}") + f"type T = T{n}\n" + T


@form
def aliases_down(n):
    return "type T = T0\n" + lines(n, lambda i: f"type T{i} = T{i + 1}") + f"type T{n} = int\n" + T


@form
def alias_lists(n):
    return "type T0 = int\n" + lines(n, lambda i: f"type T{i + 1} = [T{i}; ..2]") + f"type T = T{n}\n" + T


@form
def alias_lists_down(n):
    return "type T = T0\n" + lines(n, lambda i: f"type T{i} = [T{i + 1}; ..2]") + f"type T{n} = int\n" + T


@form
def alias_optionals(n):
    return "type T0 = int\n" + lines(n, lambda i: f"type T{i + 1} = T{i}?") + f"type T = T{n}\n" + T


@form
def alias_unions(n):
    return "type T0 = int\n" + lines(n, lambda i: f'type T{i + 1} = T{i} | "w{i}"') + f"type T = T{n}\n" + T


@form
def alias_tuples(n):
    return "type T0 = int\n" + lines(n, lambda i: f"type T{i + 1} = (T{i}, int)") + f"type T = T{n}\n" + T


@form
def alias_maps(n):
    return (
        "type T0 = int\n"
        + lines(n, lambda i: f"type T{i + 1} = {{str max 3 chars: T{i}; ..2}}")
        + f"type T = T{n}\n"
        + T
    )


@form
def records(n):
    return (
        "record R0:\n    a: int\n"
        + lines(n, lambda i: f"record R{i + 1}:\n    a: R{i}")
        + f"type T = R{n}\n"
        + T
    )


@form
def records_down(n):
    return (
        "type T = R0\n"
        + lines(n, lambda i: f"record R{i}:\n    a: R{i + 1}")
        + f"record R{n}:\n    a: int\n"
        + T
    )


@form
def records_optional(n):
    return (
        "record R0:\n    a: int\n"
        + lines(n, lambda i: f"record R{i + 1}:\n    a: R{i}?\n    b?: R{i}")
        + f"type T = R{n}\n"
        + T
    )


@form
def records_in_lists(n):
    return (
        "record R0:\n    a: int\n"
        + lines(n, lambda i: f"record R{i + 1}:\n    a: [R{i}; ..2]")
        + f"type T = R{n}\n"
        + T
    )


@form
def unions(n):
    return (
        "union U0:\n    V:\n        a: int\n"
        + lines(n, lambda i: f"union U{i + 1}:\n    V:\n        a: U{i}\n    W:\n        b: int")
        + f"type T = U{n}\n"
        + T
    )


@form
def constants(n):
    return (
        "const C0 = 1\n"
        + lines(n, lambda i: f"const C{i + 1} = C{i} + 1")
        + f"pub pure fn f() -> int:\n    return C{n}\n"
    )


@form
def constants_down(n):
    return (
        lines(n, lambda i: f"const C{i} = C{i + 1} + 1")
        + f"const C{n} = 1\npub pure fn f() -> int:\n    return C0\n"
    )


@form
def constant_lists(n):
    return "const C = " + "[" * n + "1" + "]" * n + "\npub pure fn f() -> json:\n    return C\n"


@form
def rules(n):
    return (
        "grammar G:\n    start: r0\n"
        + lines(n, lambda i: f'    r{i}: "a" r{i + 1}')
        + f'    r{n}: "z"\n'
        + "type T = G\n"
        + T
    )


@form
def rules_bare(n):
    return (
        "grammar G:\n    start: r0\n"
        + lines(n, lambda i: f"    r{i}: r{i + 1}")
        + f'    r{n}: "z"\n'
        + "type T = G\n"
        + T
    )


@form
def rules_two(n):
    return (
        "grammar G:\n    start: r0\n"
        + lines(n, lambda i: f"    r{i}: r{i + 1} r{i + 1}?")
        + f'    r{n}: "z"\n'
        + "type T = G\n"
        + T
    )


@form
def terminals(n):
    return (
        "grammar G:\n    start: R0\n"
        + lines(n, lambda i: f'    R{i}: "a" R{i + 1}')
        + f'    R{n}: "z"\n'
        + "type T = G\n"
        + T
    )


@form
def rule_parentheses(n):
    return "grammar G:\n    start: " + '("a" ' * n + '"z"' + ")" * n + "\ntype T = G\n" + T


@form
def rule_alternatives(n):
    return "grammar G:\n    start: " + '("a" | ' * n + '"z"' + ")" * n + "\ntype T = G\n" + T


@form
def rule_options(n):
    return 'grammar G:\n    start: "z" ' + '("a" ' * n + '"z"' + ")?" * n + "\ntype T = G\n" + T


@form
def regex_groups(n):
    return "type T = str matching /" + "(" * n + "a" + ")" * n + "/\n" + T


@form
def regex_options(n):
    return "type T = str matching /" + "(a" * n + ")?" * n + "/\n" + T


@form
def regex_alternatives(n):
    return "type T = str matching /" + "(a|" * n + "b" + ")" * n + "/\n" + T


@form
def schemas(n):
    return (
        "type T = json schema "
        + '{"type": "object", "required": ["a"], "additionalProperties": false, "properties": {"a": ' * n
        + '{"type": "integer"}'
        + "}}" * n
        + "\n"
        + T
    )


@form
def schema_arrays(n):
    return (
        "type T = json schema "
        + '{"type": "array", "maxItems": 2, "items": ' * n
        + '{"type": "integer"}'
        + "}" * n
        + "\n"
        + T
    )


@form
def schema_alls(n):
    return "type T = json schema " + '{"allOf": [' * n + '{"type": "integer"}' + "]}" * n + "\n" + T


@form
def schema_nots(n):
    return "type T = json schema " + '{"not": ' * n + '{"type": "integer"}' + "}" * n + "\n" + T


@form
def schema_any(n):
    return (
        "type T = json schema "
        + '{"anyOf": [{"type": "null"}, ' * n
        + '{"type": "integer"}'
        + "]}" * n
        + "\n"
        + T
    )


@form
def schema_refs(n):
    return (
        'type T = json schema {"$ref": "#/$defs/d0", "$defs": {'
        + ", ".join(f'"d{i}": {{"$ref": "#/$defs/d{i + 1}"}}' for i in range(n))
        + f', "d{n}": {{"type": "integer"}}'
        + "}}\n"
        + T
    )


@form
def wheres(n):
    return (
        "pub fn f() -> int:\n    user: | go\n    assistant: | ?{x: int where "
        + "(x > 1 and " * n
        + "x < 9"
        + ")" * n
        + "}\n    return x\n"
    )


@form
def wheres_chain(n):
    return (
        "pub fn f() -> int:\n    user: | go\n    assistant: | ?{x: int where x > 1"
        + " and x < 9" * n
        + "}\n    return x\n"
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
def defaults(n):
    return "record R:\n    a: json = " + "[" * n + "1" + "]" * n + "\ntype T = R\n" + T


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
