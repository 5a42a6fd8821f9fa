"""Regular expressions to a syntax tree; what is not regular is refused with its position.

All dialects have classes, escapes, groups, alternation, greedy and lazy quantifiers (which match the same
texts), places (`^ $ \\b \\B`, lookahead, lookbehind) and flags; `regex_dialect` says what they disagree on.
Backreferences and atomic groups are read as far as `regex_captures` finds them regular; conditional and
recursive groups are refused.
"""

from __future__ import annotations

from dataclasses import replace

from sglc.automata import charset
from sglc.automata.regex import tree as r
from sglc.automata.regex.captures import References, atomic
from sglc.automata.regex.charsets import Flags, SetReader
from sglc.automata.regex.dialects import DIALECTS, ECMA, PYTHON, SGL, Dialect

__all__ = ["MAX_COUNT", "MAX_DEPTH", "MAX_PATTERN", "parse_regex"]

MAX_PATTERN = 20_000
"""Characters of a pattern."""
MAX_DEPTH = 100
"""Groups inside of each other. Patterns are read by recursion, with a few calls for each."""
MAX_COUNT = 1_000_000
"""Of a repetition. What is counted is unrolled or counted in states; work limits that."""

_REFUSED_GROUPS = {
    "(": "a conditional group",
    "P>": "a recursive group",
    "R": "a recursive group",
    "&": "a recursive group",
    "|": "a branch reset group",
}
_FLAG_LETTERS = {"sgl": "ims", "ecma": "ims", "python": "aimsux"}
_ANCHORS = ("^", "$", "\\b", "\\B", "\\A", "\\Z")
_UNREPEATED = {
    "sgl": (*_ANCHORS, "(?=", "(?!", "(?<=", "(?<!"),
    "ecma": (*_ANCHORS, "(?<=", "(?<!"),
    "python": _ANCHORS,
}
_VERBOSE_BLANKS = " \t\n\r\v\f"


def parse_regex(pattern: str, *, ignore_case: bool = False, dialect: str = "sgl") -> r.Node:
    """The tree of a pattern, captures and references resolved. Raises RegexError."""
    if len(pattern) > MAX_PATTERN:
        raise r.RegexError(MAX_PATTERN, f"the pattern is longer than {MAX_PATTERN} characters")
    parser = _Parser(pattern, DIALECTS[dialect], Flags(ignore_case=ignore_case))
    parser.leading_flags()
    node = parser.alternation(0)
    if parser.more():
        raise r.RegexError(parser.at, "this ) closes no group")
    return References(parser.referred).resolve(node)


