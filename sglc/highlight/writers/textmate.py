"""The TextMate grammar, which VS Code, GitHub and others read, and what VS Code wants to know besides."""

from __future__ import annotations

import json

from sglc.highlight.core.classes import CLASSES
from sglc.highlight.core.regions import Grammar, Include, Match, Region, Rule

SCOPE = "source.sgl"
"""The scope of a whole file."""

Data = dict[str, object]


def grammar_json(grammar: Grammar) -> str:
    """`sgl.tmLanguage.json`."""
    repository: Data = {}
    for name, rules in grammar.lists.items():
        repository[name] = {"patterns": [_rule(rule, repository) for rule in rules if _says(rule)]}
    data = {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "information_for_contributors": ["Made by `python -m sglc.highlight`; edit sglc/highlight instead."],
        "name": "SGL",
        "scopeName": SCOPE,
        "fileTypes": ["sgl"],
        "patterns": [{"include": "#root"}],
        "repository": dict(sorted(repository.items())),
    }
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def language_configuration() -> str:
    """`language-configuration.json`: comments, brackets, and where lines begin deeper or go on."""
    data = {
        "comments": {"lineComment": "#"},
        "brackets": [["{", "}"], ["[", "]"], ["(", ")"]],
        "autoClosingPairs": [
            {"open": "{", "close": "}"},
            {"open": "[", "close": "]", "notIn": ["string", "comment"]},
            {"open": "(", "close": ")", "notIn": ["string", "comment"]},
            {"open": '"', "close": '"', "notIn": ["string", "comment"]},
        ],
        "surroundingPairs": [["{", "}"], ["[", "]"], ["(", ")"], ['"', '"']],
        "wordPattern": r"[^\W\d]\w*",
        "indentationRules": {
            "increaseIndentPattern": r"^(?!\s*\|).*:\s*(#.*)?$",
            "decreaseIndentPattern": r"^\s*(elif\b.*|else|except\b.*):\s*(#.*)?$",
        },
        "onEnterRules": [
            {"beforeText": r"^\s*\|.*\S.*$", "action": {"indent": "none", "appendText": "| "}},
            {"beforeText": r"^\s*##.*$", "action": {"indent": "none", "appendText": "## "}},
        ],
        "folding": {"offSide": True},
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def contributes() -> Data:
    """What the manifest of a VS Code extension says of the language and its grammar; paths are its own."""
    return {
        "languages": [
            {
                "id": "sgl",
                "aliases": ["SGL"],
                "extensions": [".sgl"],
                "configuration": "./language-configuration.json",
            }
        ],
        "grammars": [{"language": "sgl", "scopeName": SCOPE, "path": "./syntaxes/sgl.tmLanguage.json"}],
    }


def scope(kind: str) -> str:
    """The scope of a class."""
    return f"{CLASSES[kind].textmate}.sgl"


def _says(rule: Rule) -> bool:
    return not isinstance(rule, Match) or bool(rule.groups)


def _rule(rule: Rule, repository: Data) -> Data:
    match rule:
        case Include(name):
            return {"include": f"#{name}"}
        case Match(regex, groups):
            return {"match": regex, "captures": _captures(groups)}
        case Region():
            repository[f"in {rule.name}"] = _region(rule)
            return {"include": f"#in {rule.name}"}


def _region(rule: Region) -> Data:
    made: Data = {
        "begin": rule.begin,
        "beginCaptures": _captures(rule.begins),
        "end": rule.end,
        "endCaptures": _captures(rule.ends),
        "patterns": [{"include": f"#{rule.rules}"}],
    }
    if rule.inside:
        made["contentName"] = scope(rule.inside)
    return made


def _captures(groups: tuple[str, ...]) -> Data:
    return {str(number): {"name": scope(kind)} for number, kind in enumerate(groups, 1) if kind}
