"""What each terminal of a grammar reads, and which characters may not come after it.

`dynamic` is what Lark's Earley parser does with `lexer="dynamic_complete"`: a terminal matches as its
pattern can, whatever else could match there. `longest` is what a lexer does, and more exactly Lark's
contextual lexer: of the terminals that may come at a place it tries them in a fixed order and takes the first
that matches, as long as that one goes; a keyword inside an identifier's pattern is told by its whole text. A
text is read back as it was written if, for each of its terminals T,

- T does not go on into what follows,
- no terminal that is tried before T matches at its place, neither in the text of T nor beyond it,
- T is not the text of a keyword that is told from T by its text.

The first two leave characters that may not follow, one of which is enough to know; the others take words
away from T. Where only a character further on would tell, the first one is barred: the texts that are left
are still read back as they were written.

Ignored text is matched as long as it goes in both.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from sglc.automata import charset
from sglc.automata.charset import LAST, Ranges, atoms, invert, meet
from sglc.automata.dfa import any_char_class, build, step
from sglc.automata.term import CharDfa
from sglc.grammar.errors import GrammarError
from sglc.grammar.follow import first_sets, follow_sets
from sglc.grammar.graph import LEAF, Graph
from sglc.grammar.ignored import skipped
from sglc.grammar.model import Grammar
from sglc.grammar.parser_states import TooManyStates, tried_together
from sglc.grammar.patterns import Automaton, accepts
from sglc.grammar.regular import alternation
from sglc.grammar.rivals import Rivals
from sglc.grammar.terminals import Token, Tokens

MAX_STATES = 20_000
"""States of one terminal beside those that it must not be taken for."""
_FEW = 20
"""More rivals than this are made one automaton first: it is only asked whether any of them matches."""
_MANY_TOKENS = 1_000
"""Beyond this, any two terminals are taken to be possible at the same place."""


@dataclass(frozen=True, slots=True)
class Lexis:
    """What is read by each leaf (`parts`), and by ignored text; without ignored terminals `skip` is None.

    Each part is a set of texts with the characters that may not follow them. With `whole`, terminals that are
    data are read whole, and their part tells only how they begin. `plain`: anything may follow any of them.
    """

    parts: Mapping[int, Automaton]
    skip: Automaton | None
    whole: bool = False
    plain: bool = False


class _LateParts(Mapping[int, Automaton]):
    """What leaves read by their patterns alone, made when it is asked for."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._made: dict[int, Automaton] = {}

    def __getitem__(self, node: int) -> Automaton:
        found = self._made.get(node)
        if found is None:
            if self._graph.kind[node] != LEAF:
                raise KeyError(node)
            found = self._made[node] = _reads(self._graph.about[node])
        return found

    def __iter__(self) -> Iterator[int]:
        return iter([node for node in self._graph.reached(self._graph.start) if node in self])

    def __len__(self) -> int:
        return len(list(self))

    def __contains__(self, node: object) -> bool:
        return isinstance(node, int) and self._graph.kind[node] == LEAF


def plain_lexis(graph: Graph, grammar: Grammar, tokens: Tokens) -> Lexis | None:
    """Terminals by their patterns alone, if anything may follow any of them."""
    leaves = [about for kind, about in zip(graph.kind, graph.about, strict=True) if kind == LEAF]
    if any([_looks_ahead(about) for about in leaves]):
        return None
    skip = skipped(grammar, tokens, {})
    if skip and any([barred for _, barred in skip]):
        # Ignored text goes on as long as it can, which matters where something else begins like it.
        exact = [about.exact if isinstance(about, Token) else None for about in leaves]
        firsts = {((ord(char), ord(char)),) for char in {text[0] for text in exact if text}}
        firsts |= {_first(_reads(about)) for about, text in zip(leaves, exact, strict=True) if text is None}
        if any([_share(barred, first) for _, barred in skip for first in firsts]):
            return None
        skip = _narrowed(skip, ())
    return Lexis(_LateParts(graph), skip, whole=True, plain=True)


def dynamic_lexis(graph: Graph, grammar: Grammar, tokens: Tokens) -> Lexis:
    """Terminals by their patterns alone."""
    nodes = graph.reached(graph.start)
    parts = {node: _reads(graph.about[node]) for node in nodes if graph.kind[node] == LEAF}
    return replace(_relevant(graph, nodes, parts, skipped(grammar, tokens, {})), whole=True)


