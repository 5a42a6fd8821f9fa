"""`grammar.json` of tree-sitter: the rules of `grammar/sgl.lark`, and rules for what the lexer of sglc cuts
by itself.

The parser of tree-sitter knows its state when it cuts a token, as the parser of sglc does: a word is a
keyword only where the rules can take it. Where that is not enough, the scanner (`scanner.c`) looks at what
follows.
"""

from __future__ import annotations

import json
import re

from sglc.highlight.treesitter.notation import (
    Alternative,
    LarkRule,
    Node,
    choice,
    pattern,
    read,
    sequence,
    string,
    symbol,
)
from sglc.syntax.lexer.keywords import BINARY, SOFT

NAMES = {
    "NAME": "name",
    "NUMBER": "number",
    "STRING": "string",
    "REGEX": "regex",
    "PIPE": "pipe_line",
    "FENCE": "fence",
    "PATH": "path",
    "INLINE_JSON": "inline_json",
    "ROLE": "role_name",
    "BINARY": "binary_operator",
    "AUGMENTED": "augmented_operator",
}
"""Declared tokens and what their nodes are called."""
_LETTERS = r"a-zA-Z_\u0080-\u009f\u00a1-\u1fff\u2070-\u{10ffff}"
"""Letters, and more: what is not ASCII and no letter stands nowhere else than in texts."""
LAYOUT = ("_NEWLINE", "_INDENT", "_DEDENT")
SCANNED = (
    "_newline",
    "_indent",
    "_dedent",
    "_pipe_mark",
    "prompt_text",
    "_fence_open",
    "fence_text",
    "_fence_close",
    "inline_json",
    "role_name",
    "_not_in",
    "_not_containing",
    "_or_skip",
    "_grammar_word",
)
"""What the scanner cuts besides soft keywords, in the order of its table."""


def soft_words() -> list[str]:
    """The soft keywords that the scanner decides, in the order of its table; roles are one token."""
    return sorted(set(SOFT) - {"system", "user", "assistant", "tool"})


