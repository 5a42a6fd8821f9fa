"""Backreferences and atomic groups, as far as they are regular.

A *backreference* is regular where its group has finitely many words: `(["']).*\\1` is `".*"` or `'.*'`. The
group must stand before it in the same sequence (or in one around it), so that it has always been matched.

An *atomic group* `(?>…)`, and a possessive quantifier, which is an atomic group around a loop, matches what a
backtracking matcher tries first and nothing else: the first alternative that matches at all, the longest run
of a loop. That is said by negative lookahead, wherever an earlier part never has to give back for the sake of
a later one.
"""

from __future__ import annotations

from dataclasses import replace

from sglc.automata.dfa.operations import is_finite
from sglc.automata.regex import tree as r
from sglc.automata.regex.determinize import compile_node
from sglc.automata.term import CharDfa

MOST_WORDS = 200
"""Words of a group that is referred to; the groups of a pattern together may make ten times the copies."""


class References:
    """Puts words in the place of backreferences."""

    def __init__(self, referred: set[int]) -> None:
        """`referred`: the numbers of the groups that are referred to."""
        self.referred = referred
        self.copies = 10 * MOST_WORDS

    def resolve(self, node: r.Node) -> r.Node:
        """The node without captures and backreferences. Raises RegexError for one that is not regular."""
        if isinstance(node, r.Back):
            raise r.RegexError(
                node.position,
                "a backreference is regular only where its group comes before it in the same sequence",
            )
        if isinstance(node, r.Join):
            return self.sequence(node.items)
        if isinstance(node, r.Capture):
            return self.resolve(node.item)
        return r.with_parts(node, self.resolve)

    def sequence(self, items: tuple[r.Node, ...]) -> r.Node:
        """Items in a row without backreferences. Raises RegexError as `copied` does."""
        for index, item in enumerate(items):
            if isinstance(item, r.Capture) and item.number in self.referred:
                later = items[index + 1 :]
                if any(_refers(part, item.number) for part in later):
                    return self.copied(items[:index], item, later)
        return r.Join(tuple(map(self.resolve, items)))

    def copied(self, before: tuple[r.Node, ...], group: r.Capture, later: tuple[r.Node, ...]) -> r.Node:
        """One arm for each word of a group. Raises RegexError if there are too many."""
        arms = []
        for word in self.words(group):
            self.copies -= 1
            if self.copies < 0:
                raise r.RegexError(group.position, "groups that are referred to have too many words")
            text = r.Join(tuple(r.Chars(((ord(char), ord(char)),)) for char in word))
            arms.append(r.Join((text, *[_replaced(part, group.number, text) for part in later])))
        return r.Join((*map(self.resolve, before), r.Either(tuple(map(self.resolve, arms)))))

    def words(self, group: r.Capture) -> list[str]:
        """The texts that a group matches. Raises RegexError if they are not finitely many, or too many."""
        item = self.resolve(group.item)
        dfa = None if r.has_places(item) else compile_node(item, limit=20 * MOST_WORDS)
        if dfa is None or not is_finite(dfa):
            raise r.RegexError(
                group.position, "a group that is referred to must match finitely many texts by itself"
            )
        return _words(dfa, group.position)


def _words(dfa: CharDfa, position: int) -> list[str]:
    found = []
    waiting = [("", 0)] if dfa.edges else []
    while waiting:
        text, state = waiting.pop()
        if state in dfa.accepting:
            found.append(text)
        for low, high, target in dfa.edges[state]:
            if high - low >= MOST_WORDS or len(found) + len(waiting) > MOST_WORDS:
                raise r.RegexError(position, f"a group that is referred to has more than {MOST_WORDS} words")
            waiting += [(text + chr(point), target) for point in range(low, high + 1)]
    return sorted(found)


def _refers(node: r.Node, number: int) -> bool:
    return (isinstance(node, r.Back) and node.number == number) or any(
        _refers(part, number) for part in r.parts(node)
    )


def _replaced(node: r.Node, number: int, text: r.Node) -> r.Node:
    if isinstance(node, r.Back):
        return text if node.number == number else node
    return r.with_parts(node, lambda part: _replaced(part, number, text))


# --- atomic groups --------------------------------------------------------------------------------------


def atomic(node: r.Node, position: int) -> r.Node:
    """What a backtracking matcher tries first. Raises RegexError where that depends on more than is here."""
    match node:
        case r.Capture():
            return replace(node, item=atomic(node.item, position))
        case r.Either(arms):
            if all(isinstance(arm, r.Chars) for arm in arms):
                return node
            forbidden = [r.Look(arm, False, True, position) for arm in arms]
            return r.Either(
                tuple(r.Join((*forbidden[:index], atomic(arm, position))) for index, arm in enumerate(arms))
            )
        case r.Join(items):
            out = []
            for index, item in enumerate(items):
                if not _is_rigid(item):
                    if not all(r.may_be_empty(later, sure=True) for later in items[index + 1 :]):
                        raise r.RegexError(
                            position, "this atomic group would have to give back inside itself"
                        )
                    item = atomic(item, position)
                out.append(item)
            return r.Join(tuple(out))
        case r.Loop():
            return _atomic_loop(node, position)
    return node


def _atomic_loop(node: r.Loop, position: int) -> r.Node:
    minimum, maximum = node.minimum, node.maximum
    once = node.item if _is_rigid(node.item) else atomic(node.item, position)
    if minimum > 1 and not _is_rigid(node.item):
        raise r.RegexError(position, "this atomic group would have to give back inside itself")
    if r.may_be_empty(node.item):
        raise r.RegexError(position, "an atomic loop over what may be empty is not available")
    if node.lazy:
        return r.Loop(once, minimum, minimum, node.position)
    over = r.Look(node.item, False, True, position)
    if maximum is None:
        return r.Join((r.Loop(once, minimum, None, node.position), over))
    if minimum == maximum:
        return r.Loop(once, minimum, maximum, node.position)
    fewer = r.Join((r.Loop(once, minimum, maximum - 1, node.position), over))
    return r.Either((r.Loop(once, maximum, maximum, node.position), fewer))


def _is_rigid(node: r.Node) -> bool:
    """Whether there is one way to match at most, so that nothing can be given back."""
    match node:
        case r.Chars() | r.Edge() | r.Look() | r.Back():
            return True
        case r.Join(items):
            return all(map(_is_rigid, items))
        case r.Loop():
            return node.minimum == node.maximum and _is_rigid(node.item)
        case r.Capture():
            return _is_rigid(node.item)
    return False
