"""Declarations of TypeScript as types: interfaces, aliases and enums, and what they refer to.

An object type is a record with exactly its properties: a value has no others. `number` is a `float`, a key
that may be missing or undefined is an optional field, `any` and `unknown` are `json`. Only what the chosen
declaration refers to is read; whatever of it a type cannot say exactly is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sglc.importers.core.declared import Declared, reachable
from sglc.importers.core.fault import SourceFault
from sglc.importers.typescript.tokens import tokens_of
from sglc.importers.typescript.types import Declarations
from sglc.lalr import tables
from sglc.lalr.machine import LalrMachine
from sglc.lalr.parse import ParseNode, Token, TooDeep, Unexpected, machine_of, parse

_NO_EXPORT = "an export without a declaration says nothing"
_NOT_READ = {
    "import": "what is imported is not read: write the declarations into one text",
    "class": "a class is no type of data",
    "abstract": "a class is no type of data",
    "function": "a function is no type of data",
    "namespace": "namespaces are not read",
    "module": "modules are not read",
    "let": "a variable is no type",
    "var": "a variable is no type",
    "default": _NO_EXPORT,
    "{": _NO_EXPORT,
    "*": _NO_EXPORT,
}


def read_typescript(text: str, wanted: str | None, like: str) -> Declared:
    """The declaration named `wanted`, else the only one, or that named `like`, or that no other refers to.

    Raises SourceFault.
    """
    machine = typescript_machine()
    found, comments = tokens_of(text, machine.literals)
    try:
        module = parse(machine, found, "module")
    except Unexpected as fault:
        raise _unexpected(fault, found) from None
    except TooDeep as fault:
        raise SourceFault(fault.token.start, fault.token.end, "it is nested too deeply") from None
    nodes: dict[str, ParseNode] = {}
    docs: dict[str, str] = {}
    for statement in module.parts:
        assert isinstance(statement, ParseNode)
        node = statement.parts[0] if statement.kind == "exported" else statement
        assert isinstance(node, ParseNode) and isinstance(node.parts[0], Token)
        name = node.parts[0]
        if name.text in nodes:
            raise SourceFault(name.start, name.end, f"{name.text} is declared twice")
        nodes[name.text] = node
        # Comments behind the brace of an interface or an enum are not of it.
        end = statement.end if node.kind == "alias" else statement.start
        docs[name.text] = comments.of(statement.start, end)
    chosen = _chosen(nodes, wanted, like, len(text))
    declarations = Declarations(nodes, docs, comments)
    declarations.declare(chosen)
    return Declared(chosen, reachable(chosen, declarations.types))


@cache
def typescript_machine() -> LalrMachine:
    """The parser of declarations of TypeScript, made once."""
    grammar = Path(__file__).with_name("typescript.lark").read_text(encoding="utf-8")
    return machine_of(tables.load("typescript", grammar, lambda text: tables.build(text, ("module",))))


def _chosen(nodes: dict[str, ParseNode], wanted: str | None, like: str, size: int) -> str:
    names = ", ".join(nodes)
    if not nodes:
        raise SourceFault(0, size, "there is no interface, type or enum in it")
    if wanted is not None:
        if wanted not in nodes:
            raise SourceFault(0, 0, f"there is no declaration {wanted}", f"there are {names}")
        return wanted
    if len(nodes) == 1:
        return next(iter(nodes))
    if like in nodes:
        return like
    mentioned = {other for name, node in nodes.items() for other in _mentioned(node) if other != name}
    free = [name for name in nodes if name not in mentioned]
    if len(free) == 1:
        return free[0]
    raise SourceFault(
        0,
        0,
        f"there are {len(nodes)} declarations ({names})",
        f"name one: `typescript {next(iter(nodes))} from …`",
    )


def _mentioned(node: ParseNode) -> Iterator[str]:
    """Names of the declarations that a node refers to."""
    if node.kind == "reference":
        assert isinstance(node.parts[0], Token)
        yield node.parts[0].text
    for part in node.parts:
        if isinstance(part, ParseNode):
            yield from _mentioned(part)


def _unexpected(fault: Unexpected, tokens: list[Token]) -> SourceFault:
    token = fault.token
    place = next(
        index for index, one in enumerate(tokens) if one.start == token.start and one.end == token.end
    )
    before = tokens[place - 1].text if place else ""
    behind = tokens[place + 1].text if place + 1 < len(tokens) else ""
    reason = f"`{token.text}` is not expected here" if token.text else "it ends too early"
    if token.text in _NOT_READ and before in ("", ";", "}", "export", "declare"):
        reason = _NOT_READ[token.text]
    elif token.text in ("=>", "new") or (before == "(" and (token.kind == "LABEL" or token.text == ")")):
        reason = "a function is no type of data"
    elif behind == "(" and token.kind == "NAME" and "LABEL" in fault.expected:
        reason = "a method is no data"
    elif behind == "in" and before == "[":
        reason = "mapped types are not read: write `Record<…>` or the properties"
    elif token.text == "extends":
        reason = "types that depend on conditions are not read"
    elif token.text == "<" and before == "(":
        reason = "a function is no type of data"
    elif token.text in ("+", "@"):
        reason = f"`{token.text}` means nothing in a type of data"
    return SourceFault(token.start, token.end, reason)
