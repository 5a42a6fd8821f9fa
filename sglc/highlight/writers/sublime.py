"""The syntax of Sublime Text, whose contexts are the regions of the grammar of colours."""

from __future__ import annotations

import json

from sglc.highlight.core.regions import Grammar, Include, Match, Region, Rule
from sglc.highlight.writers.textmate import SCOPE, scope

_HEAD = f"""\
%YAML 1.2
---
# Made by `python -m sglc.highlight`; edit sglc/highlight instead.
name: SGL
file_extensions: [sgl]
scope: {SCOPE}
version: 2

contexts:
  main:
    - include: root
"""

PREFERENCES = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- Made by `python -m sglc.highlight`; edit sglc/highlight instead. -->
<plist version="1.0">
<dict>
    <key>scope</key>
    <string>source.sgl</string>
    <key>settings</key>
    <dict>
        <key>shellVariables</key>
        <array>
            <dict>
                <key>name</key>
                <string>TM_COMMENT_START</string>
                <key>value</key>
                <string># </string>
            </dict>
        </array>
    </dict>
</dict>
</plist>
"""


def syntax(grammar: Grammar) -> str:
    """`sgl.sublime-syntax`."""
    lines = [_HEAD]
    regions: dict[str, Region] = {}
    for name, rules in grammar.lists.items():
        lines.append(f"\n  {_name(name)}:\n")
        for rule in rules:
            if isinstance(rule, Region):
                regions[rule.name] = rule
            lines += _rule(rule)
    for name in sorted(regions):
        lines += _region(regions[name])
    return "".join(lines)


def _name(name: str) -> str:
    return name.replace(" ", "-")


def _rule(rule: Rule) -> list[str]:
    match rule:
        case Include(name):
            return [f"    - include: {_name(name)}\n"]
        case Match(regex, groups):
            return [f"    - match: {_quoted(regex)}\n", *_captures(groups)] if groups else []
        case Region():
            push = f"      push: in-{_name(rule.name)}\n"
            return [f"    - match: {_quoted(rule.begin)}\n", *_captures(rule.begins), push]


def _region(region: Region) -> list[str]:
    lines = [f"\n  in-{_name(region.name)}:\n"]
    if region.inside:
        lines.append(f"    - meta_content_scope: {scope(region.inside)}\n")
    lines += [f"    - match: {_quoted(region.end)}\n", *_captures(region.ends), "      pop: true\n"]
    return [*lines, f"    - include: {_name(region.rules)}\n"]


def _captures(groups: tuple[str, ...]) -> list[str]:
    if not any(groups):
        return []
    lines = [f"        {number}: {scope(kind)}\n" for number, kind in enumerate(groups, 1) if kind]
    return ["      captures:\n", *lines]


def _quoted(regex: str) -> str:
    return "'" + regex.replace("'", "''") + "'" if json.dumps(regex).isascii() else json.dumps(regex)
