"""How a line that is too long, or has comments in it, goes over several lines.

Only brackets let a line go on below. The brackets that hold most are opened: what is in them stands on a
line of its own, else each of its parts does. A part that is still too long goes on in the same way, or is cut
before the operators that bind loosest. Where the lines of the text ended before does not matter, but for
comments, which end theirs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from sglc.format.reading import Gap
from sglc.format.rows import Row
from sglc.format.spacing import CALLED
from sglc.format.tokens import TakenTokens

WIDTH = 100
STEP = 4
SHORT = 22
"""Columns of parts of a list that share rows."""
SHORT_ARGUMENT = 44
"""Columns of arguments that share rows."""
LEAST = 12
"""Columns that brackets hold if opening them is worth a line."""

_CLOSER = {"(": ")", "[": "]", "{": "}"}
_HAS_PARTS = CALLED | {"PATH"}
"""What stands before round brackets that hold arguments, parameters or imported names."""
_LOOSEST: tuple[tuple[str, ...], ...] = (
    ("for",),
    ("if", "else"),
    ("|",),
    ("or",),
    ("and",),
    ("==", "!=", "<", "<=", ">", ">=", "in", "not in", "matches", "contains"),
    ("+", "-"),
    ("*", "/", "//", "%"),
)
"""What a part in brackets is cut at, the loosest first."""


@dataclass(slots=True)
class Group:
    """Brackets: the indices of both tokens, and the groups right inside."""

    open: int
    close: int
    inner: list[Group] = field(default_factory=list)


def _within(groups: list[Group], first: int, last: int) -> list[Group]:
    """The groups among tokens `first` up to `last`."""
    places = (bisect_left(groups, index, key=lambda group: group.open) for index in (first, last))
    return groups[slice(*places)]


class Breaker:
    """The rows of one logical line. `blanks` says what stands before each of its tokens, from `first` on."""

    def __init__(
        self,
        tokens: TakenTokens,
        first: int,
        last: int,
        blanks: list[str],
        comments: dict[int, Gap],
        grammar: bool,
    ) -> None:
        self.tokens = tokens
        self.first = first
        self.last = last
        self.blanks = blanks
        self.comments = {index: gap for index, gap in comments.items() if gap.has_comment()}
        self.commented = sorted(self.comments)
        self.grammar = grammar
        self.rows: list[Row] = []
        self.row = Row(0, "")
        self.waiting: list[str] = []
        """Comments that stand on lines of their own below the row that is being written."""
        self.groups = self._groups()
        self.dropped = self._trailing_commas()

    # -- what is there -------------------------------------------------------------------------------

    def _groups(self) -> list[Group]:
        """The outermost brackets."""
        kinds = self.tokens.kinds
        outer = Group(-1, -1)
        opened = [outer]
        for index in range(self.first, self.last):
            if kinds[index] in _CLOSER:
                group = Group(index, -1)
                opened[-1].inner.append(group)
                opened.append(group)
            elif len(opened) > 1 and kinds[index] == _CLOSER[kinds[opened[-1].open]]:
                opened.pop().close = index
        return outer.inner

    def _trailing_commas(self) -> frozenset[int]:
        """Commas before a closing bracket that mean nothing. The one of `(x,)` makes a tuple."""
        kinds = self.tokens.kinds
        found = []
        waiting = list(self.groups)
        while waiting:
            group = waiting.pop()
            waiting += group.inner
            comma = group.close - 1
            if kinds[comma] != "," or self.grammar:
                continue
            tuple_of_one = (
                kinds[group.open] == "("
                and len(self._parts(group.open + 1, group.close, group.inner)) == 1
                and not (group.open > self.first and kinds[group.open - 1] in _HAS_PARTS)
            )
            if not tuple_of_one:
                found.append(comma)
        return frozenset(found)

    def flat(self, first: int, last: int) -> str:
        """Tokens on one line."""
        written, blanks, base = self.tokens.written, self.blanks, self.first
        parts: list[str] = []
        for index in range(first, last):
            if index not in self.dropped:
                parts += (blanks[index - base], written[index])
        return "".join(parts[1:])

    def has_comment(self, first: int, last: int) -> bool:
        """Whether a comment stands between two of the tokens `first` up to `last`."""
        return bisect_right(self.commented, first) < bisect_left(self.commented, last)

    def _between(self, first: int, last: int, groups: Iterable[Group]) -> Iterable[int]:
        """The tokens that stand in no brackets."""
        index = first
        for group in groups:
            yield from range(index, group.open)
            index = group.close + 1
        yield from range(index, last)

    def _parts(self, first: int, last: int, groups: list[Group]) -> list[tuple[int, int]]:
        """The extents of the parts between commas."""
        parts, start = [], first
        if not self.grammar:
            for index in self._between(first, last, groups):
                if self.tokens.kinds[index] == ",":
                    parts.append((start, index))
                    start = index + 1
        if start < last:
            parts.append((start, last))
        return parts

    # -- writing -------------------------------------------------------------------------------------

    def begin(self, indent: int) -> None:
        """Begin the first row, or the next one."""
        self.row = Row(indent, "")

    def end(self, indent: int) -> None:
        """End the row; comments that wait stand below it."""
        self.rows.append(self.row)
        self.rows += [Row(indent, text) for text in self.waiting]
        self.waiting.clear()

    def go_on(self, indent: int, comments: int = -1) -> None:
        """End the row and begin the next one; `comments` is the indentation of comments between them."""
        self.end(indent if comments < 0 else comments)
        self.begin(indent)

    def note(self, index: int) -> None:
        """Take the comments that stand before a token: the first behind the row, others below it."""
        gap = self.comments.get(index)
        if gap is None:
            return
        if gap.behind and not self.row.comment and not self.waiting:
            self.row.comment = gap.behind
        elif gap.behind:
            self.waiting.append(gap.behind)
        self.waiting += [comment.text for comment in gap.own]

    def put(self, text: str) -> None:
        """Add to the row."""
        self.row.text += text

    def blank_before(self, index: int) -> str:
        """What stands between a token and the one before it."""
        return self.blanks[index - self.first]

    def parts(self) -> list[tuple[int, int]]:
        """The extents of the parts between commas that stand in no brackets."""
        return self._parts(self.first, self.last, self.groups)

    # -- layouts -------------------------------------------------------------------------------------

    def sequence(
        self, first: int, last: int, groups: list[Group], indent: int, tail: int = 0, inside: bool = False
    ) -> None:
        """Write tokens from where the row ends; `tail` columns follow them on their last row.

        `inside` brackets a line may end anywhere.
        """
        if first >= last:
            return
        text = self.flat(first, last)
        commented = bool(self.comments) and self.has_comment(first, last)
        if not commented and (self.row.width() + len(text) + tail <= WIDTH or "\n" in text):
            self.put(text)
            return
        if inside:
            cuts = self._comment_cuts(first, last, groups) if commented else []
            cuts = cuts or self._operator_cuts(first, last, groups)
            if cuts:
                self._cut(first, last, groups, cuts, indent, tail)
                return
        group = self._opened(first, last, groups, inside)
        if group is None:
            self.put(text)
            return
        self.put(self.flat(first, group.open + 1))
        self._open(group, indent)
        if group.close + 1 < last:
            self.put(self.blank_before(group.close + 1))
            rest = _within(groups, group.close + 1, last)
            self.sequence(group.close + 1, last, rest, indent, tail, inside)

    def alternatives(self, indent: int) -> None:
        """Write a rule of a grammar: each alternative but the first begins a row with its `|`."""
        kinds = self.tokens.kinds
        outside = self._between(self.first, self.last, self.groups)
        cuts = [index for index in outside if kinds[index] == "|"]
        for start, stop in zip([self.first, *cuts], [*cuts, self.last], strict=True):
            if start != self.first:
                self.note(start)
                self.go_on(indent)
            own = _within(self.groups, start, stop)
            self.sequence(start, stop, own, indent)

    def _comment_cuts(self, first: int, last: int, groups: list[Group]) -> list[int]:
        """The tokens before which a comment stands, in no brackets of their own."""
        outside = set(self._between(first, last, groups)) | {group.open for group in groups}
        return [index for index in self.commented if first < index < last and index in outside]

    def _operator_cuts(self, first: int, last: int, groups: list[Group]) -> list[int]:
        """The tokens that begin a row where a part is cut at its loosest operators."""
        kinds, written = self.tokens.kinds, self.tokens.written
        outside = list(self._between(first, last, groups))
        for operators in _LOOSEST:
            found = [
                index
                for index in outside
                if index > first
                and written[index] in operators
                and kinds[index] in ("BINARY", "for", "if", "else", "|")
            ]
            if found:
                if operators == ("|",):
                    return [index + 1 for index in found if index + 1 < last]
                if operators == ("for",):  # a comprehension is cut before its condition, too
                    found += [index for index in outside if index > found[0] and kinds[index] == "if"]
                return found
        return []

    def _cut(
        self, first: int, last: int, groups: list[Group], cuts: list[int], indent: int, tail: int
    ) -> None:
        """Write a sequence with a new row at each cut."""
        for start, stop in zip([first, *cuts], [*cuts, last], strict=True):
            if start != first:
                self.note(start)
                self.go_on(indent)
            own = _within(groups, start, stop)
            self.sequence(start, stop, own, indent, tail if stop == last else 0, True)

    def _opened(self, first: int, last: int, groups: list[Group], inside: bool) -> Group | None:
        """The brackets to open, if it is worth it: those with a comment, else those that hold most."""
        for group in groups:
            if self.comments and self.has_comment(group.open, group.close + 1):
                return group
        best, widest = None, LEAST - 1
        for group in groups:
            if self.row.width() + len(self.flat(first, group.open + 1)) > WIDTH:
                break
            width = len(self.flat(group.open + 1, group.close))
            if width > widest:
                best, widest = group, width
        if best is None or inside or self.grammar:
            return best
        loose = any(
            self.tokens.kinds[index] in ("BINARY", "if") for index in self._between(first, last, groups)
        )
        return None if loose and 2 * widest < len(self.flat(first, last)) else best

    def _open(self, group: Group, indent: int) -> None:
        """Write what brackets hold, from behind the opening one, and the closing one."""
        first, last = group.open + 1, group.close
        parts = self._parts(first, last, group.inner)
        hugged = self._hugged(group, parts)
        if hugged is not None:
            if hugged.open > first:
                self.put(self.flat(first, hugged.open))
                self.put(self.blank_before(hugged.open))
            self.put(self.tokens.written[hugged.open])
            self._open(hugged, indent)
            self.put(self.tokens.written[last])
            return
        comma = "," if self._takes_comma(group, parts) else ""
        inner = indent + STEP
        if not self.has_comment(group.open, last + 1):
            together = self._together(group, parts, inner, len(comma))
            if together:
                for text in together:
                    self.go_on(inner)
                    self.put(text)
                self.put(comma)
                self.go_on(indent)
                self.put(self.tokens.written[last])
                return
        self.note(first)
        for start, stop in parts:
            self.go_on(inner)
            own = _within(group.inner, start, stop)
            final = stop >= last or stop + 1 == last
            self.sequence(start, stop, own, inner, 1 if comma or not final else 0, True)
            if not final or comma or (stop < last and stop not in self.dropped):
                self.put(",")
            if stop < last:
                self.note(stop)
                if stop + 1 < last or stop + 1 == last:
                    self.note(stop + 1)
            else:
                self.note(last)
        self.go_on(indent, inner)
        self.put(self.tokens.written[last])

    def _together(self, group: Group, parts: list[tuple[int, int]], indent: int, tail: int) -> list[str]:
        """What brackets hold on one row if it fits, short parts on as many as they take; empty if not."""
        text = self.flat(group.open + 1, group.close)
        if indent + len(text) + tail <= WIDTH:
            return [text]
        texts = [self.flat(start, stop) for start, stop in parts]
        if not texts or max(map(len, texts)) > self._share(group, parts):
            return []
        rows = [texts[0]]
        for text in texts[1:]:
            if indent + len(rows[-1]) + len(text) + 3 <= WIDTH:
                rows[-1] += f", {text}"
            else:
                rows[-1] += ","
                rows.append(text)
        return rows

    def _share(self, group: Group, parts: list[tuple[int, int]]) -> int:
        """How long parts may be that share rows: those of lists and maps, and arguments without names."""
        kinds = self.tokens.kinds
        if self.grammar or len(parts) < 3:
            return 0
        if kinds[group.open] != "(":
            return SHORT
        named = any(
            kinds[index] in ("=", ":") for index in self._between(group.open + 1, group.close, group.inner)
        )
        return 0 if named else SHORT_ARGUMENT

    def _hugged(self, group: Group, parts: list[tuple[int, int]]) -> Group | None:
        """The list, map or call that is the last part in round brackets and is opened with them, if any.

        `f("a", [` begins it, and `])` ends it.
        """
        kinds = self.tokens.kinds
        if kinds[group.open] != "(" or not parts or self.grammar:
            return None
        start, stop = parts[-1]
        inner = group.inner[-1] if group.inner else None
        if inner is None or inner.close != stop - 1 or inner.close == inner.open + 1 or inner.open < start:
            return None
        called = kinds[inner.open] == "(" and len(parts) > 1
        if inner.open > start if not called else not self._is_name(start, inner.open):
            return None
        outside = [index for index in self.comments if group.open < index <= group.close]
        if any(not inner.open < index <= inner.close for index in outside):
            return None
        head = self.flat(group.open + 1, inner.open + 1)
        if self.row.width() + len(head) > WIDTH:
            return None
        if len(parts) > 1 and not self.has_comment(group.open, group.close + 1):
            whole = len(self.flat(group.open + 1, group.close))
            if self.row.indent + STEP + whole <= WIDTH or 3 * len(head) > whole:
                return None
        return inner

    def _is_name(self, first: int, last: int) -> bool:
        """Whether tokens are a name, perhaps behind others and points."""
        kinds = self.tokens.kinds[first:last]
        return len(kinds) % 2 == 1 and set(kinds[::2]) == {"NAME"} and set(kinds[1::2]) <= {"."}

    def _takes_comma(self, group: Group, parts: list[tuple[int, int]]) -> bool:
        """Whether a comma stands behind the last part if each has its line: in lists and maps of several."""
        kinds = self.tokens.kinds
        if self.grammar or kinds[group.open] == "(":
            return False
        has = any(kinds[index] == "," for index in self._between(group.open + 1, group.close, group.inner))
        return has and len(parts) > 0
