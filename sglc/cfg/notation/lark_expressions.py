"""Reads the expressions of grammars in Lark's notation: recursive descent over their tokens."""

from __future__ import annotations

from sglc.cfg.model import grammar as g
from sglc.cfg.model.validate import MAX_COUNT, MAX_DEPTH
from sglc.cfg.notation import lark_lexer as lexer
from sglc.cfg.notation.lark_cursor import NEAR, Cursor
from sglc.cfg.notation.lark_templates import Use


class ExpressionReader(Cursor):
    """What stands behind the colon of a definition."""

    def alternatives(self, depth: int) -> g.Expression:
        """Sequences with `|` between them."""
        if depth > MAX_DEPTH:
            raise self.fault(f"nested more than {MAX_DEPTH} deep")
        texts, known = self.texts, self.known
        index = self.index
        arms: list[g.Expression] = []
        items: list[g.Expression] = []
        while True:
            text = texts[index]
            item = known[text]
            if item.__class__ is not int:
                items.append(item)  # type: ignore[arg-type]
                index += 1
                continue
            self.index = index
            if item == lexer.OR:
                arms.append(_sequence(items))
                items = []
                index += 1
            elif item == lexer.LINE or item == lexer.HEAD or item == lexer.CLOSE:
                break
            elif item == lexer.OPEN:
                items.append(self.group(depth))
                index = self.index
            elif item == lexer.TIMES:
                if not items or known[texts[index - 1]] in (lexer.TIMES, lexer.NUMBER):
                    break
                items[-1] = self.repeated(items[-1])
                index = self.index
            elif item <= lexer.REGEXP:
                made = self.atom(item, depth)
                if not self.placed and self.index == index + 1:
                    known[text] = made
                items.append(made)
                index = self.index
            elif text == "{" and items and known[texts[index - 1]] == lexer.NAME:
                self.index = index - 1
                items[-1] = self.reference(depth)
                index = self.index
            elif text == ".." and items and texts[index - 1][0] == '"':
                self.index = index - 1
                items[-1] = self.string()
                index = self.index
            elif text == "->":
                items = [g.Named(_sequence(items), self.alias())]
                index = self.index
                if known[texts[index]] != lexer.OR:
                    break
            else:
                break
        arms.append(_sequence(items))
        return arms[0] if len(arms) == 1 else g.Alternatives(tuple(arms))

    def alias(self) -> str:
        """Reads `-> name`. Raises GrammarError for an upper-case name."""
        self.index += 1
        at = self.index
        name = self.name()
        if name.isupper():
            raise self.fault("an alias is written in lower case", at)
        return name

    def atom(self, kind: int, depth: int) -> g.Expression:
        """Reads a reference, a text or a pattern."""
        if kind == lexer.NAME:
            return self.reference(depth)
        return self.string() if kind == lexer.STRING else self.regexp()

    def repeated(self, item: g.Expression) -> g.Expression:
        """Reads the mark of a repetition behind an item."""
        mark = self.texts[self.index]
        at = self.index
        self.index += 1
        if mark == "*":
            return g.Repeat(item)
        if mark == "+":
            return g.Repeat(item, 1)
        if mark == "?":
            if self.adjoined and self.texts[self.index][:1].isalpha():
                if self.place(self.index) == self.place(at) + 1:
                    raise self.fault("a blank is needed between ? and the next name")
            return g.Repeat(item, 0, 1)
        minimum = maximum = self.number("a count")
        if self.texts[self.index] == "..":
            self.index += 1
            maximum = self.number("a count")
        if minimum < 0 or maximum < minimum:
            raise self.fault(f"{minimum}..{maximum} is no range of counts", at)
        if maximum > MAX_COUNT:
            raise self.fault(f"a count may be at most {MAX_COUNT}", at)
        return g.Repeat(item, minimum, maximum)

    def group(self, depth: int) -> g.Expression:
        """Reads what stands in parentheses, or in brackets, which make it optional."""
        mark = self.texts[self.index]
        at = self.index
        self.index += 1
        item = self.alternatives(depth + 1)
        if self.texts[self.index] != (")" if mark == "(" else "]"):
            if self.kind() in (lexer.LINE, lexer.HEAD, lexer.END):
                raise self.fault(f"this {mark} is never closed", at)
            raise self.unexpected()
        self.index += 1
        return item if mark == "(" else g.Repeat(item, 0, 1)

    def reference(self, depth: int) -> g.Expression:
        """Reads the name of a rule or terminal, or the use of a template."""
        first = self.index
        name = self.name()
        if self.texts[self.index] != "{":
            return g.Reference(name, self.place(first) if self.placed else self.head[1])
        if depth > MAX_DEPTH:
            raise self.fault(f"nested more than {MAX_DEPTH} deep")
        self.index += 1
        arguments: list[g.Expression] = []
        while True:
            kind = self.kind()
            if kind > lexer.REGEXP:
                raise self.fault("an argument of a template is a name, a text or a pattern")
            arguments.append(self.atom(kind, depth + 1))
            if not self.comma("}"):
                return Use(name, tuple(arguments), self.place(first))  # type: ignore[return-value]

    def string(self) -> g.Expression:
        """Reads a text in quotes, or the range that begins with it."""
        first = self.index
        written = self.texts[first]
        self.index += 1
        ignore_case = written[-1] == "i"
        inner = written[1:-2] if ignore_case else written[1:-1]
        if self.texts[self.index] == "..":
            return self.range(inner, first)
        # Far from the last place that is known, all places are found at once.
        far = self.placed or first - self.head[0] >= NEAR
        at = self.place(first) if far else self.source.text.find(written, self.head[1])
        text = inner
        if "\\" in inner:
            text = lexer.unescaped(inner, self.source, at).replace("\\\\", "\\")
        if not text:
            raise self.fault("an empty text is no terminal", first, "leave it out, or use [ ] or ?")
        return g.Literal(text, ignore_case, at)

    def range(self, low: str, first: int) -> g.Expression:
        """Reads the rest of `"a".."z"`, whose lower end has been read."""
        self.index += 1
        if self.kind() != lexer.STRING:
            raise self.fault('a range is written "a".."z"')
        written = self.texts[self.index]
        self.index += 1
        high = written[1 : -2 if written.endswith("i") else -1]
        at = self.place(first)
        if (
            len(lexer.unescaped(low, self.source, at)) != 1
            or len(lexer.unescaped(high, self.source, at)) != 1
        ):
            raise self.fault("a range has a single character at both ends", first)
        return g.Pattern(f"[{low}-{high}]", frozenset(), at)

    def regexp(self) -> g.Expression:
        """Reads a pattern between slashes, with its flags."""
        first = self.index
        written = self.texts[self.index]
        self.index += 1
        end = written.rindex("/")
        flags = frozenset(written[end + 1 :])
        inner = written[1:end]
        if "\n" in inner:
            self.broken = True
            if "x" not in flags:
                raise self.fault("a pattern with line ends needs the flag x", first)
        if "l" in flags:
            raise self.fault("the flag l (locale) is not supported", first)
        at = self.place(first)
        return g.Pattern(lexer.unescaped(inner, self.source, at), flags, at)


def _sequence(items: list[g.Expression]) -> g.Expression:
    if len(items) == 1:
        return items[0]
    return g.Sequence(tuple(items)) if items else g.EMPTY
