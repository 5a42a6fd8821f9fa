"""The queries of tree-sitter: colours, embedded languages, folds, indents, scopes of names."""

from __future__ import annotations

from sglc.highlight.core.classes import CLASSES, KEYWORDS, MARKS, WORDS
from sglc.highlight.treesitter.grammar import literals

_MADE = "; Made by `python -m sglc.highlight`; edit sglc/highlight instead.\n\n"

_NODES = (
    ("name", "name"),
    ("number", "number"),
    ("string", "string"),
    ("escape", "escape"),
    ("regex", "regex"),
    ("path", "path"),
    ("prompt_text", "prompt"),
    ("fence_text", "prompt"),
    ("fence_mark", "pipe"),
    ("role_name", "role"),
    ("inline_json", "json"),
    ("comment", "comment"),
    ("binary_operator", "operator"),
    ("augmented_operator", "operator"),
)
_DECLARED = (
    ("function name", ("function", "pure_function", "part_function", "aside_function", "extern")),
    ("type name", ("record", "enum", "enum_block", "union", "type_alias", "error", "grammar")),
)
_BLOCKS = (
    "body fields field_block enum_block union grammar role role_with_tools function pure_function "
    "part_function aside_function test if for while match try"
).split()


def highlights(grammar: str) -> str:
    """`highlights.scm`: later patterns go before earlier ones."""
    known = literals(grammar)
    alone = {word for word in WORDS if word not in known and f'"value": "{word}"' in grammar}
    lines = [_MADE]
    lines += [f"({node}) @{_capture(kind)}\n" for node, kind in _NODES]
    lines.append(
        f'((comment) @{_capture("documentation")}\n  (#match? @{_capture("documentation")} "^##"))\n'
    )
    for kind in sorted({*MARKS.values()}):
        marks = sorted(mark for mark, each in MARKS.items() if each == kind and mark in known)
        lines.append(f"[{_quoted(marks)}] @{_capture(kind)}\n")
    for kind in sorted(KEYWORDS):
        words = sorted(word for word, each in WORDS.items() if each == kind and word in known)
        if words:
            lines.append(f"[{_quoted(words)}] @{_capture(kind)}\n")
        lines += [
            f"({word}) @{_capture(kind)}\n" for word in sorted(WORDS) if WORDS[word] == kind and word in alone
        ]
    lines.append(f'["not containing"] @{_capture("refinement")}\n["or skip"] @{_capture("statement")}\n')
    lines.append(f'["not in"] @{_capture("word operator")}\n')
    for kind, nodes in _DECLARED:
        lines += [f"({node} (name) @{_capture(kind)})\n" for node in _known(grammar, list(nodes))]
    lines.append(f'(insert ["${{" "}}"] @{_capture("insert")})\n')
    lines.append(f'(prompt_hole ["?{{" "}}"] @{_capture("hole")})\n')
    lines.append(f'(pipe_line "|" @{_capture("pipe")})\n')
    lines += [f"({node}) @{_capture('constant')}\n" for node in ("true", "false", "null")]
    return "".join(lines)


def injections() -> str:
    """`injections.scm`: regular expressions, JSON in programs, JSON and SQL in fences and files of tables."""
    return (
        _MADE
        + """\
((regex_pattern) @injection.content
  (#set! injection.language "regex"))

((inline_json) @injection.content
  (#set! injection.language "json"))

((fence (fence_text) @injection.content)
  (#match? @injection.content "^\\\\s*[{\\\\[]")
  (#set! injection.language "json"))

((fence (fence_text) @injection.content)
  (#match? @injection.content "^\\\\s*(SELECT|CREATE|INSERT|WITH|select|create|insert|with)\\\\s")
  (#set! injection.language "sql"))
"""
    )


def folds(grammar: str) -> str:
    """`folds.scm`: declarations, roles and blocks."""
    return (
        _MADE + "[\n" + "".join(f"  ({name})\n" for name in _known(grammar, _BLOCKS)) + "  (fence)\n] @fold\n"
    )


def indents(grammar: str) -> str:
    """`indents.scm`, in the words of Neovim and Helix."""
    names = _known(grammar, ["body", "fields", "field_block", "enum_block", "union", "grammar"])
    begin = "".join(f"  ({name})\n" for name in names)
    return (
        f"{_MADE}[\n{begin}] @indent.begin @indent\n\n"
        '[")" "]" "}"] @indent.end @outdent\n\n(fence) @indent.ignore\n'
    )


def local_names(grammar: str) -> str:
    """`locals.scm`: scopes, what declares a name in them, and uses."""
    scopes = _known(
        grammar, ["function", "pure_function", "part_function", "aside_function", "test", "grammar"]
    )
    definitions = _known(grammar, ["parameter", "untrusted_parameter", "let", "var"])
    lines = [_MADE, "[\n", *(f"  ({name})\n" for name in scopes), "] @local.scope\n\n"]
    lines += [f"({name} (name) @local.definition)\n" for name in definitions]
    return "".join([*lines, "(reference (name) @local.reference)\n"])


def _capture(kind: str) -> str:
    return CLASSES[kind].tree_sitter


def _quoted(words: list[str]) -> str:
    return " ".join(f'"{word}"' for word in words)


def _known(grammar: str, names: list[str]) -> list[str]:
    return [name for name in names if f'"{name}": {{' in grammar or f'"value": "{name}"' in grammar]
