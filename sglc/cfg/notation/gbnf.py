"""Reads GBNF, the grammars of llama.cpp (`grammars/README.md` and `src/llama-grammar.cpp` there).

A rule ends with its line, unless parentheses are open or `|` has just been read. `.` and negated classes take
any character, line ends too.
"""

from __future__ import annotations

from sglc.automata import charset
from sglc.automata.charset import ALL, Ranges
from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.validate import MAX_COUNT, MAX_DEPTH, check_names
from sglc.source import Source

_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]"}
_HEXADECIMAL = {"x": 2, "u": 4, "U": 8}


def read_gbnf(text: str, start: str | None = None, name: str = "grammar") -> g.Grammar:
    """The grammar of a GBNF file; it starts with `root`. Raises GrammarError."""
    source = Source(name, text)
    rules = _Reader(source).rules()
    grammar = g.Grammar(rules, {}, (), start or "root", "gbnf")
    check_names(grammar, source)
    return grammar


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.at = 0

    def fault(self, reason: str, at: int | None = None, hint: str = "") -> GrammarError:
        return GrammarError(reason, self.source, self.at if at is None else at, hint)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def space(self, lines: bool) -> None:
        """Pass blanks and comments, and line ends if a rule goes on after them."""
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char in " \t" or (lines and char in "\r\n"):
                self.at += 1
            elif char == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            else:
                return

    def rules(self) -> dict[str, g.Rule]:
        found: dict[str, g.Rule] = {}
        self.space(True)
        while self.at < len(self.text):
            at = self.at
            name = self.name()
            self.space(False)
            if not self.text.startswith("::=", self.at):
                raise self.fault(f"::= is expected after {name}")
            self.at += 3
            self.space(True)
            if name in found:
                raise self.fault(f"{name} is defined more than once", at)
            found[name] = g.Rule(name, self.alternatives(0), "", None, at, self.source)
            if self.at < len(self.text) and self.peek() not in "\r\n":
                raise self.unexpected()
            self.space(True)
        return found

    def name(self) -> str:
        start = self.at
        text = self.text
        while self.at < len(text) and (
            (text[self.at].isascii() and text[self.at].isalnum()) or text[self.at] in "-_"
        ):
            self.at += 1
        if self.at == start:
            raise self.fault("the name of a rule is expected here")
        return text[start : self.at]

    def unexpected(self) -> GrammarError:
        char = self.peek()
        if char == ")":
            return self.fault("this ) closes nothing")
        if char in ("*", "+", "?", "{"):
            return self.fault(f"{char} needs something before it")
        if char in ("<", "!"):
            return self.fault("tokens are not supported in a grammar", hint="write the text of the token")
        if char == "'":
            return self.fault("a text is written in double quotes")
        if self.text.startswith("::=", self.at):
            return self.fault("a rule begins on a line of its own")
        return self.fault(f"{char!r} has no place here")

    def alternatives(self, depth: int) -> g.Expression:
        if depth > MAX_DEPTH:
            raise self.fault(f"nested more than {MAX_DEPTH} deep")
        arms = [self.sequence(depth)]
        while self.peek() == "|":
            self.at += 1
            self.space(True)
            arms.append(self.sequence(depth))
        return arms[0] if len(arms) == 1 else g.Alternatives(tuple(arms))

    def sequence(self, depth: int) -> g.Expression:
        items: list[g.Expression] = []
        nested = depth > 0
        while self.at < len(self.text):
            char = self.peek()
            at = self.at
            if char == '"':
                item: g.Expression = self.string()
            elif char == "[":
                item = self.characters()
            elif char == ".":
                self.at += 1
                item = g.Characters(ALL, at)
            elif char == "(":
                self.at += 1
                self.space(True)
                item = self.alternatives(depth + 1)
                if self.peek() != ")":
                    if self.at >= len(self.text):
                        raise self.fault("this ( is never closed", at)
                    raise self.unexpected()
                self.at += 1
            elif char.isascii() and (char.isalnum() or char in "-_"):
                item = g.Reference(self.name(), at)
            else:
                break
            self.space(nested)
            while self.peek() and self.peek() in "*+?{":
                item = self.repeated(item)
                self.space(nested)
            items.append(item)
        if len(items) == 1:
            return items[0]
        return g.Sequence(tuple(items)) if items else g.EMPTY

    def repeated(self, item: g.Expression) -> g.Expression:
        char = self.peek()
        at = self.at
        self.at += 1
        if char != "{":
            return g.Repeat(item, 1 if char == "+" else 0, 1 if char == "?" else None)
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at : end if end > 0 else self.at].partition(",")
        low, high = low.strip(), high.strip()
        if not low.isdecimal() or (high and not high.isdecimal()):
            raise self.fault("a count is written {2}, {2,} or {2,4}", at)
        if max(len(low), len(high)) > 6:
            raise self.fault(f"a count may be at most {MAX_COUNT}", at)
        minimum = int(low)
        maximum = (int(high) if high else None) if comma else minimum
        if maximum is not None and maximum < minimum:
            raise self.fault("the counts are in the wrong order", at)
        if max(minimum, maximum or 0) > MAX_COUNT:
            raise self.fault(f"a count may be at most {MAX_COUNT}", at)
        self.at = end + 1
        return g.Repeat(item, minimum, maximum)

    def string(self) -> g.Literal:
        start = self.at
        self.at += 1
        chars: list[str] = []
        while self.peek() != '"':
            if self.at >= len(self.text) or self.peek() in "\r\n":
                raise self.fault("this text is never closed", start)
            chars.append(self.character())
        self.at += 1
        return g.Literal("".join(chars), False, start)

    def characters(self) -> g.Characters:
        start = self.at
        self.at += 1
        negated = self.peek() == "^"
        if negated:
            self.at += 1
        parts: list[tuple[int, int]] = []
        while self.peek() != "]":
            if self.at >= len(self.text):
                raise self.fault("this [ is never closed", start)
            at = self.at
            low = ord(self.character())
            high = low
            if self.peek() == "-" and not self.text.startswith("-]", self.at):
                self.at += 1
                if self.at >= len(self.text):
                    raise self.fault("this [ is never closed", start)
                high = ord(self.character())
                if high < low:
                    raise self.fault("the ends of this range are in the wrong order", at)
            parts.append((low, high))
        self.at += 1
        these: Ranges = charset.ranges(parts)
        if negated:
            these = charset.invert(these)
        if not these:
            raise self.fault("a class without characters", start)
        return g.Characters(these, start)

    def character(self) -> str:
        """One character of a text or class, perhaps written by an escape."""
        start = self.at
        char = self.peek()
        self.at += 1
        if char != "\\":
            return char
        kind = self.peek()
        self.at += 1
        size = _HEXADECIMAL.get(kind)
        if size is not None:
            digits = self.text[self.at : self.at + size]
            if len(digits) < size or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
                raise self.fault(f"\\{kind} takes {size} hexadecimal digits", start)
            self.at += size
            code = int(digits, 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                raise self.fault(f"\\{kind}{digits} is no character", start)
            return chr(code)
        if kind not in _ESCAPES:
            raise self.fault(f"the escape \\{kind} is not known", start)
        return _ESCAPES[kind]