def longest_lexis(graph: Graph, grammar: Grammar, tokens: Tokens, rivals: Rivals) -> Lexis:
    """Terminals as a lexer tells them from each other."""
    nodes = graph.reached(graph.start)
    token_of = _tokens_of(graph, nodes)
    ignored = _ignored(grammar, tokens)
    # Where blanks may part words, they must: a keyword is no beginning of a name.
    patterns = [token for token in token_of.values() if ignored and not token.is_text and not token.words]
    known: dict[int, Automaton] = {}
    parts = {}
    for node, token in token_of.items():
        if token in ignored:
            # A lexer drops what is ignored before the parser could ask for it.
            known[token.index] = ()
        elif token.index not in known:
            known[token.index] = _Contest(token, rivals.of(token), ignored).parts(patterns)
        parts[node] = known[token.index]
    everything = list({token.index: token for token in (*token_of.values(), *ignored)}.values())
    matched = {token.index: _Contest(token, everything, ignored).parts() for token in ignored}
    return _relevant(graph, nodes, parts, skipped(grammar, tokens, matched))


def _tokens_of(graph: Graph, nodes: list[int]) -> dict[int, Token]:
    found: dict[int, Token] = {}
    for node in nodes:
        if graph.kind[node] == LEAF:
            about = graph.about[node]
            if not isinstance(about, Token):
                raise GrammarError(
                    "this grammar has no terminals that could be matched longest-first",
                    hint="leave out lexing='longest'",
                )
            found[node] = about
    return found


def _ignored(grammar: Grammar, tokens: Tokens) -> list[Token]:
    return [tokens.named(name) for name in dict.fromkeys(grammar.ignore)]


def _reads(about: object) -> Automaton:
    if isinstance(about, Token):
        if about.words:
            begins = charset.ranges((ord(text[0]), ord(text[0])) for text in about.words)
            return ((any_char_class(begins), ()),)
        return about.automaton
    assert isinstance(about, CharDfa)
    return ((about, ()),)


def _looks_ahead(about: object) -> bool:
    """Whether something may not follow what a leaf reads, or it reads nothing."""
    if not isinstance(about, Token) or about.exact is not None or about.words:
        return False
    return not about.automaton or any([barred for _, barred in about.automaton])


# --- which characters matter ----------------------------------------------------------------------------


def _first(parts: Automaton) -> Ranges:
    return charset.ranges((low, high) for dfa, _ in parts if dfa.edges for low, high, _ in dfa.edges[0])


def _relevant(graph: Graph, nodes: list[int], parts: dict[int, Automaton], skip: Automaton | None) -> Lexis:
    """Bar only characters that could come: most terminals then need not look ahead at all."""
    if not any(barred for these in (*parts.values(), skip or ()) for _, barred in these):
        return Lexis(parts, skip)
    sets = {node: _first(these) for node, these in parts.items()}
    distinct = list(dict.fromkeys(sets.values()))
    blocks, members = atoms(distinct)
    bits = {these: sum(1 << block for block in members[index]) for index, these in enumerate(distinct)}
    first = first_sets(graph, nodes, {node: bits[these] for node, these in sets.items()})
    follow = follow_sets(graph, nodes, first, 0)
    skipped = _first(skip) if skip else ()

    def coming(mask: int) -> Ranges:
        found = [part for block, these in enumerate(blocks) if mask >> block & 1 for part in these]
        return charset.ranges([*found, *skipped])

    known: dict[int, Ranges] = {}
    out: dict[int, Automaton] = {}
    for node, these in parts.items():
        if any(barred for _, barred in these):
            mask = follow[node]
            if mask not in known:
                known[mask] = coming(mask)
            these = _narrowed(these, known[mask])
        out[node] = these
    if skip:
        skip = _narrowed(skip, charset.ranges(part for these in distinct for part in these))
    return Lexis(out, skip)


def _narrowed(parts: Automaton, coming: Ranges) -> Automaton:
    """Parts with only those barred characters that may come, joined where these are the same."""
    by_barred: dict[Ranges, list[CharDfa]] = {}
    for dfa, barred in parts:
        by_barred.setdefault(meet(barred, coming), []).append(dfa)
    return tuple(
        (dfas[0] if len(dfas) == 1 else alternation(dfas), barred) for barred, dfas in by_barred.items()
    )


# --- a terminal among others ----------------------------------------------------------------------------


def rivals_of(graph: Graph, grammar: Grammar, tokens: Tokens) -> Rivals:
    """By terminal those that may be tried where it is read; of a graph in which nothing is left out yet."""
    nodes = graph.reached(graph.start)
    token_of = _tokens_of(graph, nodes)
    ignored = _ignored(grammar, tokens)
    everything = list({token.index: token for token in token_of.values()}.values())
    if len(everything) > _MANY_TOKENS:
        return Rivals(everything, ignored, None)
    place = {token.index: number for number, token in enumerate(everything)}
    numbers = {node: place[token.index] for node, token in token_of.items()}
    try:
        together = tried_together(graph, nodes, numbers, len(everything))
    except TooManyStates:
        together = _after_the_same(graph, nodes, numbers, len(everything))
    return Rivals(everything, ignored, together)


