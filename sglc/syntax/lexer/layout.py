"""Text to tokens: words, operators, pipe lines whole, and indentation as tokens.

One pass over the text with one regular expression per place. What makes SGL easy to cut is that a pipe line
never leaves its line: its text is one token, and only what stands inside `${…}` and `?{…}` is cut again, when
the line's node is built (`sglc.syntax.builders.prompt_lines`). Newlines inside brackets do not count.
"""

from __future__ import annotations

import re

from sglc.syntax.lexer import literals
from sglc.syntax.lexer.keywords import BINARY, Words
from sglc.syntax.lexer.literals import SPACES, end_of_line, start_of_next_line
from sglc.syntax.lexer.tokens import MAX_BRACKETS, MAX_INDENTS, MAX_LINE, Fault, LexedText, StringPart

_TOKEN = re.compile(
    r"""[ \t]*(?:
     ([^\W\d]\w*)                                                    # 1 word
    |((?:\.\.[=<]?|==|!=|<=|>=|->|=>|\*\*|//|[-+*/]=|[-+*/%<>])|[=:,.;|?]) # 2 operator or mark
    |([(\[{])                                                        # 3 opening bracket
    |([)\]}])                                                        # 4 closing bracket
    |("(?:[^"\\\n$]|\\[^\n]|\$(?!\{))*")                             # 5 string without inserts
    |(\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][-+]?\d+)?)                      # 6 number
    |(\r?\n|\r?\Z)                                                   # 7 end of line
    |(\#[^\n]*)                                                      # 8 comment
    )""",
    re.VERBOSE,
)
_WORD, _OPERATOR, _OPEN, _CLOSE, _STRING, _NUMBER, _END, _COMMENT = range(1, 9)

_LINE = re.compile(r"([ ]*)([\t\u00a0][ \t\u00a0]*)?(\||\#|\r?\n|\r?\Z)?")
_REGEX = re.compile(r"/((?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\\[\n])+)/")
_REGEX_PLAIN = re.compile(r"/((?:\\[^\n]|[^/\\\n])+)/")
_FENCE_OPEN = re.compile(r'[ \t]*"""[ \t]*\r?(\n|\Z)')
_PATH = re.compile(r"[ \t]+([^\s(\"]+)")
_NOT_IN = re.compile(r"[ \t]+in\b")
_NOT_CONTAINING = re.compile(r"[ \t]+containing\b")
_OR_SKIP = re.compile(r"[ \t]+skip[ \t]*:")
_FIRST_WORD = re.compile(r"[ ]*([A-Za-z]+)\b|[ ]*(\|)")

_AUGMENTED = frozenset("+= -= *= /=".split())
_MARKS = frozenset(", : . = -> => ? ;".split())
"""Marks that mean the same wherever they stand."""
_REGEX_AFTER = frozenset("matching matches skip return in and or not if elif else".split())
_OPERAND_ENDS = frozenset("NAME NUMBER STRING REGEX ROLE ) ] } true false null".split())
_CLOSER = {"(": ")", "[": "]", "{": "}"}
_MAX_DEPTH = 8
"""Strings inside the inserts of others."""
LINE_WORDS = frozenset(
    "pub fn record enum union test use const grammar extern import".split()
    + "let var if for while return match case".split()
)
"""Words that begin a line of their own: inside a bracket at such a line the bracket was left open."""