class _Parser(SetReader):
    def __init__(self, pattern: str, dialect: Dialect, flags: Flags) -> None:
        super().__init__(pattern, dialect, flags)
        self.groups = 0
        self.closed: set[int] = set()
        self.referred: set[int] = set()
        self.names: dict[str, int] = {}
        self.taken: set[str] = set()
        """Names of the groups that may match together with the next one."""

    def alternation(self, depth: int) -> r.Node:
        if depth > MAX_DEPTH:
            raise r.RegexError(self.at, f"groups are nested deeper than {MAX_DEPTH}")
        before, taken = set(self.taken), self.taken
        arms = [self.sequence(depth)]
        while self.take("|"):
            if self.dialect is not PYTHON:
                taken, self.taken = taken | self.taken, set(before)
            arms.append(self.sequence(depth))
        self.taken |= taken
        return arms[0] if len(arms) == 1 else r.Either(tuple(arms))

    def sequence(self, depth: int) -> r.Node:
        items: list[r.Node] = []
        while True:
            self.skip_blanks()
            if not self.more() or self.peek("|") or self.peek(")"):
                return items[0] if len(items) == 1 else r.Join(tuple(items))
            start = self.at
            if self.peek("(?#") and self.dialect is PYTHON:
                end = self.pattern.find(")", start)
                if end < 0:
                    raise r.RegexError(start, "this comment is never closed")
                self.at = end + 1
                continue
            item = self.atom(depth)
            items.append(self.quantified(item, start))

    def skip_blanks(self) -> None:
        while self.flags.verbose and self.more():
            if self.pattern[self.at] in _VERBOSE_BLANKS:
                self.at += 1
            elif self.peek("#"):
                end = self.pattern.find("\n", self.at)
                self.at = end + 1 if end >= 0 else len(self.pattern)
            else:
                return

    # --- quantifiers ----------------------------------------------------------------------------------

    def quantified(self, item: r.Node, start: int) -> r.Node:
        self.skip_blanks()
        count = self.quantifier()
        if count is None:
            return item
        if self.pattern.startswith(_UNREPEATED[self.dialect.name], start):
            raise r.RegexError(start, "an anchor cannot be repeated")
        possessive = self.take("+")
        if possessive and self.dialect is not PYTHON:
            raise r.RegexError(self.at - 1, "possessive quantifiers are not available")
        lazy = not possessive and self.take("?")
        self.skip_blanks()
        after = self.at
        if self.quantifier() is not None:
            raise r.RegexError(after, "a quantifier needs something before it")
        loop = r.Loop(item, count[0], count[1], start, lazy)
        return atomic(loop, start) if possessive else loop

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
        inside = self.pattern[start + 1 : end] if end > 0 else ""
        low, comma, high = inside.partition(",")
        sizes = [part for part in (low, high) if part]
        if not all(part.isascii() and part.isdigit() for part in sizes) or not (sizes or comma):
            if self.dialect is SGL:
                raise r.RegexError(start, r"a literal { is written \{, a count {2}, {2,} or {2,4}")
            return None
        if not low and self.dialect is ECMA:
            raise r.RegexError(start, r"a count needs its minimum, {0,4}; a literal { is written \{")
        if not sizes and self.dialect is SGL:
            raise r.RegexError(start, r"a literal { is written \{, a count {2}, {2,} or {2,4}")
        if any(len(part) > 9 or int(part) > MAX_COUNT for part in sizes):
            raise r.RegexError(start, f"a count may be at most {MAX_COUNT}")
        self.at = end + 1
        minimum = int(low) if low else 0
        maximum = (int(high) if high else None) if comma else minimum
        if maximum is not None and maximum < minimum:
            raise r.RegexError(start, "the counts are in the wrong order")
        return minimum, maximum

    # --- atoms ----------------------------------------------------------------------------------------

    def atom(self, depth: int) -> r.Node:
        start = self.at
        char = self.pattern[start]
        if char == "{":
            if self.dialect is SGL:
                raise r.RegexError(start, r"a literal { is written \{")
            if self.quantifier() is not None:
                raise r.RegexError(start, "a quantifier needs something before it")
        self.at += 1
        if char == ".":
            newlines = () if self.flags.dot_all else self.dialect.newlines
            return r.Chars(charset.invert(newlines))
        if char == "^":
            return r.Edge("line_start", self.dialect.newlines) if self.flags.multi_line else r.Edge("start")
        if char == "$":
            return self.dollar(start)
        if char == "(":
            return self.group(start, depth)
        if char == "[":
            return r.Chars(self.char_class(start))
        if char == "\\":
            place = self.place() or self.backreference(start)
            if place is not None:
                return place
            piece = self.escape(start, inside=False)
            return r.Chars(self.folded(piece.these, named=piece.named))
        if char in "*+?":
            raise r.RegexError(start, "a quantifier needs something before it")
        return r.Chars(self.folded(self.point(start, ord(char)).these))

    def dollar(self, start: int) -> r.Node:
        if self.flags.multi_line:
            return r.Edge("line_end", self.dialect.newlines)
        if self.dialect is PYTHON:
            # Also before a newline that ends the text.
            newline = r.Loop(r.Chars(self.dialect.newlines), 0, 1, start)
            return r.Look(r.Join((newline, r.Edge("end"))), behind=False, negated=False, position=start)
        return r.Edge("end")

    def place(self) -> r.Node | None:
        if self.take("b"):
            return r.Edge("word", self.classes().word)
        if self.take("B"):
            return r.Edge("not_word", self.classes().word)
        if self.dialect is PYTHON and self.take("A"):
            return r.Edge("start")
        if self.dialect is PYTHON and self.take("Z"):
            return r.Edge("end")
        return None

    # --- groups ---------------------------------------------------------------------------------------

    def group(self, start: int, depth: int) -> r.Node:
        before = self.flags
        look: tuple[bool, bool] | None = None
        whole = number = 0
        if self.dialect is PYTHON and self.take("?P="):
            end = self.pattern.find(")", self.at)
            name = self.pattern[self.at : max(end, self.at)]
            self.at = max(end, self.at) + 1
            return self.referring(start, self.names.get(name, 0), f"no group is called {name!r}")
        if self.take("?>"):
            if self.dialect is not PYTHON:
                raise r.RegexError(start, "an atomic group is not available")
            whole = 1
        elif self.take("?"):
            if self.take("<=") or self.take("<!"):
                look = (True, self.pattern[self.at - 1] == "!")
            elif self.take("=") or self.take("!"):
                look = (False, self.pattern[self.at - 1] == "!")
            elif self.take("P<") or (self.dialect is not PYTHON and self.take("<")):
                self.groups += 1
                number = self.names[self.group_name(start)] = self.groups
            else:
                self.flags = self.group_flags(start)
        else:
            self.groups += 1
            number = self.groups
        node = self.alternation(depth + 1)
        if not self.take(")"):
            raise r.RegexError(start, "this ( is never closed")
        self.flags = before
        if number:
            self.closed.add(number)
            return r.Capture(node, number, start)
        if whole:
            return atomic(node, start)
        return node if look is None else r.Look(node, behind=look[0], negated=look[1], position=start)

    def backreference(self, start: int) -> r.Node | None:
        """`\\1`, or `\\k<name>`, whose backslash has been read; None if it is another escape."""
        digits = self.at
        most = 2 if self.dialect is PYTHON else 9
        while self.more() and self.pattern[self.at] in "0123456789" and self.at - digits < most:
            self.at += 1
        text = self.pattern[digits : self.at]
        if text and text[0] != "0" and not (self.dialect is PYTHON and self.octal_behind(digits)):
            return self.referring(start, int(text), f"there is no group {text} before it")
        self.at = digits
        if self.dialect is not PYTHON and self.take("k<"):
            end = self.pattern.find(">", self.at)
            name = self.pattern[self.at : max(end, self.at)]
            self.at = max(end, self.at) + 1
            return self.referring(start, self.names.get(name, 0), f"no group before it is called {name!r}")
        return None

    def octal_behind(self, at: int) -> bool:
        """Whether three octal digits stand there: in Python they are a character."""
        digits = self.pattern[at : at + 3]
        return len(digits) == 3 and all(digit in "01234567" for digit in digits)

    def referring(self, start: int, number: int, missing: str) -> r.Node:
        if number not in self.closed:
            raise r.RegexError(start, missing)
        if self.flags.ignore_case:
            raise r.RegexError(start, "a backreference where case is ignored is not available")
        self.referred.add(number)
        return r.Back(number, start)

    def group_name(self, start: int) -> str:
        end = self.pattern.find(">", self.at)
        name = self.pattern[self.at : end] if end > 0 else ""
        if not name.replace("$", "_").isidentifier():
            raise r.RegexError(start, "a group's name is missing")
        if name in self.taken:
            raise r.RegexError(start, f"there is another group that is called {name!r}")
        self.taken.add(name)
        self.at = end + 1
        return name

    def group_flags(self, start: int) -> Flags:
        """The flags of a group `(?i-s:` or `(?:` whose `(?` has been read."""
        flags, end = self.read_flags(start)
        if end == ")":
            raise r.RegexError(
                start, f"{self.pattern[start : self.at]} may stand at the start of the pattern only"
            )
        return flags

    def leading_flags(self) -> None:
        while self.peek("(?") and self.pattern[self.at + 2 : self.at + 3].isalpha():
            start = self.at
            self.at += 2
            if self.peek("P"):
                self.at = start
                return
            flags, end = self.read_flags(start)
            if end == ":":
                self.at = start
                return
            self.flags = flags

    def read_flags(self, start: int) -> tuple[Flags, str]:
        """The flags up to `:` or `)`, and which of the two it was."""
        for mark, what in sorted(_REFUSED_GROUPS.items(), key=lambda item: -len(item[0])):
            if self.peek(mark):
                raise r.RegexError(start, f"{what} is not regular")
        flags = self.flags
        on = True
        while self.more():
            char = self.pattern[self.at]
            self.at += 1
            if char in ":)":
                return flags, char
            if char == "-" and on:
                on = False
            elif char in _FLAG_LETTERS[self.dialect.name] and (on or char not in "au"):
                flags = _with_flag(flags, char, on=on)
            else:
                break
        raise r.RegexError(start, "this kind of group is not known")


def _with_flag(flags: Flags, letter: str, *, on: bool) -> Flags:
    match letter:
        case "i":
            return replace(flags, ignore_case=on)
        case "m":
            return replace(flags, multi_line=on)
        case "s":
            return replace(flags, dot_all=on)
        case "x":
            return replace(flags, verbose=on)
        case "a":
            return replace(flags, ascii_only=True)
        case _:
            return replace(flags, ascii_only=False)
