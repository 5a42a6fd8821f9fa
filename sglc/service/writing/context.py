"""Where the cursor stands while a line is written, told from the text before it: no tree is needed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sglc.service.core.snapshot import Snapshot
from sglc.service.writing.sight import declaration_at
from sglc.syntax.tree import ast

Where = Literal[
    "nothing",
    "declaration",
    "statement",
    "expression",
    "type",
    "refinement",
    "member",
    "module",
    "module name",
    "mocked",
    "hole of mock",
    "error",
    "form",
    "retry",
    "case",
    "path",
    "model",
    "strategy",
    "hole",
]
LONGEST = 2_000
"""Characters of a line before the cursor behind which nothing is offered: searching them would take long."""
_WORD = re.compile(r"[^\W\d]\w*$")
_RECEIVER = re.compile(r"((?:[^\W\d]\w*(?:\([^()]*\)|\[[^\[\]]*\])?\.)+)$")
_NEW_NAME = re.compile(
    r"\s*(?:(?:pub\s+)?(?:(?:pure\s+)?fn|record|enum|union|type|error|const|grammar)|let|var|for)\s+$"
)
"""Lines that go on with a name that is made up."""
_LET_TYPE = re.compile(r"\b(?:let|var|const)\s+\w+\s*:\s*[^=]*$")


@dataclass(frozen=True, slots=True)
class Context:
    """What may be written. `word` is what stands of it, from `start` on; `before` the line up to there;
    `receiver` the text before a point; `written` what is complete of a type or call."""

    where: Where
    word: str
    start: int
    before: str
    receiver: str = ""
    written: str = ""
    kind: str = ""
    """Of the declaration around: fn, part, pure, aside, test, record, union, enum, grammar."""


Found = Callable[..., Context]
"""Makes the context of a place that is known; what is said of it comes by name."""


def context_at(snapshot: Snapshot, offset: int) -> Context:
    """Where an offset stands."""
    text = snapshot.text
    line_start = text.rfind("\n", 0, offset) + 1
    line = text[line_start:offset]
    match = _WORD.search(line)
    word = match.group() if match else ""
    start = offset - len(word)
    before = text[line_start:start]
    node = declaration_at(snapshot, offset)

    def found(where: Where, **more: str) -> Context:
        return Context(where, word, start, before, kind=_kind(node, text, line_start), **more)

    if len(before) > LONGEST or _in_comment(before):
        return found("nothing")
    pipe = _pipe(before)
    if pipe is not None:
        inner = _inside(before[pipe:])
        if inner is None:
            return found("nothing")
        mark, content = inner
        if mark == "?{":
            return _in_hole(content, found)
        return _in_expression(content, found)
    quoted = _open_quote(before)
    if quoted is not None:
        if re.search(r"\b(?:include|json schema|from|replay)\s*$", before[:quoted]):
            return found("path", written=before[quoted + 1 :])
        inner = _inside(before[quoted:])
        return found("nothing") if inner is None else _in_expression(inner[1], found)
    return _in_line(before, found)


def _in_line(before: str, found: Found) -> Context:
    stripped = before.strip()
    if _NEW_NAME.match(before):
        return found("nothing")
    if match := re.match(r"\s*use\s+(\S+)\s*\(", before):
        return found("module name", written=match.group(1))
    if re.match(r"\s*use\s+[\w./]*$", before):
        return found("module", written=stripped.removeprefix("use").strip())
    if re.search(r"\b(?:raises|raise|except)\s+(?:\w+\s*,\s*)*$", before):
        return found("error")
    if match := re.match(r"\s*mock\s+(?:(\w+)\.)?$", before):
        return found("hole of mock", written=match.group(1)) if match.group(1) else found("mocked")
    if re.search(r"\busing\s+(?:blend\(\s*)?(?:\w+\s+or\s+|\w+\s*,\s*)?$", before):
        return found("model")
    if re.search(r"\bretry\s+\S+\s+$", before):
        return found("retry")
    if re.match(r"\s*case\s+(?:[\w()=,\s]+\|\s*)?$", before):
        return found("case")
    if not stripped:
        return found("statement" if before else "declaration")
    if before.endswith("pub "):
        return found("declaration")
    if _LET_TYPE.search(before) or _is_type_place(before):
        return _in_type(_after_colon(before), found)
    return _in_expression(before, found)


def _is_type_place(before: str) -> bool:
    """Whether a declaration's line is at a type: a field, a parameter, a result, the right of `type … =`."""
    if re.match(r"\s*(?:pub\s+)?type\s+\w+[^=]*=", before):
        return True
    if re.search(r"->[^:]*$", before):
        return True
    header = re.match(
        r"\s*(?:pub\s+)?(?:pure\s+)?(?:fn|part|aside|record|union|grammar|error|extern)\b", before
    )
    if header:
        return bool(re.search(r"[(,]\s*\w+\s*:[^,)]*$", before))
    return bool(re.match(r"\s+\w+\??\s*:\s*(?!\|)[^=]*$", before)) and not re.match(
        r"\s+(?:system|user|assistant|tool|else|try|par|forget)\s*:", before
    )


