"""Classes of words for colours: by the lexer what they are, by the checker what they stand for.

A word of text that the model reads has a class of its own, and so have the borders of holes and inserts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from sglc.immutable import value
from sglc.service.core.snapshot import Snapshot
from sglc.service.names.occurrences import occurrences_of
from sglc.service.names.targets import Kind
from sglc.syntax.lexer.keywords import ROLES
from sglc.syntax.parse import tokens
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import walk

WordClass = Literal[
    "keyword",
    "role",
    "type",
    "enumMember",
    "function",
    "parameter",
    "variable",
    "hole",
    "property",
    "string",
    "promptText",
    "number",
    "comment",
    "documentation",
    "operator",
    "regexp",
    "border",
    "error",
    "constant",
    "typeParameter",
    "namespace",
]
CLASSES: tuple[WordClass, ...] = get_args(WordClass)
_OF_KIND: dict[Kind, WordClass] = {
    "function": "function",
    "type": "type",
    "record": "type",
    "enum": "type",
    "union": "type",
    "error": "error",
    "constant": "constant",
    "grammar": "type",
    "module": "namespace",
    "field": "property",
    "member": "enumMember",
    "variant": "enumMember",
    "rule": "function",
    "parameter": "parameter",
    "type parameter": "typeParameter",
    "variable": "variable",
    "hole": "hole",
    "builtin": "function",
    "model": "namespace",
}
_BUILT_IN_TYPES = frozenset("int str bool decimal float json line lines".split())


@value
class ClassifiedWord:
    """A piece of one line. `declares` says that the name is declared here."""

    start: int
    end: int
    word_class: WordClass
    declares: bool = False


def classified(snapshot: Snapshot) -> list[ClassifiedWord]:
    """The words of a file in order; none overlap, none go over the end of a line."""
    found = {each.start: each for each in _lexical(snapshot)}
    for each in _in_prompts(snapshot):
        found.setdefault(each.start, each)
    for each in _names(snapshot):
        found[each.start] = each
    kept: list[ClassifiedWord] = []
    end = 0
    for each in sorted(found.values(), key=lambda word: word.start):
        if each.start >= end and each.start < each.end:
            kept += _by_line(snapshot.text, each)
            end = each.end
    return kept


def _by_line(text: str, word: ClassifiedWord) -> Iterator[ClassifiedWord]:
    start = word.start
    while start < word.end:
        line_end = text.find("\n", start, word.end)
        end = word.end if line_end < 0 else line_end
        if end > start:
            yield ClassifiedWord(start, end, word.word_class, word.declares)
        start = end + 1


def _names(snapshot: Snapshot) -> Iterator[ClassifiedWord]:
    for each in occurrences_of(snapshot).all:
        target = each.target.aim or each.target
        word_class = _OF_KIND.get(target.kind)
        if word_class is not None:
            yield ClassifiedWord(each.span.start, each.span.end, word_class, each.defines)


def _lexical(snapshot: Snapshot) -> Iterator[ClassifiedWord]:
    """Keywords, literals and comments outside of prompt lines."""
    text, end = snapshot.text, 0
    for kind, word, span in tokens(snapshot.source):
        yield from _comments(text, end, span.start)
        end = max(end, span.end)
        word_class: WordClass | None = None
        if kind in ("PIPE", "FENCE") or not word:
            continue
        if kind == "STRING":
            word_class = "string"
        elif kind == "NUMBER":
            word_class = "number"
        elif kind == "REGEX":
            word_class = "regexp"
        elif kind == "PATH":
            word_class = "namespace"
        elif kind == "ROLE" or (word in ROLES and kind == word):
            word_class = "role"
        elif kind == "NAME":
            word_class = "type" if word in _BUILT_IN_TYPES else None
        elif word[0].isalpha():
            word_class = "keyword"
        elif word not in ("(", ")", "[", "]", "{", "}", ",", ":", "."):
            word_class = "operator"
        if word_class is not None:
            yield ClassifiedWord(span.start, span.end, word_class)
    yield from _comments(text, end, len(text))


def _comments(text: str, start: int, end: int) -> Iterator[ClassifiedWord]:
    """The comments between two tokens."""
    while True:
        start = text.find("#", start, end)
        if start < 0:
            return
        line_end = text.find("\n", start, end)
        stop = end if line_end < 0 else line_end
        word_class: WordClass = "documentation" if text.startswith("##", start) else "comment"
        yield ClassifiedWord(start, stop, word_class)
        start = stop


def _in_prompts(snapshot: Snapshot) -> Iterator[ClassifiedWord]:
    """Prompt lines: their text, and the borders of what stands in it."""
    for node in walk(snapshot.tree.declarations):
        if not isinstance(node, ast.PipeLine):
            continue
        for part in node.parts:
            start, end = part.span.start, part.span.end
            if isinstance(part, ast.Text):
                yield ClassifiedWord(start, end, "promptText")
                continue
            yield ClassifiedWord(start, start + 2, "border")
            yield from _inside(snapshot, start + 2, end - 1)
            if snapshot.text[end - 1 : end] == "}":
                yield ClassifiedWord(end - 1, end, "border")


def _inside(snapshot: Snapshot, start: int, end: int) -> Iterator[ClassifiedWord]:
    """The words in a hole or an insert."""
    from sglc.source import Source

    inner = Source("inside", snapshot.text[start:end])
    for kind, word, span in tokens(inner):
        word_class: WordClass | None = None
        match kind:
            case "STRING":
                word_class = "string"
            case "NUMBER":
                word_class = "number"
            case "REGEX":
                word_class = "regexp"
            case "NAME":
                word_class = "type" if word in _BUILT_IN_TYPES else None
            case _ if word and word[0].isalpha():
                word_class = "keyword"
        if word_class is not None:
            yield ClassifiedWord(start + span.start, start + span.end, word_class)
