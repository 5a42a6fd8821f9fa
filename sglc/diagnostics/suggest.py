"""The nearest name: what someone probably meant."""

from __future__ import annotations

from collections.abc import Iterable

MOST_WORK = 1_500_000
"""Work of looking for names in one program: some half a second. Each candidate is 1, one that is compared
letter by letter as many more as both names have pairs of letters."""


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate closest to `name`, or None if none is close.

    Close means at most a third of the letters wrong (one letter always counts as close, for names of two
    letters or more), or the same letters in another case. Ties go to the first in alphabetical order.
    """
    return NameSearch().nearest(name, candidates)


class NameSearch:
    """Looks for what the unknown names of one program mean, until `MOST_WORK` is done.

    So thousands of unknown names among thousands of known ones take no minutes: the later ones get no answer.
    """

    def __init__(self) -> None:
        self.left = MOST_WORK

    def nearest(self, name: str, candidates: Iterable[str]) -> str | None:
        """As the function `nearest`; None also where the work is done."""
        if len(name) < 2 or len(name) > 60 or self.left <= 0:
            return None
        folded = name.lower()
        letters = set(folded)
        best: str | None = None
        best_distance = max(1, len(name) // 3) + 1
        for candidate in sorted(candidates):
            self.left -= 1
            if candidate == name:
                continue
            if candidate.lower() == folded:
                return candidate
            # Nothing but the same letters is closer than one wrong letter.
            if best_distance == 1 or len(candidate) < 2 or abs(len(candidate) - len(name)) >= best_distance:
                continue
            # A letter that the candidate lacks is a wrong one.
            if len(letters.difference(candidate.lower())) < best_distance:
                self.left -= len(name) * len(candidate)
                distance = edit_distance(folded, candidate.lower(), best_distance)
                if distance < best_distance:
                    best, best_distance = candidate, distance
        return best


def edit_distance(left: str, right: str, limit: int) -> int:
    """Letters to insert, drop, change or swap with their neighbour (optimal string alignment).

    Gives `limit` as soon as the distance cannot be below it.
    """
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        following = [i]
        for j, b in enumerate(right, 1):
            cost = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            following.append(cost)
        if min(following) >= limit:
            return limit
        before, row = row, following
    return min(row[-1], limit)
