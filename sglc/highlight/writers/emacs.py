"""The major mode of Emacs.

Emacs has no lookaround. So an expression becomes a plan of lists: texts are regular expressions of Emacs, to
be found at point one after the other, and between them stand what looks ahead or behind, groups and choices.
A small machine in Lisp follows it, and reads lines as the machine for JavaScript does.
"""

from __future__ import annotations

from pathlib import Path

from sglc.highlight.core.classes import CLASSES
from sglc.highlight.core.regexes import (
    Char,
    Choice,
    Group,
    Item,
    Look,
    Place,
    Regex,
    Repeat,
    Sequence,
    Set,
    read,
    width,
)
from sglc.highlight.core.regions import END_OF_LINE, Grammar, Include, Match, Region, Rule


def mode(grammar: Grammar) -> str:
    """`sgl-mode.el`."""
    frame = Path(__file__).with_name("sgl-mode.el").read_text(encoding="utf-8")
    regions: dict[str, Region] = {}
    lists = []
    for name, rules in grammar.lists.items():
        for rule in rules:
            if isinstance(rule, Region):
                regions[rule.name] = rule
        body = "\n".join(f"     {_rule(rule)}" for rule in rules)
        lists.append(f"    ({_symbol(name)}\n{body})")
    made = [f"    {_region(regions[name])}" for name in sorted(regions)]
    faces = [f"    ({_symbol(kind)} . {_face(each.emacs)})" for kind, each in CLASSES.items()]
    for mark, lines in (("LISTS", lists), ("REGIONS", made), ("FACES", faces)):
        frame = frame.replace(f"@{mark}@", "\n".join(lines).lstrip())
    return frame


def _symbol(name: str) -> str:
    return name.replace(" ", "-") or "nil"


def _face(name: str) -> str:
    return f"font-lock-{name}-face" if name else "nil"


def _groups(groups: tuple[str, ...]) -> str:
    return f"({' '.join(map(_symbol, groups))})"


def _rule(rule: Rule) -> str:
    match rule:
        case Include(name):
            return _symbol(name)
        case Match(regex, groups):
            return f"(nil {_groups(groups)} {plan(regex)})"
        case Region():
            return f"({_symbol(rule.name)} {_groups(rule.begins)} {plan(rule.begin)})"


def _region(region: Region) -> str:
    line = "t" if region.end.endswith(END_OF_LINE) else "nil"
    return (
        f"({_symbol(region.name)} {_symbol(region.rules)} {_symbol(region.inside)} {line} "
        f"{_groups(region.ends)} {plan(region.end)})"
    )


def plan(regex: str) -> str:
    """The plan of a regular expression, as Lisp."""
    return f"({' '.join(_steps(read(regex)))})"


def _steps(regex: Regex) -> list[str]:
    """The steps of a sequence; what is native to Emacs and stands together is one text."""
    steps: list[str] = []
    native = ""
    for part in regex.parts if isinstance(regex, Sequence) else (regex,):
        if _plain(part):
            native += _native(part)
            continue
        if native:
            steps.append(_text(native))
            native = ""
        steps.append(_step(part))
    return [*steps, _text(native)] if native else steps


def _text(native: str) -> str:
    for char, written in (("\\", "\\\\"), ('"', '\\"'), ("\t", "\\t"), ("\r", "\\r"), ("\n", "\\n")):
        native = native.replace(char, written)
    return f'"{native}"'


def _step(part: Regex) -> str:
    match part:
        case Group(number, inner):
            return f"(group {number} {' '.join(_steps(inner))})"
        case Choice(arms):
            return f"(or {' '.join('(' + ' '.join(_steps(arm)) + ')' for arm in arms)})"
        case Repeat(0, 1, inner):
            return f"(or ({' '.join(_steps(inner))}) ())"
        case Look(False, wanted, inner):
            return f"(ahead{'' if wanted else '-not'} {' '.join(_steps(inner))})"
        case Look(True, wanted, inner):
            return f"(behind{'' if wanted else '-not'} {width(inner)} {' '.join(_steps(inner))})"
        case Sequence():
            return f"(all {' '.join(_steps(part))})"
    raise ValueError(f"Emacs has nothing for {part}")


def _plain(part: Regex) -> bool:
    """Whether Emacs has it: neither lookaround nor a group whose place is wanted."""
    match part:
        case Look() | Group():
            return False
        case Sequence(parts) | Choice(parts):
            return all(map(_plain, parts))
        case Repeat(_, _, inner):
            return _plain(inner)
    return True


def _native(part: Regex) -> str:
    match part:
        case Char(code):
            return f"\\{chr(code)}" if chr(code) in "^$\\.*+?[" else chr(code)
        case Place(kind):
            return "\\b" if kind == "b" else kind
        case Set():
            return _set(part)
        case Sequence(parts):
            return "".join(map(_native, parts))
        case Choice(arms):
            return "\\(?:" + "\\|".join(map(_native, arms)) + "\\)"
        case Repeat(least, most, inner):
            return _repeat(least, most, inner)
    raise ValueError(f"Emacs has nothing for {part}")


def _repeat(least: int, most: int | None, inner: Regex) -> str:
    body = _native(inner) if isinstance(inner, Char | Set) else f"\\(?:{_native(inner)}\\)"
    if most is None and least in (0, 1):
        return body + ("*", "+")[least]
    return body + ("?" if (least, most) == (0, 1) else f"\\{{{least},{'' if most is None else most}\\}}")


_CLASSES = {"w": "[:alnum:]_", "d": "0-9", "s": " \t\r\n"}


def _set(part: Set) -> str:
    if "W" in part.items:
        return "[[:alpha:]_]"  # `[^\W\d]`, the only set with it
    found = [_item(each) for each in part.items]
    # In sets of Emacs `]` stands first, `^` not first, `-` last, and nothing is escaped.
    order = {"]": 0, "^": 2, "-": 3}
    found.sort(key=lambda each: order.get(each, 1))
    return f"[{'^' if part.negated else ''}{''.join(found)}]"


def _item(item: Item) -> str:
    if isinstance(item, str):
        return _CLASSES[item]
    first, last = map(chr, item)
    return first if first == last else f"{first}-{last}"
