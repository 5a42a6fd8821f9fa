"""The text with which every word of a language begins, and the one with which every word ends.

The beginning is found by walking through all words at once, as long as one character alone may come next. It
is the longest there is, but for what the walk over-approximates (`term_walker`) and characters from which no
count can be met. The end is that of the terms that stand last. It is shorter than the longest one where
words of one length only end alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from sglc.automata import term as t
from sglc.automata.analysis.positions import Chars, InText
from sglc.automata.analysis.term_fold import Asking, folded
from sglc.automata.analysis.term_walker import Place, Walker
from sglc.automata.dfa.operations import shortest_word
from sglc.automata.encoding import ESCAPED

LONGEST = 4096
"""Characters of a certain text at most: more than what the text of a schema takes, and read in no time."""
MOST_PLACES = 64
"""Places at which the words may stand after one beginning. Where they are more, they seldom go on alike, and
a walk through all of them takes long."""


def certain_beginning(language: t.Language) -> str:
    """What every word begins with. Characters of the written text; empty where nothing is certain."""
    walker = Walker(language)
    found = ""
    places = dict.fromkeys(walker.open(walker.start()))
    while places and None not in places and len(places) <= MOST_PLACES and len(found) < LONGEST:
        following = _only_step(walker, list(places))
        if following is None:
            break
        text, after = following
        found += text
        places = {opened: None for place in after for opened in walker.open(place)}
    return found[:LONGEST]


def _only_step(walker: Walker, places: list[Place]) -> tuple[str, list[Place]] | None:
    """The text that alone may come next, with the places behind it; None where others may come.

    It is a character, or more where one reading alone is left.
    """
    if len(places) == 1 and places[0] is not None and isinstance(places[0].head, Chars):
        return places[0].head.text, [places[0].rest]
    if any(map(_is_wide, places)):
        return None
    point: int | None = None
    after: list[Place] = []
    for place in places:
        for low, high, target in walker.steps(place):
            if low != high or (point is not None and point != low):
                return None
            point = low
            after.append(target)
    return None if point is None else (chr(point), after)


def _is_wide(place: Place) -> bool:
    """Whether texts of a place surely begin with different characters, escaped or not."""
    if place is None or not isinstance(place.head, InText):
        return False
    return any(high - low > len(ESCAPED) for low, high, _ in place.head.term.dfa.edges[place.head.state])


def certain_end(language: t.Language, beginning: str = "") -> str:
    """What every word ends with, behind the `beginning` that every word has."""
    end, _ = folded(language.root, partial(_end, language.rules), ("", False))
    if not end:
        return ""
    wanted = len(beginning) + min(len(end), LONGEST)
    room = folded(language.root, partial(_least, language.rules, wanted), 0) - len(beginning)
    return end[len(end) - max(0, room) :]


_End = tuple[str, bool]
"""The certain end of a term, and whether it is the only word of the term."""


def _end(rules: Mapping[str, t.Term], term: t.Term) -> Asking[_End]:
    match term:
        case t.Bytes(data):
            return data.decode("utf-8", "replace"), True
        case t.Words(words):
            return _common_end([word.decode("utf-8", "replace") for word in words]), len(words) == 1
        case t.Listed(texts, "raw"):
            return _common_end(list(texts)), len(texts) == 1
        case t.Text(_, "raw" | "json"):
            return _end_of_text(term), False
        case t.NotBefore():
            return "", True
        case t.Sequence(items):
            end = ""
            for item in reversed(items):
                before, whole = yield item
                end = before + end
                if not whole:
                    return end, False
            return end, True
        case t.Choice(arms):
            ends = []
            for arm in arms:
                ends.append((yield arm))
            return _common_end([end for end, _ in ends]), len(set(ends)) == 1 and ends[0][1]
        case t.Repeat(item, minimum) if minimum:
            return (yield item)[0], False
        case t.Except(item):
            return (yield item)[0], False
        case t.Rule(name):
            return (yield rules[name])
    return "", False


def _common_end(texts: list[str]) -> str:
    """What all of some texts end with."""
    turned = [text[::-1] for text in texts]
    first, last = min(turned, default=""), max(turned, default="")
    size = next((at for at, char in enumerate(first) if last[at : at + 1] != char), len(first))
    return first[:size][::-1]


def _end_of_text(term: t.Text) -> str:
    """What every word of an automaton ends with, as it is written, read backwards from where words end."""
    before: dict[int, list[tuple[int, int, int]]] = {}
    for state, row in enumerate(term.dfa.edges):
        for low, high, target in row:
            before.setdefault(target, []).append((low, high, state))
    end = ""
    states = set(term.dfa.accepting)
    while states and 0 not in states and len(states) <= MOST_PLACES and len(end) < LONGEST:
        edges = [edge for state in states for edge in before.get(state, ())]
        points = {point for low, high, _ in edges for point in (low, high)}
        if len(points) != 1:
            break
        point = points.pop()
        if term.encoding == "json" and point in ESCAPED:
            break
        end = chr(point) + end
        states = {state for _, _, state in edges}
    return end


def _least(rules: Mapping[str, t.Term], wanted: int, term: t.Term) -> Asking[int]:
    """`wanted`, or fewer characters that all words have. What recursion and counts add is left out."""
    least = 0
    match term:
        case t.Bytes(data):
            least = len(data.decode("utf-8", "replace"))
        case t.Words(words):
            least = min([wanted, *[len(word.decode("utf-8", "replace")) for word in words]])
        case t.Listed(texts):
            least = min([wanted, *map(len, texts)])
        case t.Text(dfa, _, low, high):
            word = shortest_word(dfa, low, high) if low < wanted else None
            least = low if word is None else len(word)
        case t.Sequence(items):
            for item in items:
                if least < wanted:
                    least += yield item
        case t.Choice(arms):
            least = wanted
            for arm in arms:
                least = min(least, (yield arm))
        case t.Repeat(item, minimum) if minimum:
            least = yield item
        case t.Except(item):
            least = yield item
        case t.Rule(name):
            least = yield rules[name]
    return min(wanted, least)
