"""Regular expressions to a small syntax tree; what is not regular is refused with its position.

The language is the part shared by Python and ECMAScript (with the `u` flag): classes, escapes, groups,
alternation, greedy and lazy quantifiers, anchors, `(?i)`. `\\d \\w \\s` are the ASCII sets, `.` is any
character but a newline, `\\p{…}` takes Unicode general categories.
"""

from __future__ import annotations

from dataclasses import dataclass

from sglc.automata import charset
from sglc.automata.charset import Ranges


class RegexError(ValueError):
    """`position` counts characters of the pattern from 0."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(f"at {position}: {reason}")
        self.position = position
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Chars:
    these: Ranges


@dataclass(frozen=True, slots=True)
class Join:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Either:
    arms: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    item: Node
    minimum: int
    maximum: int | None
    position: int


@dataclass(frozen=True, slots=True)
class Start:
    """`^`: nothing before it."""


@dataclass(frozen=True, slots=True)
class End:
    """`$`: nothing after it."""


Node = Chars | Join | Either | Loop | Start | End

MAX_PATTERN = 20_000
MAX_DEPTH = 100
MAX_COUNT = 20_000

_CLASSES = {
    "d": charset.DIGITS, "D": charset.invert(charset.DIGITS),
    "w": charset.WORD, "W": charset.invert(charset.WORD),
    "s": charset.SPACE, "S": charset.invert(charset.SPACE),
}  # fmt: skip
_CONTROLS = {"n": 0x0A, "r": 0x0D, "t": 0x09, "f": 0x0C, "v": 0x0B, "0": 0x00}
_DOT = charset.invert(((0x0A, 0x0A),))
_REFUSED_GROUPS = {
    "=": "lookahead", "!": "lookahead", "<=": "lookbehind", "<!": "lookbehind", ">": "an atomic group",
    "(": "a conditional group", "P=": "a backreference", "P>": "a recursive group", "R": "a recursive group",
    "#": "a comment group", "|": "a branch reset group",
}  # fmt: skip


def parse_regex(pattern: str, *, ignore_case: bool = False) -> Node:
    if len(pattern) > MAX_PATTERN:
        raise RegexError(MAX_PATTERN, f"the pattern is longer than {MAX_PATTERN} characters")
    parser = _Parser(pattern, ignore_case)
    node = parser.alternation(0)
    if parser.at < len(pattern):
        raise RegexError(parser.at, "this ) closes no group")
    return node


class _Parser:
    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self.pattern = pattern
        self.at = 0
        self.ignore_case = ignore_case
        if pattern.startswith("(?i)"):
            self.ignore_case = True
            self.at = 4

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def more(self) -> bool:
        return self.at < len(self.pattern)

    def alternation(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise RegexError(self.at, f"groups are nested deeper than {MAX_DEPTH}")
        arms = [self.sequence(depth)]
        while self.take("|"):
            arms.append(self.sequence(depth))
        return arms[0] if len(arms) == 1 else Either(tuple(arms))

    def sequence(self, depth: int) -> Node:
        items: list[Node] = []
        while self.more() and not self.peek("|") and not self.peek(")"):
            start = self.at
            item = self.atom(depth)
            items.append(self.quantified(item, start))
        return items[0] if len(items) == 1 else Join(tuple(items))

    def quantified(self, item: Node, start: int) -> Node:
        count = self.quantifier()
        if count is None:
            return item
        if isinstance(item, (Start, End)):
            raise RegexError(start, "an anchor cannot be repeated")
        if self.take("+"):
            raise RegexError(self.at - 1, "possessive quantifiers are not regular")
        self.take("?")
        after = self.at
        if self.quantifier() is not None:
            raise RegexError(after, "a quantifier needs something before it")
        return Loop(item, count[0], count[1], start)

    def quantifier(self) -> tuple[int, int | None] | None:
        if self.take("*"):
            return 0, None
        if self.take("+"):
            return 1, None
        if self.take("?"):
            return 0, 1
        if not self.peek("{"):
            return None
        start = self.at
        end = self.pattern.find("}", start)
        low, comma, high = self.pattern[start + 1 : end if end > 0 else start + 1].partition(",")
        sizes = [part for part in (low, high) if part]
        if not sizes or not all(part.isascii() and part.isdigit() for part in sizes):
            raise RegexError(start, r"a literal { is written \{, a count {2}, {2,} or {2,4}")
        if any(len(part) > 6 or int(part) > MAX_COUNT for part in sizes):
            raise RegexError(start, f"a count may be at most {MAX_COUNT}")
        self.at = end + 1
        minimum = int(low) if low else 0
        maximum = (int(high) if high else None) if comma else minimum
        if maximum is not None and maximum < minimum:
            raise RegexError(start, "the counts are in the wrong order")
        return minimum, maximum

    def atom(self, depth: int) -> Node:
        start = self.at
        char = self.pattern[start]
        self.at += 1
        if char == ".":
            return Chars(_DOT)
        if char == "^":
            return Start()
        if char == "$":
            return End()
        if char == "(":
            return self.group(start, depth)
        if char == "[":
            return self.chars(self.char_class(start))
        if char == "\\":
            return self.chars(self.escape(start, inside=False))
        if char in "*+?":
            raise RegexError(start, "a quantifier needs something before it")
        if char == "{":
            raise RegexError(start, r"a literal { is written \{")
        return self.chars(self.point(start, ord(char)))

    def point(self, position: int, code: int) -> Ranges:
        if code > charset.LAST or 0xD800 <= code <= 0xDFFF:
            raise RegexError(position, f"U+{code:04X} is no character")
        return ((code, code),)

    def chars(self, these: Ranges) -> Chars:
        return Chars(charset.ignoring_case(these) if self.ignore_case else these)

    def group(self, start: int, depth: int) -> Node:
        if self.take("?"):
            if self.take(":"):
                pass
            elif self.take("P<") or (self.peek("<") and not self.peek("<=") and not self.peek("<!")):
                end = self.pattern.find(">", self.at)
                name = self.pattern[self.at : end].lstrip("<") if end > 0 else ""
                if not name.isidentifier():
                    raise RegexError(start, "a group's name is missing")
                self.at = end + 1
            else:
                for mark, what in sorted(_REFUSED_GROUPS.items(), key=lambda item: -len(item[0])):
                    if self.peek(mark):
                        raise RegexError(start, f"{what} is not regular")
                if self.peek("i)"):
                    raise RegexError(start, "(?i) may stand at the start of the pattern only")
                raise RegexError(start, "this kind of group is not known")
        node = self.alternation(depth + 1)
        if not self.take(")"):
            raise RegexError(start, "this ( is never closed")
        return node

    def escape(self, start: int, *, inside: bool) -> Ranges:
        """The set of an escape whose backslash has been read."""
        if not self.more():
            raise RegexError(start, "the pattern ends in a lone backslash")
        char = self.pattern[self.at]
        self.at += 1
        if char in _CLASSES:
            return _CLASSES[char]
        if char == "0" and self.more() and self.pattern[self.at] in "0123456789":
            raise RegexError(start, r"octal escapes are not known; write \xXX")
        if char in _CONTROLS:
            return self.point(start, _CONTROLS[char])
        if char == "b" and inside:
            return self.point(start, 0x08)
        if char in "pP":
            return self.category(start, negated=char == "P")
        if char == "x":
            return self.point(start, self.hexadecimal(start, 2))
        if char == "u":
            return self.point(start, self.unicode(start))
        if (
            char == "c"
            and self.more()
            and self.pattern[self.at].isascii()
            and self.pattern[self.at].isalpha()
        ):
            self.at += 1
            return self.point(start, ord(self.pattern[self.at - 1]) & 0x1F)
        if char in "123456789k" and not inside:
            raise RegexError(start, "a backreference is not regular")
        if char in "bBAZzG":
            raise RegexError(start, f"the assertion \\{char} is not available")
        if char.isascii() and char.isalnum():
            raise RegexError(start, f"the escape \\{char} is not known")
        return self.point(start, ord(char))

    def hexadecimal(self, start: int, size: int) -> int:
        digits = self.pattern[self.at : self.at + size]
        if len(digits) != size or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
            raise RegexError(start, f"{size} hexadecimal digits are missing")
        self.at += size
        return int(digits, 16)

    def unicode(self, start: int) -> int:
        if self.take("{"):
            end = self.pattern.find("}", self.at)
            size = end - self.at
            if not 1 <= size <= 8:
                raise RegexError(start, r"\u{…} takes 1 to 8 hexadecimal digits")
            code = self.hexadecimal(start, size)
            self.at = end + 1
            return code
        code = self.hexadecimal(start, 4)
        if 0xD800 <= code <= 0xDBFF and self.peek("\\u"):
            mark = self.at
            self.at += 2
            low = self.hexadecimal(start, 4) if not self.peek("{") else 0
            if 0xDC00 <= low <= 0xDFFF:
                return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            self.at = mark
        return code

    def category(self, start: int, *, negated: bool) -> Ranges:
        end = self.pattern.find("}", self.at)
        if not self.take("{") or end < 0:
            raise RegexError(start, r"a category is written \p{L}")
        name = self.pattern[self.at : end]
        self.at = end + 1
        key, equals, value = name.partition("=")
        if equals and key in ("gc", "General_Category"):
            name = value
        elif equals:
            raise RegexError(start, f"the property {key} is not available; general categories are")
        if name.startswith("^"):
            negated, name = not negated, name[1:]
        these = charset.general_category(name)
        if these is None:
            raise RegexError(start, f"{name or 'an empty name'} is no Unicode general category")
        return charset.invert(these) if negated else these

    def char_class(self, start: int) -> Ranges:
        negated = self.take("^")
        parts: list[tuple[int, int]] = []
        first = True
        while True:
            if not self.more():
                raise RegexError(start, "this [ is never closed")
            if self.peek("]") and not first:
                self.at += 1
                break
            if self.peek("]"):
                raise RegexError(start, r"an empty class; a literal ] is written \]")
            first = False
            at = self.at
            low, single = self.class_item()
            if self.peek("-") and not self.pattern.startswith("-]", self.at):
                self.at += 1
                if not self.more():
                    raise RegexError(start, "this [ is never closed")
                high, high_single = self.class_item()
                if not (single and high_single):
                    raise RegexError(at, "a range needs a single character at both ends")
                if low[0][0] > high[0][0]:
                    raise RegexError(at, "the ends of this range are in the wrong order")
                parts.append((low[0][0], high[0][0]))
            else:
                parts.extend(low)
        these = charset.ranges(parts)
        if negated and self.ignore_case:
            these = charset.ignoring_case(these)
        return charset.invert(these) if negated else these

    def class_item(self) -> tuple[Ranges, bool]:
        """A set, and whether it was written as one character and so may end a range."""
        start = self.at
        char = self.pattern[start]
        if char == "[" and self.pattern.startswith(("[:", "[=", "[."), start):
            raise RegexError(start, "POSIX classes are not known")
        self.at += 1
        if char != "\\":
            return self.point(start, ord(char)), True
        single = self.more() and self.pattern[self.at] not in "dDwWsSpP"
        return self.escape(start, inside=True), single
