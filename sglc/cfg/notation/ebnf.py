"""Reads BNF and EBNF: the notations of the W3C (XML 1.0, section 6) and of ISO/IEC 14977, and plain BNF.

The sign of definition selects the notation, rule by rule:

`name ::= …`    W3C: `a b` one after the other, `a | b`, `a?`, `a*`, `a+`, `a - b`, `"text"`, `'text'`,
                `#x20`, `[a-z#x20]` and `[^…]` classes, `/* comment */`, `[ wfc: … ]` (passed over)
`<name> ::= …`  BNF: names in angle brackets; `[ … ]` is an option and `{ … }` any number
`name = … ;`    ISO: `a, b`, `a | b`, `[ … ]`, `{ … }`, `3 * a`, `a - b`, `(* comment *)`; a rule ends with
                `;` or `.`; commas may be left out and `a*`, `a+`, `a?` written

No notation has escapes: a backslash is a backslash. The first rule is the start.
"""

from __future__ import annotations

import re

from sglc.automata import charset
from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.validate import MAX_COUNT, MAX_DEPTH, check_names
from sglc.source import Source

_TOKENS = re.compile(
    r"""(?P<blank>\s+|/\*(?:[^*]|\*(?!/))*\*/|\(\*(?:[^*]|\*(?!\)))*\*\)|\[\s*(?i:wfc|vc|nsc|gc)\s*:[^\]]*\])
    |(?P<angle><[^<>\n"']+>)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*)
    |(?P<string>"[^"]*"|'[^']*')
    |(?P<code>\#x[0-9a-fA-F]+)
    |(?P<number>[0-9]+)
    |(?P<define>::=|:=|=)
    |(?P<mark>[()\[\]{}|,;.?*+/!-])
    |(?P<class>\^)""",
    re.VERBOSE,
)
_CLASS_ITEM = re.compile(r"#x([0-9a-fA-F]+)|([^\]])")