def _after_the_same(graph: Graph, nodes: list[int], numbers: dict[int, int], count: int) -> list[int]:
    """As `tried_together`, where there are too many states: all that may come after the same terminal."""
    first = first_sets(graph, nodes, {node: 1 << number for node, number in numbers.items()})
    follow = follow_sets(graph, nodes, first, 0)
    together = [0] * count
    for mask in {first[graph.start], *(follow[node] for node in numbers)}:
        for number in range(count):
            if mask >> number & 1:
                together[number] |= mask
    return together


_Machine = tuple[CharDfa, str, Ranges]
"""(automaton, role, what may not follow its texts). Roles: `before`, a rival that would match; `ended`, one
that would if nothing followed; `told`, one from whose match this one is told by its text; `keyword`, one that
is told from this one; `word`, a pattern of words that this one could be the beginning of; `part`, a part of
the terminal itself."""


class _Contest:
    """A terminal beside those that are tried before it."""

    def __init__(self, token: Token, rivals: Iterable[Token], ignored: list[Token]) -> None:
        self.token = token
        own = token.order
        self.before: list[tuple[Token, bool]] = []
        """(terminal tried before, whether it is told from this one by its text)."""
        self.keywords: list[Token] = []
        for rival in rivals:
            if rival.index == token.index:
                continue
            told = rival.priority == token.priority and rival.is_text != token.is_text
            if token in ignored or (rival in ignored and token.is_text):
                # What a pattern is ignored as, it is whatever its text.
                told = False
            if not token.is_text and told and _matches_whole(token, rival.value):
                self.keywords.append(rival)
            elif _may_be_tried_before(rival, token, own):
                self.before.append((rival, told and token.is_text and _matches_whole(rival, token.value)))

    def parts(self, patterns: Iterable[Token] = ()) -> Automaton:
        """The texts that are read back as this terminal, and the characters that may not follow them.

        A text does not run into a word: no letter follows with which one of `patterns` could go on from it.
        """
        automaton, whole = self.token.automaton, self.token.whole
        machines: list[_Machine] = []
        if self.token.is_text and (self.token.value[-1].isalnum() or self.token.value[-1] == "_"):
            machines += [(dfa, "word", ()) for dfa in _touching(whole, [token.whole for token in patterns])]
        for rival, told in self.before:
            if told:
                machines += [(dfa, "told", barred) for dfa, barred in rival.automaton]
        # Only whether one of them matches or could go on is asked, so one automaton does for all.
        firm = [rival.found for rival, told in self.before if not told]
        for role, dfas in (
            ("before", _touching(whole, [certain for certain, _ in firm])),
            ("ended", _touching(whole, [at_end for _, at_end in firm])),
            ("keyword", self._keyword_automata(whole)),
        ):
            if len(dfas) > _FEW:
                dfas = [alternation(dfas)]
            machines += [(dfa, role, ()) for dfa in dfas]
        goes_on = _always_goes_on(whole)
        machines += [
            (dfa, "part", barred) for dfa, barred in automaton if barred and meet(barred, goes_on) != barred
        ]
        if self.token.exact is not None:
            return _along(self.token.exact, whole, machines)
        return tuple(_run_beside(whole, machines))

    def _keyword_automata(self, whole: CharDfa) -> list[CharDfa]:
        return _touching(whole, [dfa for rival in self.keywords for dfa, _ in rival.automaton])


def _may_be_tried_before(rival: Token, token: Token, own: tuple[int, int, int, str]) -> bool:
    order = rival.order
    if order[:3] == own[:3] and (rival.name.startswith("__") or token.name.startswith("__")):
        # The name that Lark makes up decides.
        return True
    return order < own


def _matches_whole(token: Token, text: str) -> bool:
    """Whether a pattern, given a text, matches all of it."""
    return accepts(token.automaton, text)


def _touching(dfa: CharDfa, others: list[CharDfa]) -> list[CharDfa]:
    """Those that begin with a character that this one may begin with."""
    begins = _first(((dfa, ()),))
    return [other for other in others if _share(begins, _first(((other, ()),)))]


@lru_cache(maxsize=4096)
def _share(one: Ranges, other: Ranges) -> bool:
    """Whether there is a character in both."""
    return bool(meet(one, other))


def _always_goes_on(dfa: CharDfa) -> Ranges:
    """The characters with which every text goes on."""
    found: Ranges = charset.ALL
    for state in dfa.accepting:
        found = meet(found, charset.ranges((low, high) for low, high, _ in dfa.edges[state]))
    return found


