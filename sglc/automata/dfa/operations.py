"""Operations over `CharDfa`, the deterministic automaton over code points.

Every function returns the one canonical automaton of its language: trimmed, minimal, states numbered in
breadth-first order, neighbouring edges to one target joined. So two automata are equal
(and have equal hashes) exactly when their languages are equal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

from sglc.automata import work
from sglc.automata.charset import ALL, LAST, Ranges, blocks_of, invert, meet, ranges
from sglc.automata.dfa.minimize import joined_edges, minimal_dfa
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.dfa.numbering import TooLarge as TooLarge
from sglc.automata.graphs import successors_first
from sglc.automata.term import CharDfa

NONE = CharDfa((), frozenset())
"""No word at all."""
EMPTY_WORD = CharDfa(((),), frozenset({0}))


class TooLong(TooLarge):
    """The shortest words of a language are longer than `LONGEST_WORD`."""

    def __init__(self) -> None:
        super().__init__(f"the shortest text has more than {LONGEST_WORD:,} bytes")


MAX_STATES = 200_000
"""States of a product or union, which may have as many as those of its parts multiplied."""
LONGEST_WORD = 1 << 20
"""Bytes or characters of a word that is written out because it is short, which takes half a second."""
MOST_ENTRIES = 100_000
"""So many items or entries that must be there are not written out in such a word."""


def accepts(dfa: CharDfa, text: str) -> bool:
    """Whether a text is a word."""
    state = walk(dfa, text)
    return state is not None and state in dfa.accepting


def walk(dfa: CharDfa, text: str, state: int = 0) -> int | None:
    """The state after `text`, or None where no word begins like that."""
    rows = dfa.edges
    if not rows:
        return None
    for char in text:
        point, edges = ord(char), rows[state]
        at = bisect_right(edges, (point, LAST + 1, 0)) - 1
        if at < 0 or edges[at][1] < point:
            return None
        state = edges[at][2]
    return state


def step(dfa: CharDfa, state: int, point: int) -> int | None:
    """The state after one more code point, None where no word goes on with it."""
    edges = dfa.edges[state]
    at = bisect_right(edges, (point, LAST + 1, 0)) - 1
    if at >= 0 and edges[at][1] >= point:
        return edges[at][2]
    return None


def first_characters(dfas: Iterable[CharDfa]) -> Ranges:
    """The characters with which the words of some automata begin."""
    rows = [dfa.edges[0] for dfa in dfas if dfa.edges]
    if len(rows) == 1 and len(rows[0]) == 1:
        return (rows[0][0][:2],)
    return ranges((low, high) for row in rows for low, high, _ in row)


def is_empty(dfa: CharDfa) -> bool:
    """Whether there is no word: a canonical automaton has no state then."""
    return not dfa.edges


def is_finite(dfa: CharDfa) -> bool:
    """No cycle; every state of a trimmed automaton is useful, so a cycle makes infinitely many words."""
    return len(ends_first(dfa)) == len(dfa.edges)


def ends_first(dfa: CharDfa) -> list[int]:
    """The states, each behind all that it leads to; those from which a cycle can be reached are left out."""
    return successors_first({state: {to for _, _, to in row} for state, row in enumerate(dfa.edges)})


def is_endless(dfa: CharDfa) -> bool:
    """Whether infinitely many words lead on from every state, so that leaving out a few empties none.

    In a trimmed automaton every state can be left but those without edges, and a path that can always be
    continued comes to a cycle: so it is enough that every state has an edge.
    """
    return bool(dfa.edges) and all(dfa.edges)


# --- construction ---------------------------------------------------------------------------------------


def build(edges: Sequence[Sequence[tuple[Ranges, int]]], accepting: Iterable[int]) -> CharDfa:
    """The canonical automaton of a deterministic one given as (set, target) edges, state 0 the start."""
    blocks, members = blocks_of(these for row in edges for these, _ in row)
    table = [{block: target for these, target in row for block in members[these]} for row in edges]
    return minimal_dfa(table, set(accepting), blocks)


def literal(text: str) -> CharDfa:
    """The one word `text`."""
    points = list(map(ord, text))
    edges = zip(zip(points, points, range(1, len(points) + 1), strict=True), strict=True)
    return CharDfa((*edges, ()), frozenset({len(text)}))


def any_char_class(these: Ranges) -> CharDfa:
    """Words of one character of the set."""
    return build([[(these, 1)], []], [1])


def all_words(these: Ranges = ALL) -> CharDfa:
    """All words over the set, the empty one too."""
    if not these:
        return EMPTY_WORD
    return CharDfa((tuple((low, high, 0) for low, high in these),), frozenset({0}))


def words(texts: Iterable[str]) -> CharDfa:
    """A finite set of words: their trie with equal nodes made one, from the leaves up."""
    nodes: list[dict[int, int]] = [{}]
    ends: set[int] = set()
    for text in texts:
        node = 0
        for char in text:
            point = ord(char)
            following = nodes[node].get(point)
            if following is None:
                following = nodes[node][point] = len(nodes)
                nodes.append({})
            node = following
        ends.add(node)
        work.spend(1 + 2 * len(text))
    if not ends:
        return NONE
    kind: dict[tuple[bool, tuple[tuple[int, int], ...]], int] = {}
    same = list(range(len(nodes)))
    edges_of: list[tuple[tuple[int, int], ...]] = [()] * len(nodes)
    for node in range(len(nodes) - 1, -1, -1):  # children have higher numbers
        row = tuple([(point, same[child]) for point, child in sorted(nodes[node].items())])
        edges_of[node] = row
        same[node] = kind.setdefault((node in ends, row), node)
    number = Numbering(0)
    edges = [
        tuple(joined_edges([(point, point, number[child]) for point, child in edges_of[node]]))
        for node in number.order
    ]
    return CharDfa(tuple(edges), frozenset([number[node] for node in number.order if node in ends]))


def without(texts: Iterable[str], stops: Iterable[str] = (), alphabet: Ranges = ALL) -> CharDfa:
    """Words over `alphabet` in which no text and no stop occurs, and which a stop can follow unmistakably.

    The latter: in word + stop, the first occurrence of any stop begins where the word ends. (`x<` before the
    stop `<<` is left out: in `x<<<` the stop is first seen after `x`.) The automaton is that of Aho and
    Corasick (1975), its states the proper prefixes of the texts.
    """
    stops = tuple(stops)
    texts = (*texts, *stops)
    if "" in texts:
        return NONE
    prefixes = sorted({text[:size] for text in texts for size in range(len(text))} | {""}, key=len)
    number = {prefix: index for index, prefix in enumerate(prefixes)}
    chars = sorted({char for text in texts for char in text})
    rest = meet(alphabet, invert(ranges((ord(char), ord(char)) for char in chars)))
    rows: list[list[tuple[Ranges, int]]] = []
    accepting = []
    for prefix in prefixes:
        row: list[tuple[Ranges, int]] = [(rest, 0)] if rest else []
        for char in chars:
            here = prefix + char
            if any(here.endswith(text) for text in texts) or not meet(alphabet, ((ord(char), ord(char)),)):
                continue
            suffix = next(here[cut:] for cut in range(len(here) + 1) if here[cut:] in number)
            row.append((((ord(char), ord(char)),), number[suffix]))
        rows.append(row)
        if not any(_earlier(prefix, stop, stops) for stop in stops):
            accepting.append(number[prefix])
    return build(rows, accepting)


def _earlier(before: str, stop: str, stops: Iterable[str]) -> bool:
    text = before + stop
    return any(0 <= text.find(other) < len(before) for other in stops)


# --- boolean operations ---------------------------------------------------------------------------------


def intersect(left: CharDfa, right: CharDfa) -> CharDfa:
    """Words of both."""
    return _product(left, right, lambda a, b: a and b)


def union(left: CharDfa, right: CharDfa) -> CharDfa:
    """Words of either."""
    return _product(left, right, lambda a, b: a or b)


def difference(left: CharDfa, right: CharDfa) -> CharDfa:
    """Words of `left` that are none of `right`."""
    return _product(left, right, lambda a, b: a and not b)


def complement(dfa: CharDfa, alphabet: CharDfa | None = None) -> CharDfa:
    """The words of `alphabet` (all words if None) that are not in `dfa`."""
    return _others(dfa) if alphabet is None else difference(alphabet, dfa)


def _others(dfa: CharDfa) -> CharDfa:
    """All words that are not in `dfa`: what leaves it leads to a state of its own, and the state of which all
    goes on well, if there is one, is no more. The rest stays minimal and is numbered anew."""
    everything = all_words().edges[0]
    whole = tuple([(low, high) for low, high, _ in everything])
    states = len(dfa.edges)
    lost = next(
        (
            state
            for state in dfa.accepting
            if tuple([edge[:2] for edge in dfa.edges[state]]) == whole
            and all(target == state for _, _, target in dfa.edges[state])
        ),
        -1,
    )
    if lost == 0:
        return NONE
    number = Numbering(0 if states else -1)
    edges: list[tuple[tuple[int, int, int], ...]] = []
    for state in number.order:
        row: list[tuple[int, int, int]] = []
        for low, high in whole:
            at = low
            for first, last, target in dfa.edges[state] if state >= 0 else ():
                if last < low or first > high:
                    continue
                if first > at:
                    row.append((at, first - 1, number[-1]))
                if target != lost:
                    row.append((first, last, number[target]))
                at = last + 1
            if at <= high:
                row.append((at, high, number[-1]))
        edges.append(tuple(joined_edges(row)))
        work.spend(1 + len(edges[-1]))
    accepting = [number[state] for state in number.order if state not in dfa.accepting]
    return CharDfa(tuple(edges), frozenset(accepting))


def labelled(dfa: CharDfa) -> list[list[tuple[Ranges, int]]]:
    """The edges of each state, one for each target."""
    rows = []
    for edges in dfa.edges:
        by_target: dict[int, list[tuple[int, int]]] = {}
        for low, high, target in edges:
            by_target.setdefault(target, []).append((low, high))
        rows.append([(tuple(parts), target) for target, parts in by_target.items()])
    return rows


def shared_blocks(
    dfas: Iterable[CharDfa], more: Iterable[Ranges] = ()
) -> tuple[list[Ranges], list[list[dict[int, int]]], dict[Ranges, list[int]]]:
    """One cut of the code points for all automata and some sets: its blocks, the automata's transition tables
    over them, and the blocks of each set."""
    rows_of = [labelled(dfa) for dfa in dfas]
    blocks, members = blocks_of((*(these for rows in rows_of for row in rows for these, _ in row), *more))
    work.spend(sum([len(members[these]) for rows in rows_of for row in rows for these, _ in row]))
    tables = [
        [{block: target for these, target in row for block in members[these]} for row in rows]
        for rows in rows_of
    ]
    return blocks, tables, members


def _product(left: CharDfa, right: CharDfa, accept: Callable[[bool, bool], bool]) -> CharDfa:
    blocks, (table_left, table_right), _ = shared_blocks((left, right))
    needs_left = not accept(False, True)
    needs_right = not accept(True, False)
    number = Numbering((0 if left.edges else -1, 0 if right.edges else -1), limit=MAX_STATES)
    rows: list[dict[int, int]] = []
    accepting: set[int] = set()
    for a, b in number.order:
        if accept(a in left.accepting, b in right.accepting):
            accepting.add(len(rows))
        row_left = table_left[a] if a >= 0 else {}
        row_right = table_right[b] if b >= 0 else {}
        row: dict[int, int] = {}
        rows.append(row)
        for block in row_left if needs_left else {**row_left, **row_right}:
            pair = (row_left.get(block, -1), row_right.get(block, -1))
            if needs_right and pair[1] < 0:
                continue
            row[block] = number[pair]
        work.spend(1 + len(row))
    return minimal_dfa(rows, accepting, blocks)


# --- questions about words ------------------------------------------------------------------------------


_READABLE = ((0x61, 0x7A), (0x41, 0x5A), (0x30, 0x39), (0x21, 0x7E), (0x20, 0x20), (0xA1, LAST))
"""Characters as they are preferred."""


def nice_char(edges: Iterable[tuple[int, int]]) -> int:
    """A readable member of a set: a letter if there is one, then a digit, then printable ASCII, then any."""
    parts = list(edges)
    for low, high in _READABLE:
        found = [max(low, a) for a, b in parts if a <= high and b >= low]
        if found:
            return min(found)
    return parts[0][0]


def char_rank(point: int) -> tuple[int, int]:
    """Sorts characters by how readable a witness they make."""
    for rank, (low, high) in enumerate(_READABLE):
        if low <= point <= high:
            return rank, point
    return 9, point


def char_lengths(dfa: CharDfa, limit: int) -> list[bool]:
    """Element n says whether there is a word of n characters, for n from 0 to `limit`."""
    if not dfa.edges:
        return [False] * (limit + 1)
    followers = [tuple({target for _, _, target in row}) for row in dfa.edges]
    out: list[bool] = []
    current = frozenset({0})
    seen: dict[frozenset[int], int] = {}
    while len(out) <= limit:
        if current in seen:
            period = len(out) - seen[current]
            while len(out) <= limit:
                out.append(out[-period])
            break
        seen[current] = len(out)
        out.append(bool(current & dfa.accepting))
        current = frozenset(target for state in current for target in followers[state])
    return out


def shortest_word(dfa: CharDfa, min_chars: int = 0, max_chars: int | None = None) -> str | None:
    """A shortest word with a length in the bounds, readable characters first; None if there is none."""
    if not dfa.edges or (max_chars is not None and max_chars < min_chars):
        return None
    limit = min_chars + len(dfa.edges) if max_chars is None else min(max_chars, min_chars + len(dfa.edges))
    followers = [tuple({target for _, _, target in row}) for row in dfa.edges]
    layers = [frozenset({0})]
    length = None
    for count in range(limit + 1):
        if count >= min_chars and layers[count] & dfa.accepting:
            length = count
            break
        layers.append(frozenset(target for state in layers[count] for target in followers[state]))
    if length is None:
        return None
    alive = [frozenset[int]()] * length + [layers[length] & dfa.accepting]
    for count in range(length - 1, -1, -1):
        after = alive[count + 1]
        alive[count] = frozenset(
            state for state in layers[count] if any(target in after for target in followers[state])
        )
    out: list[str] = []
    state = 0
    for count in range(length):
        choices = [
            (char_rank(nice_char([(low, high)])), target)
            for low, high, target in dfa.edges[state]
            if target in alive[count + 1]
        ]
        (_, point), state = min(choices)
        out.append(chr(point))
    return "".join(out)