def grammar_json(lark: str) -> str:
    """The text of `grammar.json`."""
    rules = _Translation(read(lark)).rules | _tokens()
    reached = _reached(rules)
    data = {
        "name": "sgl",
        "word": "name",
        "rules": {name: rule for name, rule in rules.items() if name in reached},
        "extras": [pattern(r"\s"), symbol("comment")],
        "conflicts": [],
        "precedences": [],
        "externals": [symbol(name) for name in (*SCANNED, *map(_keyword, soft_words()), "_error")],
        "inline": [],
        "supertypes": [],
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def literals(grammar: str) -> set[str]:
    """The unnamed nodes of a `grammar.json`; a literal that is all of one rule and stands nowhere else has
    only the node of that rule.
    """
    counts: dict[str, int] = {}

    def visit(node: object) -> None:
        if isinstance(node, dict):
            if node.get("type") == "STRING" or (node.get("type") == "ALIAS" and node.get("named") is False):
                text = str(node["value"])
                counts[text] = counts.get(text, 0) + 1
            for each in node.values():
                visit(each)
        elif isinstance(node, list):
            for each in node:
                visit(each)

    rules = json.loads(grammar)["rules"]
    visit(rules)
    alone = {rule["value"] for rule in rules.values() if rule["type"] == "STRING"}
    return {text for text, count in counts.items() if count > 1 or text not in alone}


def _keyword(word: str) -> str:
    return f"_word_{word}"


class _Translation:
    """Makes visible rules of the alternatives with names, and hidden ones of what only groups them."""

    def __init__(self, source: list[LarkRule]) -> None:
        self.source = {rule.name: rule for rule in source}
        self.rules: dict[str, Node] = {}
        self.taken = {rule.name for rule in source if not self._grouping(rule)}
        for rule in source:
            self._rule(rule)

    def _grouping(self, rule: LarkRule) -> bool:
        return rule.slim or any(each.name for each in rule.alternatives)

    def _rule(self, rule: LarkRule) -> None:
        if self._empty(rule):
            return
        if not self._grouping(rule):
            self.rules[rule.name] = choice([self._node(each.body, rule) for each in rule.alternatives])
            return
        named: dict[str, list[Node]] = {}
        arms: list[Node] = []
        for each in rule.alternatives:
            name = self._name(rule, each)
            body = self._node(each.body, rule)
            if name:
                named.setdefault(name, []).append(body)
            else:
                arms.append(body)
        for name, bodies in named.items():
            arms.append(self._visible(name, choice(bodies)))
        self.rules[f"_{rule.name}"] = choice(arms)

    def _name(self, rule: LarkRule, alternative: Alternative) -> str:
        return alternative.name or ("" if rule.slim or rule.hidden else rule.name)

    def _visible(self, name: str, body: Node) -> Node:
        if name not in self.taken:
            self.taken.add(name)
            self.rules[name] = body
            return symbol(name)
        number = 2
        while f"_{name}_{number}" in self.rules:
            number += 1
        self.rules[f"_{name}_{number}"] = body
        return {"type": "ALIAS", "content": symbol(f"_{name}_{number}"), "named": True, "value": name}

    def _empty(self, rule: LarkRule) -> bool:
        """Whether it is `part*`: tree-sitter has no rule that may be empty, so it is put where it is used."""
        return rule.name != "module" and rule.alternatives[0].body.get("type") == "REPEAT"

    def _node(self, node: Node, rule: LarkRule) -> Node:
        kind = node["type"]
        if kind == "SYMBOL":
            return self._symbol(str(node["name"]))
        if kind == "STRING":
            return self._string(str(node["value"]), rule)
        made = dict(node)
        if isinstance(members := node.get("members"), list):
            made["members"] = [self._node(each, rule) for each in members]
        if isinstance(content := node.get("content"), dict):
            made["content"] = self._node(content, rule)
        return made

    def _string(self, text: str, rule: LarkRule) -> Node:
        if text == "grammar" and rule.name == "grammar":
            return _unnamed("_grammar_word", text)
        return _unnamed(_keyword(text), text) if text in SOFT else string(text)

    def _symbol(self, name: str) -> Node:
        if name == "_NOT_CONTAINING":
            return _unnamed("_not_containing", "not containing")
        if name == "OR_SKIP":
            return _unnamed("_or_skip", "or skip")
        if name in NAMES or name in LAYOUT:
            return symbol(NAMES.get(name, name.lower()))
        rule = self.source[name]
        if self._empty(rule):
            return self._node(rule.alternatives[0].body, rule)
        return symbol(f"_{name}" if self._grouping(rule) else name)


def _unnamed(token: str, text: str) -> Node:
    return {"type": "ALIAS", "content": symbol(token), "named": False, "value": text}


def _token(regex: str, precedence: int = 0) -> Node:
    return {"type": "TOKEN", "content": {"type": "PREC", "value": precedence, "content": pattern(regex)}}


def _immediate(regex: str, precedence: int = 1) -> Node:
    """A token that no blank or comment may precede, and that goes before a comment."""
    content = {"type": "PREC", "value": precedence, "content": pattern(regex)}
    return {"type": "IMMEDIATE_TOKEN", "content": content}


def _repeat(*members: Node) -> Node:
    return {"type": "REPEAT", "content": choice(list(members))}


def _tokens() -> dict[str, Node]:
    """The rules of what the grammar of sglc takes as one token."""
    operators = sorted(
        (each for each in BINARY if not each.isidentifier()), key=lambda each: (-len(each), each)
    )
    words = sorted(each for each in BINARY if each.isidentifier())
    symbols = "|".join(re.sub(r"([*+/.-])", r"\\\1", each) for each in operators)
    insert, hole = symbol("insert"), symbol("prompt_hole")
    return {
        "binary_operator": choice([_token(symbols), *map(string, words), _unnamed("_not_in", "not in")]),
        "augmented_operator": _token(r"[-+*/]="),
        "name": pattern(f"[{_LETTERS}][0-9{_LETTERS}]*"),
        "number": pattern(r"\d[\d_]*(\.\d[\d_]*)?([eE][-+]?\d+)?"),
        "path": pattern(r'[^\s("]+'),
        "comment": _token(r"#[^\n]*"),
        "string": sequence(
            [string('"'), _repeat(symbol("string_text"), symbol("escape"), insert), string('"')]
        ),
        # A single `$` comes after `${`, which is longer, as both have no precedence.
        "string_text": choice([_immediate(r'[^"\\\n$]+'), _immediate(r"\$", 0)]),
        "escape": _immediate(r"\\(u\{[0-9a-fA-F]+\}|[^\n])"),
        "insert": sequence([string("${"), symbol("_expression_or_else"), string("}")]),
        "regex": sequence([string("/"), symbol("regex_pattern"), _immediate("/")]),
        "regex_pattern": _immediate(r"(\\[^\n]|\[(\\[^\n]|[^\]\\\n])*\]|[^/\\\[\n])+"),
        "pipe_line": sequence([_unnamed("_pipe_mark", "|"), _repeat(symbol("prompt_text"), insert, hole)]),
        "fence": sequence(
            [
                {"type": "ALIAS", "content": symbol("_fence_open"), "named": True, "value": "fence_mark"},
                _repeat(symbol("fence_text"), insert, hole),
                {"type": "ALIAS", "content": symbol("_fence_close"), "named": True, "value": "fence_mark"},
            ]
        ),
        "prompt_hole": sequence([string("?{"), symbol("hole"), string("}")]),
    }


def _reached(rules: dict[str, Node]) -> set[str]:
    """The rules that the first one uses, and those that extras need."""
    reached: set[str] = set()
    waiting = ["module", "comment", "name"]
    while waiting:
        name = waiting.pop()
        if name in rules and name not in reached:
            reached.add(name)
            _uses(rules[name], waiting)
    return reached


def _uses(node: object, found: list[str]) -> None:
    if isinstance(node, dict):
        if node.get("type") == "SYMBOL":
            found.append(str(node["name"]))
        for each in node.values():
            _uses(each, found)
    elif isinstance(node, list):
        for each in node:
            _uses(each, found)