def _after_colon(before: str) -> str:
    """The text of the type that is being written."""
    return re.split(r"->|(?<=[\w?)])\s*:\s*|(?<=\w)\s*=\s*", before)[-1].lstrip()


def _in_hole(content: str, found: Found) -> Context:
    _name, colon, rest = content.partition(":")
    if not colon:
        return found("nothing")
    if re.search(r"\b(?:choose|select)\s+$", rest):
        return found("type", written="")
    return _in_type(rest.lstrip(), found, hole=True)


def _in_type(written: str, found: Found, *, hole: bool = False) -> Context:
    """A type that is begun, or complete so that something may refine it."""
    if re.search(r"\bas\s+$", written):
        return found("form")
    if re.search(r"\bdecode\s+$", written):
        return found("strategy")
    if re.search(r"\busing\s+(?:\w+\s+or\s+)?$", written):
        return found("model")
    if re.search(r"\bwhere\b", written):
        return _in_expression(written, found)
    if re.search(r"\b(?:max|min|until|temp|top_p|top_k|min_p|seed|n|in|weight)\s+$", written):
        return found("nothing")
    if re.search(r"\b(?:max|min)\s+\d[\d_]*\s+$", written):
        return found("refinement", written=written)
    if not written or re.search(r"[\[({|,:]\s*$", written):
        return found("hole" if hole and not written else "type", written=written)
    if written.endswith((" ", "\t")):
        return found("refinement", written=written)
    return found("type", written=written)


def _in_expression(content: str, found: Found) -> Context:
    match = _RECEIVER.search(content)
    if match is not None:
        return found("member", receiver=match.group(1)[:-1])
    if content.endswith("."):
        return found("nothing")
    if re.search(r"\bschema\(\s*$|\bgen\s+$", content):
        return found("type")
    if re.search(r"\busing\s+$", content):
        return found("model")
    return found("expression", written=content)


# -- text ------------------------------------------------------------------------------------------------


def _pipe(before: str) -> int | None:
    """Where the text of a pipe line begins."""
    match = re.match(r"\s*(?:(?:system|user|assistant|tool)[^|:]*:\s*|.*:\s+)?\|", before)
    return match.end() if match else None


def _inside(text: str) -> tuple[str, str] | None:
    """The innermost insert or hole that is open at the end of a text: its mark, and what stands in it."""
    opened: list[int] = []
    place = 0
    while place < len(text):
        if text.startswith(("${", "?{"), place):
            opened.append(place)
            place += 2
        elif text[place] == "{" and opened:
            opened.append(-1)
            place += 1
        elif text[place] == "}" and opened:
            opened.pop()
            place += 1
        else:
            place += 1
    opened = [each for each in opened if each >= 0]
    return (text[opened[-1] : opened[-1] + 2], text[opened[-1] + 2 :]) if opened else None


def _open_quote(before: str) -> int | None:
    """Where a string begins that is open at the end of a text."""
    opened, place = None, 0
    while place < len(before):
        char = before[place]
        if char == "\\" and opened is not None:
            place += 1
        elif char == '"':
            opened = place if opened is None else None
        place += 1
    return opened


def _in_comment(before: str) -> bool:
    place = before.find("#")
    return place >= 0 and _pipe(before[:place]) is None and _open_quote(before[:place]) is None


def _kind(node: ast.Declaration | None, text: str, line_start: int) -> str:
    match node:
        case ast.FunctionDeclaration(kind=kind):
            return kind
        case ast.TestDeclaration():
            return "test"
        case ast.RecordDeclaration():
            return "record"
        case ast.UnionDeclaration():
            return "union"
        case ast.EnumDeclaration():
            return "enum"
        case ast.GrammarDeclaration():
            return "grammar"
    header = re.findall(
        r"(?m)^(?:pub\s+)?(pure|fn|part|aside|test|record|union|enum|grammar)\b", text[:line_start]
    )
    return str(header[-1]) if header else ""
