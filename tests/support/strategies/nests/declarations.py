# ruff: noqa: E501 (a program to a line)
"""Types, grammars, patterns of text, schemas and conditions inside each other, `n` levels deep."""

from __future__ import annotations

from strategies.nests.core import form, lines

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
def defaults(n):
    return "record R:\n    a: json = " + "[" * n + "1" + "]" * n + "\ntype T = R\n" + T
