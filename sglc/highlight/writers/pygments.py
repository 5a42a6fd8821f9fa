"""The lexer of Pygments, one module without imports but of Pygments."""

from __future__ import annotations

from sglc.highlight.core.classes import CLASSES
from sglc.highlight.core.regions import Grammar, Include, Match, Region, Rule

_HEAD = '''"""Colours of SGL for Pygments. Made by `python -m sglc.highlight`.

Edit the table of classes instead. It imports nothing but Pygments, so that it can be copied elsewhere.
"""
# ruff: noqa
# fmt: off

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import ClassVar

from pygments.lexer import RegexLexer, include
from pygments.token import Token

__all__ = ["SglLexer"]

Found = Iterator[tuple[int, object, str]]


def _by(plain: object, *kinds: object) -> Callable[[object, re.Match[str], object], Found]:
    """The kinds of the groups of a match; what stands between them is `plain`."""

    def found(lexer: object, match: re.Match[str], context: object = None) -> Found:
        place = match.start()
        for number, kind in enumerate(kinds, 1):
            start, end = match.span(number)
            if start >= 0:
                if place < start:
                    yield place, plain, match.string[place:start]
                yield start, kind, match[number]
                place = end
        if place < match.end():
            yield place, plain, match.string[place : match.end()]

    return found


class SglLexer(RegexLexer):  # type: ignore[misc]
    """Cuts programs of SGL into tokens with the classes of Pygments."""

    name = "SGL"
    aliases: ClassVar[list[str]] = ["sgl"]
    filenames: ClassVar[list[str]] = ["*.sgl"]
    mimetypes: ClassVar[list[str]] = ["text/x-sgl"]

    tokens: ClassVar[dict[str, list[object]]] = {
'''


def lexer(grammar: Grammar) -> str:
    """The text of the module."""
    lines = [_HEAD]
    regions: dict[str, Region] = {}
    for rules in grammar.lists.values():
        for rule in rules:
            if isinstance(rule, Region):
                regions[rule.name] = rule
    for name, rules in grammar.lists.items():
        lines += _list(name, regions, rules)
    for name in sorted(regions):
        lines += _state(regions[name])
    lines.append("    }\n")
    return "".join(lines)


def _list(name: str, regions: dict[str, Region], rules: tuple[Rule, ...]) -> list[str]:
    inside = next((each.inside for each in regions.values() if each.rules == name), "")
    plain = _token(inside) if inside else "Token.Text"
    blank = plain if inside else "Token.Text.Whitespace"
    lines = [f"        {name!r}: [\n"]
    for rule in rules:
        if isinstance(rule, Include):
            lines.append(f"            include({rule.rules!r}),\n")
        elif isinstance(rule, Match):
            lines.append(_line(rule.regex, rule.groups, inside, ""))
        else:
            lines.append(_line(rule.begin, rule.begins, inside, _name(rule)))
    if name in {"root", *(each.rules for each in regions.values())}:
        lines.append("            (r'\\n', Token.Text.Whitespace),\n")
        lines.append(f"            (r'[ \\t\\r]+', {blank}),\n")
        lines.append(f"            (r'.', {plain}),\n")
    return [*lines, "        ],\n"]


def _state(region: Region) -> list[str]:
    end = _line(region.end, region.ends, region.inside, "#pop")
    return [
        f"        {_name(region)!r}: [\n",
        end,
        f"            include({region.rules!r}),\n",
        "        ],\n",
    ]


def _name(region: Region) -> str:
    return f"in {region.name}"


def _line(regex: str, groups: tuple[str, ...], inside: str, state: str) -> str:
    plain = _token(inside) if inside else "Token.Text"
    kinds = [_token(each) if each else plain for each in groups]
    action = f"_by({', '.join((plain, *kinds))})" if groups else plain
    goes = f", {state!r}" if state else ""
    return f"            ({regex!r}, {action}{goes}),\n"


def _token(kind: str) -> str:
    return f"Token.{CLASSES[kind].pygments}"