def _along(text: str, dfa: CharDfa, machines: list[_Machine]) -> Automaton:
    """The product of a single text, whose automaton is given, with its rivals."""
    rivals: list[_Place] = [(0, False)] * len(machines)
    for char in text:
        point = ord(char)
        for number, (other, role, _) in enumerate(machines):
            if rivals[number] is not None:
                after = rivals[number] = _step(other, role, rivals[number], point)
                if after is _LOST:
                    return ()
    (end,) = dfa.accepting
    barred = _barred_at(dfa, ((end, False), *rivals), machines)
    return () if barred is None else ((dfa, barred),)


def _run_beside(dfa: CharDfa, machines: list[_Machine]) -> list[tuple[CharDfa, Ranges]]:
    """The product of a terminal with its rivals, by the characters that may not follow.

    A rival's place is (state, whether it has matched a beginning), or None when it can match no more.
    """
    automata = [dfa, *(other for other, _, _ in machines)]
    start: tuple[_Place, ...] = ((0, False),) * len(automata)
    number = {start: 0}
    order = [start]
    rows: list[list[tuple[Ranges, int]]] = []
    ends: dict[Ranges, set[int]] = {}
    for places in order:
        assert places[0] is not None
        own = places[0][0]
        if own in dfa.accepting:
            barred = _barred_at(dfa, places, machines)
            if barred is not None:
                ends.setdefault(barred, set()).add(len(rows))
        row: dict[int, list[tuple[int, int]]] = {}
        for low, high, following in _steps(dfa, places, machines):
            if following not in number:
                if len(order) > MAX_STATES:
                    raise GrammarError(f"telling terminals apart needs more than {MAX_STATES} states")
                number[following] = len(order)
                order.append(following)
            row.setdefault(number[following], []).append((low, high))
        rows.append([(charset.ranges(parts), target) for target, parts in row.items()])
    parts = ((build(rows, states), barred) for barred, states in ends.items())
    return [part for part in parts if part[0].edges]


_Place = tuple[int, bool] | None
_LOST: _Place = (-1, False)


def _steps(
    dfa: CharDfa, places: tuple[_Place, ...], machines: list[_Machine]
) -> Iterator[tuple[int, int, tuple[_Place, ...]]]:
    """(lowest, highest character, places after it) where the terminal goes on and no rival is taken."""
    assert places[0] is not None
    for low, high, target in dfa.edges[places[0][0]]:
        cuts = {low}
        for (other, _, _), place in zip(machines, places[1:], strict=True):
            if place is not None:
                for first, last, _ in _edges_within(other, place[0], low, high):
                    cuts |= {max(first, low), last + 1}
        points = sorted(cut for cut in cuts if cut <= high)
        for index, point in enumerate(points):
            following: list[_Place] = [(target, False)]
            for (other, role, _), place in zip(machines, places[1:], strict=True):
                after = _step(other, role, place, point)
                if after is _LOST:
                    break
                following.append(after)
            else:
                end = points[index + 1] - 1 if index + 1 < len(points) else high
                yield point, end, tuple(following)


def _edges_within(dfa: CharDfa, state: int, low: int, high: int) -> Iterator[tuple[int, int, int]]:
    edges = dfa.edges[state]
    at = max(bisect_right(edges, (low, LAST + 1, 0)) - 1, 0)
    while at < len(edges) and edges[at][0] <= high:
        if edges[at][1] >= low:
            yield edges[at]
        at += 1


def _step(other: CharDfa, role: str, place: _Place, point: int) -> _Place:
    """A rival's place after one more character; `_LOST` where the rival would be taken instead."""
    if place is None:
        return None
    state, matched = place
    if role == "told" and state in other.accepting:
        matched = True
    after = step(other, state, point)
    if after is None:
        return _LOST if matched else None
    if role == "before" and after in other.accepting:
        return _LOST
    return after, matched


_NO_LETTERS = meet(invert(charset.WORD), ((0, 0x7F),))


def _barred_at(dfa: CharDfa, places: tuple[_Place, ...], machines: list[_Machine]) -> Ranges | None:
    """The characters with which a terminal or a rival goes on from here; None if this is no text of it."""
    assert places[0] is not None
    found = [(low, high) for low, high, _ in dfa.edges[places[0][0]]]
    for (other, role, barred), place in zip(machines, places[1:], strict=True):
        if place is None:
            continue
        state, matched = place
        ends = state in other.accepting
        if (role in ("keyword", "ended") and ends) or (role == "told" and matched and not ends):
            return None
        if role != "before" and ends:
            # What may not follow this text; or the text is told from a match, so there must be one.
            found += barred
        goes_on = [(low, high) for low, high, _ in other.edges[state]]
        if role in ("before", "told") or (role == "word" and not meet(tuple(goes_on), _NO_LETTERS)):
            found += goes_on
    return charset.ranges(found)
