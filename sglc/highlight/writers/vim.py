"""The syntax file of Vim and Neovim, and what belongs to it."""

from __future__ import annotations

import re

from sglc.highlight.core.classes import CLASSES
from sglc.highlight.core.dialects import vim
from sglc.highlight.core.regions import BLANK, END_OF_LINE, Grammar, Include, Match, Region

_MADE = '" Made by `python -m sglc.highlight`; edit sglc/highlight instead.\n'
_ORDER = (
    "leaves",
    "json",
    "string of json",
    "string",
    "words of grammars",
    "words in brackets",
    "words",
    "slashed",
    "regex",
    "group",
    "grammar",
    "insert",
    "bracket",
    "text",
    "hole",
    "string start",
    "phrases",
    "in brackets",
    "root",
    "comments",
)
"""The lists of rules: to Vim what is defined later goes before what begins at the same place."""

FTDETECT = _MADE + "autocmd BufNewFile,BufRead *.sgl setfiletype sgl\n"

FTPLUGIN = (
    _MADE
    + r"""if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1

setlocal comments=b:##,b:# commentstring=#\ %s
setlocal expandtab shiftwidth=4 softtabstop=4
setlocal formatoptions-=t formatoptions+=croql
setlocal suffixesadd=.sgl
let b:undo_ftplugin = "setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< formatoptions<"
let b:undo_ftplugin .= " suffixesadd<"
"""
)


def syntax(grammar: Grammar) -> str:
    """`syntax/sgl.vim`."""
    lines = [
        _MADE,
        'if exists("b:current_syntax")\n  finish\nendif\n\n',
        "syntax iskeyword @,48-57,_,192-255\nsyntax sync fromstart\n\n",
    ]
    outside = _included(grammar, "root")
    for name in _ORDER:
        lines += _list(name, grammar, name in outside)
    lines.append("\n")
    for name in grammar.lists:
        members = sorted(_groups(grammar, name))
        lines.append(f"syntax cluster {_camel('list', name)} contains={','.join(members)}\n")
    lines.append("\n")
    for name in grammar.lists:
        for kind in sorted(_kinds(grammar, name)):
            lines.append(f"highlight default link {_group(name, kind)} {_group('', kind)}\n")
    for kind, each in CLASSES.items():
        lines.append(f"highlight default link {_group('', kind)} {each.vim}\n")
    lines.append('\nlet b:current_syntax = "sgl"\n')
    return "".join(lines)


def _included(grammar: Grammar, name: str) -> set[str]:
    found = {name}
    for rule in grammar.lists[name]:
        if isinstance(rule, Include):
            found |= _included(grammar, rule.rules)
    return found


def _camel(*words: str) -> str:
    return "sgl" + "".join(part.capitalize() for word in words for part in word.split())


def _group(list_name: str, kind: str) -> str:
    return _camel(list_name, kind)


def _kinds(grammar: Grammar, name: str) -> set[str]:
    """The classes that rules of a list give."""
    found: set[str] = set()
    for rule in grammar.lists[name]:
        if isinstance(rule, Match):
            found.update(filter(None, rule.groups))
        elif isinstance(rule, Region):
            found.update(filter(None, (rule.begins or ("",))[-1:]))
            found.update(filter(None, rule.ends))
    return found


def _groups(grammar: Grammar, name: str) -> set[str]:
    """The groups that may stand where a list of rules holds."""
    found: set[str] = set()
    for each in _included(grammar, name):
        for rule in grammar.lists[each]:
            if isinstance(rule, Match):
                found.update(_group(each, kind) for kind in rule.groups if kind)
            elif isinstance(rule, Region):
                found.add(_region_group(rule))
    return found


def _region_group(region: Region) -> str:
    return _camel("in", region.name)


def _list(name: str, grammar: Grammar, outside: bool) -> list[str]:
    contained = "" if outside else " contained"
    lines = []
    for rule in reversed(grammar.lists[name]):
        if isinstance(rule, Match):
            lines += [
                f"syntax match {_group(name, kind)} /\\%#=1\\v{text}/{contained}\n"
                for kind, text in _matches(rule)
            ]
        elif isinstance(rule, Region):
            lines.append(_region(name, rule, contained))
            if rule.inside:
                lines.append(f"highlight default link {_region_group(rule)} {_group('', rule.inside)}\n")
    return lines


