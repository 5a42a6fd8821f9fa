"""Reads the escapes and classes of a regular expression: everything that stands for one set of characters."""

from __future__ import annotations

import unicodedata

from sglc.automata import charset
from sglc.automata.charset import Ranges
from sglc.automata.regex.dialects import ECMA, PYTHON, SGL, Classes, Dialect, classes
from sglc.automata.regex.tree import RegexError
from sglc.immutable import value

_CONTROLS = {"n": 0x0A, "r": 0x0D, "t": 0x09, "f": 0x0C, "v": 0x0B, "0": 0x00}
_HEX = frozenset("0123456789abcdefABCDEF")
_OCTAL = "01234567"


@value
class Flags:
    ignore_case: bool = False
    multi_line: bool = False
    dot_all: bool = False
    verbose: bool = False
    ascii_only: bool = False


@value
class Piece:
    """What an escape stands for: one character (`single`), or a set."""

    these: Ranges
    point: int = 0
    single: bool = False
    named: bool = False
    """A class such as `\\w`, which a dialect may take without other case forms."""


class SetReader:
    def __init__(self, pattern: str, dialect: Dialect, flags: Flags) -> None:
        self.pattern = pattern
        self.dialect = dialect
        self.flags = flags
        self.at = 0

    # --- the text -------------------------------------------------------------------------------------

    def peek(self, text: str) -> bool:
        """Whether a text comes next."""
        return self.pattern.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Reads a text if it comes next, and says whether it did."""
        if self.peek(text):
            self.at += len(text)
            return True
        return False

    def more(self) -> bool:
        """Whether the pattern goes on."""
        return self.at < len(self.pattern)

    # --- case -----------------------------------------------------------------------------------------

    def folded(self, these: Ranges, *, named: bool = False) -> Ranges:
        """The characters with their other cases, if these are ignored; `named`: of a named class."""
        if not self.flags.ignore_case or (named and not self.dialect.folds_classes):
            return these
        if self.dialect is PYTHON and self.flags.ascii_only:
            return charset.ranges([*these, *_ascii_case(these)])
        return self.dialect.fold(these)

    def classes(self) -> Classes:
        """The named classes of the dialect under the flags."""
        flags = self.flags
        return classes(self.dialect, ascii_only=flags.ascii_only, ignore_case=flags.ignore_case)

    # --- escapes --------------------------------------------------------------------------------------

    def point(self, position: int, code: int, *, inside: bool = False) -> Piece:
        """A single character; `inside` a class. Raises RegexError for what is no character."""
        if code > charset.LAST or (0xD800 <= code <= 0xDFFF and not (inside and self.dialect is not SGL)):
            raise RegexError(position, f"U+{code:04X} is no character")
        return Piece(charset.ranges([(code, code)]), code, single=True)

    def escape(self, start: int, *, inside: bool) -> Piece:
        """What an escape stands for whose backslash has been read."""
        if not self.more():
            raise RegexError(start, "the pattern ends in a lone backslash")
        char = self.pattern[self.at]
        self.at += 1
        named = self.named_class(char)
        if named is not None:
            return Piece(named, named=True)
        if char in "01234567" and (octal := self.octal(start, char, inside=inside)) is not None:
            return self.point(start, octal, inside=inside)
        if char in _CONTROLS:
            return self.point(start, _CONTROLS[char])
        if char == "a" and self.dialect is PYTHON:
            return self.point(start, 0x07)
        if char == "b" and inside:
            return self.point(start, 0x08)
        if char in "pP" and self.dialect is not PYTHON:
            return Piece(self.property(start, negated=char == "P"))
        if char == "x":
            return self.point(start, self.hexadecimal(start, 2))
        if char == "u":
            return self.point(start, self.unicode(start), inside=inside)
        if self.dialect is PYTHON and char == "U":
            return self.point(start, self.hexadecimal(start, 8), inside=inside)
        if self.dialect is PYTHON and char == "N":
            return self.point(start, self.character_name(start))
        if char == "c" and self.dialect is not PYTHON:
            letter = self.pattern[self.at : self.at + 1]
            if letter.isascii() and letter.isalpha():
                self.at += 1
                return self.point(start, ord(letter) & 0x1F)
        if char in "bBAZzG":
            raise RegexError(start, f"the assertion \\{char} is not available")
        if char.isascii() and char.isalnum():
            raise RegexError(start, f"the escape \\{char} is not known")
        return self.point(start, ord(char))

    def named_class(self, char: str) -> Ranges | None:
        r"""The characters of a class such as `\d`, by its letter; None for other letters."""
        if char not in "dDwWsS":
            return None
        known = self.classes()
        these = {"d": known.digit, "w": known.word, "s": known.space}[char.lower()]
        return charset.invert(these) if char.isupper() else these

    def octal(self, start: int, first: str, *, inside: bool) -> int | None:
        """The value of an octal escape, None where it is none (`\\0` alone, a backreference)."""
        ahead = self.pattern[self.at : self.at + 2]
        size = 0
        while size < len(ahead) and ahead[size] in _OCTAL:
            size += 1
        digits = first + ahead[:size]
        if self.dialect is PYTHON:
            if first != "0" and len(digits) < 3 and not inside:
                return None
        elif first == "0" and not size:
            if self.pattern[self.at : self.at + 1] in ("8", "9"):
                raise RegexError(start, r"a digit after \0; write \x00")
            return None
        elif self.dialect is SGL and first == "0":
            raise RegexError(start, r"octal escapes are not known; write \xXX")
        elif self.dialect is SGL or (first != "0" and not inside):
            return None
        if len(digits) == 3 and first > "3" and self.dialect is ECMA:
            digits = digits[:2]
        if int(digits, 8) > 0o377:
            raise RegexError(start, "an octal escape above \\377")
        self.at += len(digits) - 1
        return int(digits, 8)

    def hexadecimal(self, start: int, size: int) -> int:
        """Reads a number of `size` hexadecimal digits. Raises RegexError at `start` without them."""
        digits = self.pattern[self.at : self.at + size]
        if len(digits) != size or not _HEX.issuperset(digits):
            raise RegexError(start, f"{size} hexadecimal digits are missing")
        self.at += size
        return int(digits, 16)

    def unicode(self, start: int) -> int:
        r"""The code point behind `\u`, surrogate pairs joined. Raises RegexError at `start`."""
        if self.dialect is not PYTHON and self.take("{"):
            end = self.pattern.find("}", self.at)
            size = end - self.at
            if not 1 <= size <= 8:
                raise RegexError(start, r"\u{…} takes 1 to 8 hexadecimal digits")
            code = self.hexadecimal(start, size)
            self.at = end + 1
            return code
        code = self.hexadecimal(start, 4)
        if 0xD800 <= code <= 0xDBFF and self.peek("\\u") and self.dialect is not PYTHON:
            mark = self.at
            self.at += 2
            low = self.hexadecimal(start, 4) if not self.peek("{") else 0
            if 0xDC00 <= low <= 0xDFFF:
                return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            self.at = mark
        return code

    def character_name(self, start: int) -> int:
        r"""The code point behind `\N`. Raises RegexError at `start` for an unknown name."""
        end = self.pattern.find("}", self.at)
        name = self.pattern[self.at + 1 : end]
        try:
            if not self.peek("{") or end < 0:
                raise KeyError
            code = ord(unicodedata.lookup(name))
        except (KeyError, TypeError):
            raise RegexError(start, r"a character is named \N{DIGIT ONE}") from None
        self.at = end + 1
        return code

    def property(self, start: int, *, negated: bool) -> Ranges:
        r"""The characters behind `\p` or, negated, `\P`. Raises RegexError for an unknown property."""
        end = self.pattern.find("}", self.at)
        if not self.take("{") or end < 0:
            raise RegexError(start, r"a category is written \p{L}")
        name = self.pattern[self.at : end]
        self.at = end + 1
        if name.startswith("^"):
            negated, name = not negated, name[1:]
        from sglc.automata.unicode.properties import property_set

        these = property_set(name)
        if these is None:
            raise RegexError(start, f"{name or 'an empty name'} is no Unicode property")
        return charset.invert(these) if negated else these

    # --- classes --------------------------------------------------------------------------------------

    def char_class(self, start: int) -> Ranges:
        """The set of a class whose `[` has been read."""
        negated = self.take("^")
        plain: list[tuple[int, int]] = []
        named: list[tuple[int, int]] = []
        surrogates = False
        first = True
        while True:
            if not self.more():
                raise RegexError(start, "this [ is never closed")
            if self.peek("]") and not (first and self.dialect is PYTHON):
                self.at += 1
                break
            first = False
            at = self.at
            low = self.class_item()
            if self.peek("-") and not self.pattern.startswith("-]", self.at):
                self.at += 1
                if not self.more():
                    raise RegexError(start, "this [ is never closed")
                high = self.class_item()
                if low.single and high.single:
                    if low.point > high.point:
                        raise RegexError(at, "the ends of this range are in the wrong order")
                    plain.append((low.point, high.point))
                    surrogates |= not charset.ranges(plain[-1:])
                elif self.dialect is ECMA:
                    # Annex B: the dash stands for itself.
                    plain.append((0x2D, 0x2D))
                    for piece in (low, high):
                        (named if piece.named else plain).extend(piece.these)
                else:
                    raise RegexError(at, "a range needs a single character at both ends")
            else:
                (named if low.named else plain).extend(low.these)
                surrogates |= low.single and not low.these
        if self.dialect is SGL and not plain and not named:
            raise RegexError(start, r"an empty class; a literal ] is written \]")
        if surrogates and not negated and not charset.ranges([*plain, *named]):
            raise RegexError(start, "surrogates are no characters")
        these = charset.ranges(
            [*self.folded(charset.ranges(plain)), *self.folded(charset.ranges(named), named=True)]
        )
        return charset.invert(these) if negated else these

    def class_item(self) -> Piece:
        """One character, range end or escape of a class."""
        start = self.at
        char = self.pattern[start]
        if char == "[" and self.pattern.startswith(("[:", "[=", "[."), start) and self.dialect is SGL:
            raise RegexError(start, "POSIX classes are not known")
        self.at += 1
        if char != "\\":
            return self.point(start, ord(char), inside=True)
        return self.escape(start, inside=True)


def _ascii_case(these: Ranges) -> Ranges:
    upper = charset.meet(these, ((0x41, 0x5A),))
    lower = charset.meet(these, ((0x61, 0x7A),))
    return (*((a + 32, b + 32) for a, b in upper), *((a - 32, b - 32) for a, b in lower))