def read_ebnf(text: str, start: str | None = None, name: str = "grammar") -> g.Grammar:
    """The grammar of an EBNF or BNF file. Raises GrammarError."""
    source = Source(name, text)
    rules = _Reader(source).rules()
    if not rules:
        raise GrammarError("the grammar has no rules", source, 0)
    grammar = g.Grammar(rules, {}, (), start or next(iter(rules)), "ebnf")
    check_names(grammar, source)
    return grammar


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.at = 0
        self.kind = ""
        self.word = ""
        self.place = 0
        self.iso = False
        self.angles = False
        self.advance()

    def fault(self, reason: str, at: int | None = None, hint: str = "") -> GrammarError:
        return GrammarError(reason, self.source, self.place if at is None else at, hint)

    def advance(self) -> None:
        """Read the next token into `kind`, `word` and `place`."""
        while True:
            self.place = self.at
            if self.at >= len(self.text):
                self.kind, self.word = "end", ""
                return
            match = _TOKENS.match(self.text, self.at)
            if match is None:
                raise self.unreadable()
            self.at = match.end()
            self.kind, self.word = str(match.lastgroup), match.group()
            if self.text.startswith(("(*", "/*"), self.place) and self.kind != "blank":
                raise self.fault("this comment is never closed")
            if self.kind != "blank":
                return

    def unreadable(self) -> GrammarError:
        text, at = self.text, self.at
        if text.startswith(("/*", "(*"), at):
            return self.fault("this comment is never closed")
        if text[at] in "\"'":
            return self.fault("this text is never closed")
        if text[at] == "<":
            return self.fault("this name is never closed", hint="names in angle brackets stand on one line")
        if text[at] == "\\":
            return self.fault("a backslash has no place outside of a text")
        return self.fault(f"{text[at]!r} has no place in a grammar")

    def begins_rule(self) -> bool:
        """Whether the token is a name that is being defined."""
        if self.kind not in ("name", "angle"):
            return False
        at = self.at
        while True:
            match = _TOKENS.match(self.text, at)
            if match is None:
                return False
            if match.lastgroup != "blank":
                return match.lastgroup == "define"
            at = match.end()

    def rules(self) -> dict[str, g.Rule]:
        found: dict[str, g.Rule] = {}
        while self.kind != "end":
            at = self.place
            if not self.begins_rule():
                if self.kind in ("name", "angle"):
                    self.advance()
                    raise self.fault("a sign of definition is expected here", hint="::= or =")
                raise self.unexpected()
            self.angles = self.kind == "angle"
            name = self.name()
            self.iso = self.word == "="
            if not self.iso and not self.angles and self.word != "::=":
                raise self.fault(f"{self.word} is no sign of definition here", hint="write ::= or =")
            self.advance()
            body = self.alternatives(0)
            if self.word in (";", "."):
                self.advance()
            elif self.kind != "end" and not self.begins_rule():
                raise self.unexpected()
            if name in found:
                raise self.fault(f"{name} is defined more than once", at)
            found[name] = g.Rule(name, body, "", None, at, self.source)
        return found

    def name(self) -> str:
        word = self.word
        self.advance()
        return word[1:-1].strip() if word.startswith("<") else word

    def unexpected(self) -> GrammarError:
        if self.kind == "end":
            return self.fault("the grammar ends too early")
        if self.word in (")", "]", "}"):
            return self.fault(f"this {self.word} closes nothing")
        if self.word in ("*", "+", "?", "-"):
            return self.fault(f"{self.word} needs something before it")
        if self.kind == "define":
            return self.fault(f"{self.word} has no place here", hint="is the rule before it finished?")
        return self.fault(f"{self.word!r} has no place here")

    def alternatives(self, depth: int) -> g.Expression:
        if depth > MAX_DEPTH:
            raise self.fault(f"nested more than {MAX_DEPTH} deep")
        arms = [self.sequence(depth)]
        while self.word == "|" or (self.iso and self.kind == "mark" and self.word in "/!"):
            self.advance()
            arms.append(self.sequence(depth))
        return arms[0] if len(arms) == 1 else g.Alternatives(tuple(arms))

    def sequence(self, depth: int) -> g.Expression:
        items: list[g.Expression] = []
        comma = False
        while True:
            if self.word == "," and self.iso and items and not comma:
                self.advance()
                comma = True
                continue
            if self.kind in ("end", "define") or self.word in ("|", ")", "]", "}", ";", ".", "/", "!", ","):
                break
            if self.begins_rule():
                break
            items.append(self.exception(depth))
            comma = False
        if comma:
            raise self.fault("something is expected after the comma")
        if len(items) == 1:
            return items[0]
        return g.Sequence(tuple(items)) if items else g.EMPTY

    def exception(self, depth: int) -> g.Expression:
        item = self.factor(depth)
        while self.word == "-" and self.kind == "mark":
            at = self.place
            self.advance()
            item = g.Difference(item, self.factor(depth), at)
        return item

    def factor(self, depth: int) -> g.Expression:
        if self.kind == "number":
            if len(self.word) > 6 or int(self.word) > MAX_COUNT:
                raise self.fault(f"a count may be at most {MAX_COUNT}")
            count = int(self.word)
            self.advance()
            if self.word != "*":
                raise self.fault("a count is followed by *", hint='a digit is written "1"')
            self.advance()
            return g.Repeat(self.factor(depth), count, count)
        item = self.atom(depth)
        while self.kind == "mark" and self.word in "*+?":
            if self.word == "?" and self.iso and self.text[self.place - 1].isspace():
                raise self.fault("special sequences (? … ?) have no meaning that could be known")
            item = g.Repeat(item, 1 if self.word == "+" else 0, 1 if self.word == "?" else None)
            self.advance()
        return item

    def atom(self, depth: int) -> g.Expression:
        at, kind, word = self.place, self.kind, self.word
        if kind in ("name", "angle"):
            if kind == "name" and self.angles:
                raise self.fault(
                    f"{word} is neither a name in angle brackets nor a text in quotes",
                    hint=f'write <{word}> or "{word}"',
                )
            return g.Reference(self.name(), at)
        if kind == "string":
            self.advance()
            return g.Literal(word[1:-1], False, at) if len(word) > 2 else g.EMPTY
        if kind == "code":
            self.advance()
            code = self.code(word[2:], at)
            return g.Characters(((code, code),), at)
        if word == "[" and not self.iso and not self.angles:
            return self.characters()
        if word in ("(", "[", "{"):
            self.advance()
            item = self.alternatives(depth + 1)
            if self.word != {"(": ")", "[": "]", "{": "}"}[word]:
                if self.kind == "end" or self.begins_rule() or self.word in (";", "."):
                    raise self.fault(f"this {word} is never closed", at)
                raise self.unexpected()
            self.advance()
            if word == "(":
                return item
            return g.Repeat(item, 0, 1) if word == "[" else g.Repeat(item)
        if word == "?" and self.iso:
            raise self.fault("special sequences (? … ?) have no meaning that could be known")
        raise self.unexpected()

    def code(self, digits: str, at: int) -> int:
        code = int(digits, 16) if len(digits) <= 8 else 0x110000
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise self.fault(f"#x{digits} is no character", at)
        return code

    def characters(self) -> g.Characters:
        """A class; the text between the brackets is read as it stands."""
        start = self.place
        at = self.at = start + 1
        negated = self.text.startswith("^", at)
        if negated:
            at += 1
        parts: list[tuple[int, int]] = []
        while not self.text.startswith("]", at):
            low, at = self.class_item(start, at)
            high = low
            if self.text.startswith("-", at) and not self.text.startswith("-]", at):
                high, at = self.class_item(start, at + 1)
                if high < low:
                    raise self.fault("the ends of this range are in the wrong order", at)
            parts.append((low, high))
        self.at = at + 1
        self.advance()
        these = charset.ranges(parts)
        if negated:
            these = charset.invert(these)
        if not these:
            raise self.fault("a class without characters", start)
        return g.Characters(these, start)

    def class_item(self, start: int, at: int) -> tuple[int, int]:
        match = _CLASS_ITEM.match(self.text, at)
        if match is None or match.group() in ("\n", "\r"):
            raise self.fault("this [ is never closed", start)
        if match[1]:
            return self.code(match[1], at), match.end()
        return ord(match[2]), match.end()