def _matches(rule: Match) -> list[tuple[str, str]]:
    """An expression for each group with a class, which it begins at."""
    found = []
    spans = _group_spans(rule.regex)
    for kind, (start, end) in zip(rule.groups, spans, strict=True):
        if not kind:
            continue
        arm_start, arm_end, before, behind = _arms(rule.regex, start, end)
        text = vim(before + rule.regex[arm_start:start])
        if not before and any(rule.groups[: spans.index((start, end))]):
            # An earlier group has been matched by then.
            text = vim(f"(?<={rule.regex[:start]})")
        inner = vim(rule.regex[start + 1 : end - 1])
        begin, blanks = (text, "") if not inner.startswith("[ \\t]*") else (text, "[ \\t]*")
        inner = inner.removeprefix(blanks)
        found.append((kind, f"{begin}{blanks}\\zs%({inner})\\ze{vim(rule.regex[end:arm_end] + behind)}"))
    return found[::-1]


def _group_spans(regex: str) -> list[tuple[int, int]]:
    """Where the groups that are counted begin and end."""
    found, opened = [], []
    for match in re.finditer(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<?[:=!]|[()]", regex):
        if match[0][0] == "(":
            opened.append(match.start())
        elif match[0] == ")":
            start = opened.pop()
            if regex[start + 1] != "?":
                found.append((start, match.end()))
    return sorted(found)


def _arms(regex: str, start: int, end: int) -> tuple[int, int, str, str]:
    """The arm of the outer alternatives in which a group stands, and what is before and behind them all.

    Expressions of words are `BEFORE(?:(one)BEHIND|(other)BEHIND)`.
    """
    outer = re.search(re.escape(BLANK) + r"\\b\(\?:", regex)
    if outer is None or not regex.endswith(")") or start < outer.end():
        return 0, len(regex), "", ""
    depth, arm_start = 0, outer.end()
    for match in re.finditer(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]", regex[outer.end() : -1]):
        place = match.start() + outer.end()
        if match[0] == "(":
            depth += 1
        elif match[0] == ")":
            depth -= 1
        elif match[0] == "|" and depth == 0:
            if place > end:
                return arm_start, place, regex[: outer.end() - 3], ""
            arm_start = place + 1
    return arm_start, len(regex) - 1, regex[: outer.end() - 3], ""


def _region(list_name: str, region: Region, contained: str) -> str:
    start = region.begin
    if len(region.begins) > 1:
        # What stands before the last group has rules of its own.
        spans = _group_spans(region.begin)
        wanted = 2 if region.name == "grammar" else len(spans) - 1
        first, last = spans[wanted]
        start = f"(?<={region.begin[:first]}){region.begin[first:last]}"
        if region.name == "grammar":
            start = rf"(?<=^|^pub ){region.begin[first:last]}(?=[ ])"
        kind = region.begins[wanted]
    else:
        kind = region.begins[0]
    ends = [region.end]
    if region.end.endswith(f"|{END_OF_LINE}"):
        ends = [region.end.removesuffix(f"|{END_OF_LINE}"), END_OF_LINE]
    if region.end.startswith(r"(\)") or region.end.startswith(r"(\]") or region.end.startswith(r"(\}"):
        closing, _, rest = region.end.partition(")|")
        ends = [closing + ")", rest] if rest else ends
    written = "".join(f" end=/\\%#=1\\v{vim(each)}/" for each in ends)
    start = start.replace(BLANK + "(", "(", 1) if start.startswith(BLANK + "(") else start
    text = vim(start)
    keepend = " keepend" if region.inside == "prompt" and region.end == END_OF_LINE else ""
    return (
        f"syntax region {_region_group(region)} matchgroup={_group(list_name, kind)} "
        f"start=/\\%#=1\\v{text}/{written}{keepend}{contained} contains=@{_camel('list', region.rules)}\n"
    )
