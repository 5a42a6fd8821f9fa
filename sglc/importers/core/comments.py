"""Comments of a source as the documentation of what they stand beside."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Comment:
    """`text` is what it says, without its marks; characters `start` to `end` are the whole of it."""

    start: int
    end: int
    text: str


class Comments:
    """The comments of one text, in order."""

    def __init__(self, text: str, comments: list[Comment]) -> None:
        self.text = text
        self.comments = comments
        self.starts = [comment.start for comment in comments]

    def of(self, start: int, end: int) -> str:
        """What is said of the part of the text from `start` to `end`.

        That are the comments right before it, and the one behind it that ends its last line.
        """
        said = self._before(start)
        behind = self._behind(end)
        return " ".join(part for part in (*said, behind) if part)

    def _before(self, start: int) -> list[str]:
        """From the nearest one up: on the same line, then those that have lines of their own."""
        found: list[str] = []
        at = bisect_left(self.starts, start) - 1
        while at >= 0:
            comment = self.comments[at]
            between = self.text[comment.end : start]
            line = self.text.rfind("\n", 0, comment.start) + 1
            alone = not self.text[line : comment.start].strip()
            if between.strip() or between.count("\n") > 1 or not (alone or "\n" not in between):
                break
            found.append(comment.text)
            start = comment.start
            at -= 1
        return found[::-1]

    def _behind(self, end: int) -> str:
        """The first comment behind, where only marks that end a part stand between."""
        at = bisect_left(self.starts, end)
        if at == len(self.comments):
            return ""
        comment = self.comments[at]
        between = self.text[end : comment.start]
        line_end = self.text.find("\n", comment.end)
        rest = self.text[comment.end :] if line_end < 0 else self.text[comment.end : line_end]
        if "\n" in between or between.strip(" \t,;") or rest.strip(" \t\r,;)}"):
            return ""
        return comment.text
