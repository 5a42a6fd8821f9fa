"""What the parser takes each character of a program for: the oracle of the grammars of editors.

One letter for each character: K a keyword, S a string with its quotes, P the text of a prompt, H the border
of a hole, I that of an insert, C a comment, J JSON that stands in the program, X a regular expression or a
path, W what is between classes and any may take (blanks, the pipe of a line, the marks of a fence), `.`
everything else.
"""

from __future__ import annotations

from functools import cache

from sglc.source import Source
from sglc.syntax.lexer.layout import Layout
from sglc.syntax.lexer.tokens import LexedText
from sglc.syntax.parser import Parser, language
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import walk

_KINDS = {
    "STRING": "S",
    "REGEX": "X",
    "PATH": "X",
    "INLINE_JSON": "J",
    "NAME": ".",
    "NUMBER": ".",
    "PIPE": "P",
    "FENCE": "P",
}


@cache
def letters(text: str) -> str | None:
    """The letter of each character; None for a program with errors in its syntax."""
    parser = Parser(Source("program.sgl", text))
    resolved: dict[int, str] = {}
    instead = parser.semantics.instead

    def noted(run, kind, index):  # type: ignore[no-untyped-def]
        found = instead(run, kind, index)
        if found:
            resolved[run.tokens.starts[index]] = found
        return found

    parser.semantics.instead = noted
    declarations, lexed = parser.module()
    if any(each.severity == "error" for each in parser.reporter.diagnostics):
        return None
    return _Letters(text, resolved).all(declarations, lexed)


class _Letters:
    def __init__(self, text: str, resolved: dict[int, str]) -> None:
        self.text = text
        self.resolved = resolved
        self.found = [""] * len(text)

    def all(self, declarations: tuple[ast.Declaration, ...], lexed: LexedText) -> str:
        self._tokens(lexed)
        lines = {each.span.start: each for each in walk(declarations) if isinstance(each, ast.PipeLine)}
        for line in lines.values():
            for part in line.parts:
                if not isinstance(part, ast.Text):
                    self._inside(part)
        tokens = lexed.tokens
        for kind, start, end in zip(tokens.kinds, tokens.starts, tokens.ends, strict=True):
            if kind == "FENCE":
                self._put(start, self.text.find("\n", start), "W")
                self._put(self.text.rfind("\n", start, end) + 1, end, "W")
        self._gaps()
        return "".join(self.found)

    def _put(self, start: int, end: int, letter: str) -> None:
        self.found[start:end] = letter * (end - start)

    def _inside(self, part: ast.Hole | ast.Insert) -> None:
        start, end = part.span.start, part.span.end
        self.found[start:end] = [""] * (end - start)
        border = "H" if isinstance(part, ast.Hole) else "I"
        self._put(start, start + 2, border)
        self._put(end - 1, end, border)
        layout = Layout(self.text, language().words)
        layout.inside(start + 2, end)
        self._tokens(layout.lexed)
        if isinstance(part, ast.Insert) and isinstance(part.value, ast.Reference):
            self._put(part.value.span.start, part.value.span.end, ".")

    def _tokens(self, lexed: LexedText) -> None:
        tokens = lexed.tokens
        for kind, start, end in zip(tokens.kinds, tokens.starts, tokens.ends, strict=True):
            if start == end:
                continue
            self._put(start, end, self._letter(self.resolved.get(start) or kind, start, end))
            if kind == "PIPE":
                self._put(start, start + 1 + self.text.startswith(" ", start + 1), "W")
        for parts in lexed.strings.values():
            for part in parts:
                if len(part) == 3:
                    start, end, inner = part
                    self.found[start - 2 : end + 1] = [""] * (end - start + 3)
                    self._put(start - 2, start, "I")
                    self._put(end, end + 1, "I")
                    self._tokens(inner)

    def _letter(self, kind: str, start: int, end: int) -> str:
        if kind in _KINDS:
            return _KINDS[kind]
        return "K" if self.text[start].isalpha() else "."

    def _gaps(self) -> None:
        """Between tokens stand blanks and comments alone."""
        text, place = self.text, 0
        while place < len(text):
            if self.found[place] and text[place] in " \t" and self.found[place] == "K":
                self.found[place] = "W"
            if not self.found[place]:
                end = place + 1
                letter = "W"
                if text[place] == "#":
                    end = text.find("\n", place)
                    end, letter = len(text) if end < 0 else end, "C"
                self._put(place, end, letter)
                place = end
            else:
                place += 1
