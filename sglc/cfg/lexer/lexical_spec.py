"""The lexical specification: what each terminal reads, and which characters may not follow it.

`dynamic` is what Lark's Earley parser does with `lexer="dynamic_complete"`: a terminal matches as its
pattern can, whatever else could match there. `longest` is what a lexer does, and more exactly Lark's
contextual lexer: it tries the terminals that may come at a position in a fixed order and takes the longest
match of the first that matches; a keyword inside an identifier's pattern is recognised by its whole text. A
text is lexed back as it was written if, for each of its terminals T,

- T does not go on into what follows,
- no terminal that is tried before T matches at its position, neither in the text of T nor beyond it,
- T is not the text of a keyword that is told from T by its text.

The first two leave characters that may not follow, one of which is enough to know; the others take words
away from T. Where only a character further on would tell, the first one is forbidden: the texts that are left
are still lexed back as they were written.

Ignored text is matched as long as it goes in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sglc.automata import charset
from sglc.automata.charset import Ranges, blocks_of, meet
from sglc.automata.dfa.nfa_union import alternation
from sglc.automata.dfa.operations import any_char_class
from sglc.automata.term import CharDfa
from sglc.cfg.analysis.equivalence_classes import EquivalenceClasses
from sglc.cfg.analysis.first_sets import FirstSets, follow_sets
from sglc.cfg.lexer.conflict_sets import ConflictSets
from sglc.cfg.lexer.ignored import skipped
from sglc.cfg.lexer.lexeme_parts import Beginning, LexemeParts, first_of
from sglc.cfg.lexer.lr0_states import TooManyStates, tried_together
from sglc.cfg.lexer.match_semantics import Automaton
from sglc.cfg.lexer.terminal_conflicts import TerminalConflict, TerminalConflicts, share
from sglc.cfg.lexer.terminals import Token, Tokens
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.grammar import Grammar
from sglc.cfg.model.graph import LEAF, Graph

MANY_NODES = 5_000
"""So many parts of a grammar are looked at by classes."""
MANY_TOKENS = 1_000
"""Beyond this, any two terminals are taken to be possible at the same place."""


@dataclass(frozen=True, slots=True)
class LexicalSpec:
    """What is read by each leaf (`parts`), and by ignored text; without ignored terminals `skip` is None.

    Each part is a set of texts with the characters that may not follow them. With `whole`, terminals that are
    data are read whole, and their part tells only how they begin. `plain`: anything may follow any of them.
    """

    parts: Mapping[int, Automaton]
    skip: Automaton | None
    whole: bool = False
    plain: bool = False
    equivalence: EquivalenceClasses | None = None
    """Classes of parts, where the grammar is large; the leaves of one have parts with the same first
    characters that forbid the same next characters."""
    ends: tuple[Ranges, ...] = ()
    """What may not follow some part of a leaf, each once; not of a plain specification."""
    hollow: bool = False
    """Whether some leaf reads nothing; not of a plain specification."""


class _LateParts(Mapping[int, Automaton]):
    """What leaves read by their patterns alone, made at first use."""

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


def plain_spec(graph: Graph, grammar: Grammar, tokens: Tokens) -> LexicalSpec | None:
    """Terminals by their patterns alone, if anything may follow any of them."""
    leaves = [about for kind, about in zip(graph.kind, graph.about, strict=True) if kind == LEAF]
    if any([_looks_ahead(about) for about in leaves]):
        return None
    skip = skipped(grammar, tokens, {})
    if skip and any([forbidden for _, forbidden in skip]):
        # Ignored text goes on as long as it can, which matters where something else begins like it.
        exact = [about.exact if isinstance(about, Token) else None for about in leaves]
        chars = {text[0] for text in exact if text}
        firsts: set[Ranges] = {((ord(char), ord(char)),) for char in chars}
        firsts |= {first_of(_reads(about)) for about, text in zip(leaves, exact, strict=True) if text is None}
        if any([share(forbidden, first) for _, forbidden in skip for first in firsts]):
            return None
        skip = _narrowed(skip, ())
    return LexicalSpec(_LateParts(graph), skip, whole=True, plain=True)


def dynamic_spec(
    graph: Graph, nodes: list[int], grammar: Grammar, tokens: Tokens, *, by_class: bool = False
) -> LexicalSpec:
    """Terminals of `nodes`, which are all below the start, by their patterns alone; see `_relevant`."""
    parts = {node: _reads(graph.about[node]) for node in nodes if graph.kind[node] == LEAF}
    leaves = LexemeParts(parts, {}, {})
    return replace(_relevant(graph, nodes, leaves, skipped(grammar, tokens, {}), by_class), whole=True)


def longest_spec(
    graph: Graph,
    nodes: list[int],
    grammar: Grammar,
    tokens: Tokens,
    conflict_sets: ConflictSets,
    *,
    by_class: bool = False,
) -> LexicalSpec:
    """Terminals of `nodes`, which are all below the start, as a lexer tells them from each other; see
    `_relevant`."""
    token_of = _tokens_of(graph, nodes)
    ignored = _ignored(grammar, tokens)
    # Where blanks may part words, they must: a keyword is no beginning of a name.
    used = {token.index: token for token in token_of.values()}.values()
    patterns = [token for token in used if ignored and not token.is_text and not token.words]
    conflicts = TerminalConflicts(conflict_sets, ignored, patterns)
    known: dict[tuple[int, int | None], Automaton] = {}
    made: dict[int, Automaton] = {}
    texts: dict[int, str] = {}
    ends: dict[int, Ranges] = {}
    for node, token in token_of.items():
        tried = conflict_sets.at.get(node)
        text = token.exact
        if token in ignored:
            # A lexer drops what is ignored before the parser could ask for it.
            made[node] = ()
        elif text is not None:
            forbidden = conflicts.forbidden_next(token, tried)
            if forbidden is None:
                made[node] = ()
            else:
                texts[node], ends[node] = text, forbidden
        else:
            if (token.index, tried) not in known:
                known[token.index, tried] = conflicts.parts(token, tried)
            made[node] = known[token.index, tried]
    # Ignored text may be tried anywhere.
    everywhere = conflict_sets
    if conflict_sets.together is not None:
        everywhere = ConflictSets([*{token.index: token for token in (*used, *ignored)}.values()], [], None)
    matched = {
        token.index: TerminalConflict(token, everywhere.of(token), ignored).parts() for token in ignored
    }
    return _relevant(
        graph, nodes, LexemeParts(made, texts, ends), skipped(grammar, tokens, matched), by_class
    )


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
    return not about.automaton or any([forbidden for _, forbidden in about.automaton])


# --- which characters matter ----------------------------------------------------------------------------


def _relevant(
    graph: Graph, nodes: list[int], parts: LexemeParts, skip: Automaton | None, by_class: bool
) -> LexicalSpec:
    """Bar only characters that could come: most terminals then need not look ahead at all.

    `by_class`: look at classes of parts, for which `nodes` are mostly in the order from above to below.
    """
    if not any([*parts.ends(), *[forbidden for _, forbidden in skip or ()]]):
        return LexicalSpec(parts, skip, ends=tuple(parts.ends()), hollow=parts.hollow)
    beginnings = parts.beginnings()
    if by_class:
        classes = EquivalenceClasses(graph, nodes, beginnings)
        of, graph, nodes = classes.of, classes.classes, classes.order
        sets = {number: _first_of_all(beginnings[leaf]) for number, leaf in classes.leaf.items()}
    else:
        classes, of = None, list(range(len(graph.kind)))
        sets = {node: _first_of_all(begins) for node, begins in beginnings.items()}
    blocks, members = blocks_of(sets.values())
    bits = {these: sum(1 << block for block in inside) for these, inside in members.items()}
    follow = follow_sets(graph, nodes, FirstSets(graph, lambda leaf: bits[sets[leaf]]))
    skipped = first_of(skip) if skip else ()

    def coming(mask: int) -> Ranges:
        found = [part for block, these in enumerate(blocks) if mask >> block & 1 for part in these]
        return charset.ranges([*found, *skipped])

    known: dict[int, Ranges] = {}
    made: dict[int, Automaton] = {}
    for node, these in parts.made.items():
        if any([forbidden for _, forbidden in these]):
            mask = follow[of[node]]
            if mask not in known:
                known[mask] = coming(mask)
            these = _narrowed(these, known[mask])
        made[node] = these
    # Texts of one class forbid the same next characters.
    kept: dict[int, Ranges] = {}
    same: dict[tuple[int, Ranges], Ranges] = {}
    texts: dict[int, Ranges] = {}
    for node, forbidden in parts.forbidden_next.items():
        number = of[node]
        found = kept.get(number)
        if found is None:
            mask = follow[number]
            if mask not in known:
                known[mask] = coming(mask)
            found = kept[number] = same.setdefault((mask, forbidden), meet(forbidden, known[mask]))
        texts[node] = found
    if skip:
        skip = _narrowed(skip, charset.ranges(part for these in members for part in these))
    found_parts = LexemeParts(made, parts.texts, texts)
    ends, hollow = tuple(found_parts.ends()), found_parts.hollow
    return LexicalSpec(found_parts, skip, equivalence=classes, ends=ends, hollow=hollow)


def _first_of_all(begins: Beginning) -> Ranges:
    return begins[0][0] if len(begins) == 1 else charset.ranges(part for first, _ in begins for part in first)


def _narrowed(parts: Automaton, coming: Ranges) -> Automaton:
    """Parts with only those forbidden characters that may come, joined where these are the same."""
    by_forbidden: dict[Ranges, list[CharDfa]] = {}
    for dfa, forbidden in parts:
        by_forbidden.setdefault(meet(forbidden, coming), []).append(dfa)
    return tuple(
        (dfas[0] if len(dfas) == 1 else alternation(dfas), forbidden)
        for forbidden, dfas in by_forbidden.items()
    )


# --- a terminal among others ----------------------------------------------------------------------------


def conflict_sets_of(graph: Graph, grammar: Grammar, tokens: Tokens) -> ConflictSets:
    """By terminal those that may be tried where it is read; of a graph in which nothing is left out yet.

    Leaves of the graph are parted where a terminal has other competitors in one place than in another.
    """
    nodes = graph.reached(graph.start)
    token_of = _tokens_of(graph, nodes)
    ignored = _ignored(grammar, tokens)
    everything = list({token.index: token for token in token_of.values()}.values())
    if len(everything) > MANY_TOKENS:
        return ConflictSets(everything, ignored, None)
    place = {token.index: number for number, token in enumerate(everything)}
    numbers = {node: place[token.index] for node, token in token_of.items()}
    try:
        together, apart = tried_together(graph, nodes, numbers, len(everything))
    except TooManyStates:
        return ConflictSets(everything, ignored, _after_the_same(graph, nodes, numbers, len(everything)))
    conflict_sets = ConflictSets(everything, ignored, together)
    conflict_sets.tell_apart(graph, apart)
    return conflict_sets


def _after_the_same(graph: Graph, nodes: list[int], numbers: dict[int, int], count: int) -> list[int]:
    """As `tried_together`, where there are too many states: all that may come after the same terminal."""
    first = FirstSets(graph, lambda leaf: 1 << numbers[leaf])
    follow = follow_sets(graph, nodes, first)
    together = [0] * count
    for mask in {first[graph.start], *(follow[node] for node in numbers)}:
        for number in range(count):
            if mask >> number & 1:
                together[number] |= mask
    return together