class Layout:
    """Cuts one text. `words` are those of the grammar; `depth` counts the strings around the text."""

    def __init__(self, text: str, words: Words, depth: int = 0) -> None:
        self.text = text
        self.words = words
        self.depth = depth
        self.lexed = LexedText()
        self.tokens = self.lexed.tokens

    # -- whole files -----------------------------------------------------------------------------------

    def module(self) -> LexedText:
        """The tokens of a file: lines, with INDENT and DEDENT, and `$END`."""
        text, lexed, out = self.text, self.lexed, self.tokens
        faults = lexed.faults
        add_kind, add_start, add_end = out.kinds.append, out.starts.append, out.ends.append
        line_match, size = _LINE.match, len(text)
        indents = [0]
        position = 1 if text.startswith("\ufeff") else 0
        grammar_indent = -1
        previous = 0
        while position < size:
            match = line_match(text, position)
            assert match is not None
            first = match.group(3)
            if first is not None and first != "|":
                if first == "#":
                    position = literals.comment(text, lexed, match.start(3))
                else:
                    position = match.end()
                continue
            if match.start(2) >= 0:
                faults.append(Fault("tab indentation", match.start(2), match.end(2)))
                here = match.start(3) if first else match.end()
                indent = _column(text, position, here)
            else:
                here = match.start(3) if first else match.end()
                indent = here - position
            if grammar_indent >= 0:
                if indent <= grammar_indent:
                    grammar_indent = -1
                elif first == "|" and out.kinds and out.kinds[-1] == "_NEWLINE":
                    # `| alternative` below a rule goes on with that rule.
                    out.kinds.pop(), out.starts.pop(), out.ends.pop()
                    position = self._code(here, indent, True)
                    previous = out.ends[-1] if out.ends else 0
                    continue
            if indent > indents[-1]:
                indents.append(indent)
                add_kind("_INDENT"), add_start(here), add_end(here)
                if len(indents) > MAX_INDENTS:
                    faults.append(Fault("deep", here, here + 1))
                    break
            elif indent < indents[-1]:
                level = 0
                while indent < indents[-1]:
                    level = indents.pop()
                    if indent > indents[-1]:
                        faults.append(Fault("dedent", position, here, str(level)))
                        if level - indent <= indent - indents[-1]:
                            indents.append(level)
                            break
                    add_kind("_DEDENT"), add_start(previous), add_end(previous)
            if first == "|":
                position = self._pipe(here)
                add_kind("_NEWLINE"), add_start(out.ends[-1]), add_end(out.ends[-1])
            else:
                in_grammar = grammar_indent >= 0
                if not in_grammar and text.startswith(("grammar ", "pub grammar "), here):
                    grammar_indent = indent
                position = self._code(here, indent, in_grammar)
            previous = out.ends[-1] if out.ends else 0
        for _ in indents[1:]:
            add_kind("_DEDENT"), add_start(previous), add_end(previous)
        add_kind("$END"), add_start(size), add_end(size)
        return lexed

    def fragment(self) -> LexedText:
        """The tokens of a text that is one expression or type; line ends do not count."""
        self._brackets(0, len(self.text), "")
        self.tokens.add("$END", len(self.text), len(self.text))
        return self.lexed

    def inside(self, position: int, limit: int) -> int | None:
        """Tokens from `position` to the `}` that closes an insert or hole; where that is, None if nowhere.

        The closing brace becomes `$END`.
        """
        end = self._brackets(position, limit, "}")
        if end is None:
            return None
        self.tokens.add("$END", end, end)
        return end

    # -- one line --------------------------------------------------------------------------------------

    def _code(self, position: int, indent: int, in_grammar: bool) -> int:
        """One logical line of code, with its end; returns where the next line begins."""
        text, lexed = self.text, self.lexed
        kinds, starts, ends, faults = self.tokens.kinds, self.tokens.starts, self.tokens.ends, lexed.faults
        token_match = _TOKEN.match
        words = self.words
        opened: list[tuple[str, int]] = []
        first = len(kinds)
        line_start = position
        while True:
            match = token_match(text, position)
            if match is None:
                position = self._odd(position)
                continue
            group = match.lastindex
            start, end = match.span(group)  # type: ignore[arg-type]
            if group == _WORD:
                word = text[start:end]
                if word in words or word == "text":
                    position = self._word(word, start, end, first)
                    if kinds[-1] == "_NEWLINE":  # a block of text, with its end
                        return position
                    continue
                kinds.append("NAME")
            elif group == _OPERATOR and text[start:end] in _MARKS:
                kinds.append(text[start:end])
            elif group == _OPERATOR:
                kind = text[start:end]
                if kind == "|" and not opened and kinds[-1:] == [":"] and not in_grammar:
                    position = self._pipe(start)
                    self._end(first)
                    return position
                if kind == "/" and text.startswith("*", end):
                    position = literals.block_comment(text, lexed, start)
                    continue
                if kind[0] == "/" and (in_grammar or self._regex_here(first)):
                    regex = _REGEX.match(text, start) or _REGEX_PLAIN.match(text, start)
                    if regex is not None:
                        kind, end = "REGEX", regex.end()
                    elif kind == "/" and not (len(kinds) > first and kinds[-1] in _OPERAND_ENDS):
                        line_end = end_of_line(text, start)
                        faults.append(Fault("regex", start, line_end))
                        kind, end = "REGEX", line_end
                if kind in BINARY:
                    kind = "BINARY"
                elif kind in _AUGMENTED:
                    kind = "AUGMENTED"
                kinds.append(kind)
            elif group == _OPEN:
                kind = text[start]
                if kind == "{" and starts[-1:] and kinds[-1] == "schema" and kinds[-2:-1] == ["json"]:
                    position = literals.inline_json(text, lexed, start)
                    continue
                opened.append((kind, start))
                kinds.append(kind)
                if len(opened) > MAX_BRACKETS:
                    faults.append(Fault("deep", start, end))
                    kinds.pop()
                    self._end(first)
                    return start_of_next_line(text, end)
            elif group == _CLOSE:
                kind = text[start]
                if opened and _CLOSER[opened[-1][0]] == kind:
                    opened.pop()
                elif opened:
                    place = opened.pop()[1]
                    faults.append(Fault("mismatch", start, end, kind, (place, place + 1)))
                    if opened and _CLOSER[opened[-1][0]] == kind:
                        # The outer bracket is meant: the inner one ends here too.
                        self.tokens.add(_CLOSER[text[place]], start, start)
                        opened.pop()
                    else:
                        kind = _CLOSER[text[place]]
                else:
                    faults.append(Fault("stray bracket", start, end, kind))
                    position = end
                    continue
                kinds.append(kind)
            elif group == _STRING:
                kinds.append("STRING")
            elif group == _NUMBER:
                kinds.append("NUMBER")
            elif group == _END:
                position = end
                if not opened or start >= len(text) or self._left_open(end, indent):
                    if opened:
                        place = opened[0][1] if start >= len(text) else opened[-1][1]
                        faults.append(Fault("bracket", place, place + 1, text[place]))
                    if end == start:
                        position = len(text)
                    self._end(first)
                    if end - line_start > MAX_LINE:
                        faults.append(Fault("long line", line_start, line_start + 1))
                    return position
                continue
            else:
                literals.comment(text, lexed, start)
                position = end
                continue
            starts.append(start)
            ends.append(end)
            position = end

    def _word(self, word: str, start: int, end: int, first: int) -> int:
        """Add a word's token; returns where to go on."""
        out, text = self.tokens, self.text
        known = self.words.get(word)
        kind = "NAME"
        if known is not None:
            kind, test = known
            if test is not None and not test(text, end):
                kind = "NAME"
            elif word == "not":
                match = _NOT_IN.match(text, end)
                if match is not None:
                    kind, end = "BINARY", match.end()
                else:
                    match = _NOT_CONTAINING.match(text, end)
                    if match is not None:
                        kind, end = "_NOT_CONTAINING", match.end()
            elif word == "or":
                match = _OR_SKIP.match(text, end)
                if match is not None:
                    kind, end = "OR_SKIP", match.end() - 1
                    end = start + len(text[start:end].rstrip())
            elif word == "use" and len(out.kinds) == first:
                match = _PATH.match(text, end)
                if match is not None:
                    self.tokens.add("use", start, end)
                    self.tokens.add("PATH", match.start(1), match.end(1))
                    return match.end(1)
        elif word == "text" and first >= 0 and (len(out.kinds) == first or out.kinds[-1] == ":"):
            match = _FENCE_OPEN.match(text, end)
            if match is not None:
                return literals.fence(text, self.lexed, start, match.end())
        self.tokens.add(kind, start, end)
        return end

    def _end(self, first: int) -> None:
        """Close a logical line that began at token `first`."""
        out = self.tokens
        if len(out.kinds) > first:
            self.tokens.add("_NEWLINE", out.ends[-1], out.ends[-1])
            self.lexed.longest = max(self.lexed.longest, len(out.kinds) - first)

    def _pipe(self, start: int) -> int:
        """The token of a pipe line that begins at `start`; returns where the next line begins."""
        text = self.text
        end = text.find("\n", start)
        after = end + 1
        if end < 0:
            end = after = len(text)
        if end > start and text[end - 1] == "\r":
            end -= 1
        if end - start > MAX_LINE:
            self.lexed.faults.append(Fault("long line", start, start + 1))
            end = start + MAX_LINE
        self.tokens.add("PIPE", start, end)
        return after

    def _left_open(self, position: int, indent: int) -> bool:
        """Whether the line at `position` is a new one, so that a bracket before it was never closed."""
        match = _FIRST_WORD.match(self.text, position)
        if match is None:
            return False
        column = match.end() - position - len(match.group(1) or match.group(2))
        if match.group(2):
            return column >= indent and not self._type_position()
        if match.group(1) not in LINE_WORDS:
            return False
        following = self.text[match.end() : match.end() + 40].lstrip(" ")
        return column <= indent and not following.startswith((":", ",", "=", "."))

    def _type_position(self) -> bool:
        """Whether a `|` at the start of the next line can go on with a union in brackets."""
        kinds = self.tokens.kinds
        return bool(kinds) and kinds[-1] in ("STRING", "NAME", "NUMBER", "]", ")", "}", "chars", "null")

    def _regex_here(self, first: int) -> bool:
        """Whether a slash begins a regular expression: not after something that can be divided."""
        out = self.tokens
        if len(out.kinds) == first:
            return True
        kind = out.kinds[-1]
        if kind in _OPERAND_ENDS:
            return False
        word = self.text[out.starts[-1] : out.ends[-1]]
        return word in _REGEX_AFTER or not word.isidentifier()

    def _brackets(self, position: int, limit: int, closing: str) -> int | None:
        """Tokens of an expression up to an unmatched `closing`, or to `limit` if that is empty."""
        text, lexed = self.text, self.lexed
        kinds, faults = self.tokens.kinds, lexed.faults
        opened: list[str] = []
        while position < limit:
            match = _TOKEN.match(text, position, limit)
            if match is None:
                position = self._odd(position)
                continue
            group = match.lastindex
            start, end = match.span(group)  # type: ignore[arg-type]
            kind = text[start:end]
            if group == _WORD:
                position = self._word(kind, start, end, -1)
                continue
            if group == _OPERATOR:
                if kind[0] == "/" and self._regex_here(0):
                    regex = _REGEX.match(text, start, limit) or _REGEX_PLAIN.match(text, start, limit)
                    if regex is not None:
                        kind, end = "REGEX", regex.end()
                if kind in BINARY:
                    kind = "BINARY"
                elif kind in _AUGMENTED:
                    kind = "AUGMENTED"
            elif group == _OPEN:
                if kind == "{" and kinds[-2:] == ["json", "schema"]:
                    position = literals.inline_json(text, lexed, start)
                    continue
                opened.append(kind)
                if len(opened) > MAX_BRACKETS:
                    faults.append(Fault("deep", start, end))
                    return None
            elif group == _CLOSE:
                if opened and _CLOSER[opened[-1]] == kind:
                    opened.pop()
                elif kind == closing and not opened:
                    return start
                elif kind == closing and closing:
                    return None
                else:
                    faults.append(Fault("stray bracket", start, end, kind))
                    position = end
                    continue
            elif group == _STRING:
                kind = "STRING"
            elif group == _NUMBER:
                kind = "NUMBER"
            elif group == _END:
                if end == start:
                    break
                position = end
                continue
            else:
                if closing:
                    faults.append(Fault("character", start, start + 1, "#"))
                position = end if not closing else start + 1
                continue
            self.tokens.add(kind, start, end)
            position = end
        return None

    def _odd(self, position: int) -> int:
        """A string with inserts, or a character that means nothing here."""
        text, lexed = self.text, self.lexed
        start = SPACES.match(text, position).end()  # type: ignore[union-attr]
        if text[start] == '"':
            return self._string(start)
        if text.startswith("${", start):
            return literals.insert_in_code(text, lexed, start)
        if text[start] == "'":
            return literals.single_quoted(text, lexed, start)
        return literals.stray_characters(text, lexed, start)

    def _string(self, start: int) -> int:
        """A string with `${…}` in it, or one that is not closed on its line."""
        text = self.text
        limit = end_of_line(text, start)
        parts: list[StringPart] = []
        position = literal = start + 1
        while position < limit:
            char = text[position]
            if char == "\\":
                position += 2
            elif char == '"':
                parts.append((literal, position))
                self.lexed.strings[start] = tuple(parts)
                self.tokens.add("STRING", start, position + 1)
                return position + 1
            elif char == "$" and text.startswith("${", position):
                parts.append((literal, position))
                inner = Layout(text, self.words, self.depth + 1)
                end = inner.inside(position + 2, limit) if inner.depth <= _MAX_DEPTH else None
                if end is None:
                    kind = "insert" if inner.depth <= _MAX_DEPTH else "deep"
                    self.lexed.faults.append(Fault(kind, position, position + 2))
                    self.lexed.strings[start] = tuple(parts)
                    self.tokens.add("STRING", start, limit)
                    return limit
                self.lexed.faults += inner.lexed.faults
                parts.append((position + 2, end, inner.lexed))
                position = literal = end + 1
            else:
                position += 1
        self.lexed.faults.append(Fault("string", start, limit))
        parts.append((min(literal, limit), limit))
        self.lexed.strings[start] = tuple(parts)
        self.tokens.add("STRING", start, limit)
        return limit


def _column(text: str, start: int, end: int) -> int:
    """Width of an indentation with tabs in it: a tab goes to the next multiple of four."""
    column = 0
    for char in text[start:end]:
        column = column + 4 - column % 4 if char == "\t" else column + 1
    return column
