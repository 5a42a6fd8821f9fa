"""Terminal conflicts: what a terminal reads where a lexer tries others before it (see `lexical_spec`)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

from sglc.automata import charset, work
from sglc.automata.caches import small_cache
from sglc.automata.charset import Ranges, invert, meet
from sglc.automata.dfa.nfa_union import MAX_STATES, alternation
from sglc.automata.dfa.numbering import Numbering
from sglc.automata.dfa.operations import EMPTY_WORD, build, first_characters, literal, step, words
from sglc.automata.term import CharDfa
from sglc.cfg.lexer.conflict_sets import ConflictSets
from sglc.cfg.lexer.keyword_families import Families, Family
from sglc.cfg.lexer.match_semantics import Automaton, accepts
from sglc.cfg.lexer.terminals import Token
from sglc.cfg.model.errors import GrammarError

_FEW = 20
"""More competitors than this are united into one automaton first: only whether any of them matches counts."""


_Machine = tuple[CharDfa, str, Ranges]
"""(automaton, role, what may not follow its texts). Roles: `before`, a competitor that would match; `ended`,
one that would match if nothing followed; `told`, one from whose match this terminal is told by its text;
`keyword`, one that is told from this terminal; `word`, a pattern of words that this terminal could begin;
`part`, a part of the terminal itself."""


class TerminalConflict:
    """A terminal beside those that are tried before it."""

    def __init__(
        self,
        token: Token,
        competitors: Iterable[Token],
        ignored: list[Token],
        families: Iterable[Family] = (),
    ) -> None:
        """`families`: more competitors, of a pattern only."""
        self.token = token
        own = token.order
        self.before: list[tuple[Token, bool]] = []
        """(terminal tried before, whether it is told from this one by its text)."""
        self.keywords: list[Token] = []
        texts = None if token.is_text else _matching(token)
        for competitor in competitors:
            if competitor.index == token.index:
                continue
            told = competitor.priority == token.priority and competitor.is_text != token.is_text
            if token in ignored or (competitor in ignored and token.is_text):
                # What a pattern is ignored as, it is whatever its text.
                told = False
            if texts is not None and told and texts.matches(competitor.value):
                self.keywords.append(competitor)
            elif _may_be_tried_before(competitor, token, own):
                self.before.append(
                    (competitor, told and token.is_text and _matches_whole(competitor, token.value))
                )
        for family in families:
            one = family.tokens[0]
            told = one.priority == token.priority and token not in ignored
            if texts is not None and told and texts.matches(one.value):
                self.keywords += family.tokens
            elif one.order[:3] == own[:3]:
                self.before += [
                    (text, False) for text in family.tokens if _may_be_tried_before(text, token, own)
                ]
            elif one.order < own:
                self.before += [(text, False) for text in family.tokens]

    def parts(self, patterns: Iterable[Token] = ()) -> Automaton:
        """The texts that are read back as this terminal, and the characters that may not follow them.

        A text does not run into a word: no letter follows with which one of `patterns` could go on from it.
        """
        machines = self.machines(patterns)
        if self.token.exact is not None:
            return _along(self.token.exact, self.token.whole, machines)
        return tuple(_run_beside(self.token.whole, machines))

    def machines(self, patterns: Iterable[Token]) -> list[_Machine]:
        """The automata that run beside the terminal, each with its role in the conflict."""
        automaton, whole = self.token.automaton, self.token.whole
        machines: list[_Machine] = []
        if _is_word(self.token):
            machines += [(dfa, "word", ()) for dfa in _touching(whole, [token.whole for token in patterns])]
        for competitor, told in self.before:
            if told:
                machines += [(dfa, "told", forbidden) for dfa, forbidden in competitor.automaton]
        # Only whether one of them matches or could go on is asked, so one automaton does for all.
        firm = [competitor.found for competitor, told in self.before if not told]
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
            (dfa, "part", forbidden)
            for dfa, forbidden in automaton
            if forbidden and meet(forbidden, goes_on) != forbidden
        ]
        return machines

    def _keyword_automata(self, whole: CharDfa) -> list[CharDfa]:
        texts = [competitor.exact for competitor in self.keywords if competitor.exact is not None]
        if len(texts) == len(self.keywords) > _FEW:
            return [words(texts)]
        return _touching(whole, [dfa for competitor in self.keywords for dfa, _ in competitor.automaton])


def _is_word(token: Token) -> bool:
    return token.is_text and (token.value[-1].isalnum() or token.value[-1] == "_")


class _Run:
    """Runs texts along automata in step; texts that reach the same states are continued once.

    State 0 is the start; in LOST one of the machines has been taken instead.
    """

    def __init__(self, machines: list[_Machine]) -> None:
        self.machines = machines
        start = _start(machines)
        self._numbers = Numbering(start)
        self.places = self._numbers.order
        self._rows: dict[tuple[int, str], int] = {}
        self._forbidden_next: dict[int, Ranges | None] = {}

    def after(self, text: str) -> int:
        state = 0
        for char in text:
            following = self._rows.get((state, char))
            state = self._step(state, char) if following is None else following
            if state == LOST:
                break
        return state

    def _step(self, state: int, char: str) -> int:
        found, places = LOST, _after(self.machines, self.places[state], ord(char))
        if places is not None:
            found = self._numbers[places]
        self._rows[state, char] = found
        return found

    def matches(self, text: str) -> bool:
        """Whether one of the machines reads a text, where none can be taken instead."""
        ends = self.places[self.after(text)]
        return any([state in self.machines[number][0].accepting for number, state, _ in ends])

    def forbidden_next(self, state: int) -> Ranges | None:
        """What may not follow a text that has come there; None if it is not read back."""
        if state not in self._forbidden_next:
            self._forbidden_next[state] = _forbidden_after(EMPTY_WORD, 0, self.places[state], self.machines)
        return self._forbidden_next[state]


LOST = -1


class TerminalConflicts:
    """What each terminal reads under its conflicts with the others.

    A grammar may have thousands of keywords and few patterns. Where all terminals are tried everywhere, plain
    texts are analysed by families.
    """

    def __init__(self, conflict_sets: ConflictSets, ignored: list[Token], patterns: list[Token]) -> None:
        self.conflict_sets = conflict_sets
        self.ignored = ignored
        self.patterns = patterns
        self._runs: dict[object, _Run] = {}
        self._families: Families | None = None
        self._apart: list[Token] = []
        """Plain texts that are in no family."""
        if conflict_sets.together is None:
            plain = [token for tokens in conflict_sets.texts.values() for token in tokens]
            texts = [token for token in plain if token.exact is not None and token not in ignored]
            self._families = Families(texts, [*conflict_sets.others, *ignored])
            self._apart = [token for token in plain if token.index not in self._families.of]

    def parts(self, token: Token, tried: int | None = None) -> Automaton:
        """See `TerminalConflict.parts`; `tried` as in `ConflictSets.of`."""
        if token.exact is not None and token not in self.ignored:
            forbidden = self.forbidden_next(token, tried)
            return () if forbidden is None else ((literal(token.exact), forbidden),)
        if self._families is None or tried is not None or token.is_text:
            return TerminalConflict(token, self.conflict_sets.of(token, tried), self.ignored).parts(
                self.patterns
            )
        families = self._families.beginning(token)
        others = [*self.conflict_sets.patterns_beginning(token), *self._apart, *self.ignored]
        return TerminalConflict(token, others, self.ignored, families).parts(self.patterns)

    def forbidden_next(self, token: Token, tried: int | None = None) -> Ranges | None:
        """What may not follow a plain text that is not ignored; None if it is not read back."""
        family = self._families.of.get(token.index) if self._families and tried is None else None
        if family is None:
            return self._among(token, self.conflict_sets.of(token, tried), None)
        if not family.known:
            self._look_at(family)
        if family.patterns is None:
            return self._among(token, self.conflict_sets.of(token), None)
        if family.uniform and token.index not in self.conflict_sets.near:
            return family.forbidden_next
        return self._among(token, self.conflict_sets.texts_near(token.value.lower()), family)

    def _look_at(self, family: Family) -> None:
        """Find what all texts of a family share."""
        family.known = True
        token = family.tokens[0]
        char = token.value[0]
        some = [
            competitor
            for competitor in self.ignored
            if competitor.exact is None or competitor.exact[:1] == char
        ]
        some += self.conflict_sets.patterns_at(char.lower())
        if any(
            [competitor.exact is not None or competitor.order[:3] == token.order[:3] for competitor in some]
        ):
            return
        before = family.patterns = [competitor for competitor in some if competitor.order < token.order]
        assert self._families is not None
        told = {competitor.index for competitor in before if self._is_told(competitor, token)}
        family.uniform = self._families.tells_all(
            dfa for competitor in before if competitor.index not in told for dfa in competitor.found
        )
        if family.uniform:
            family.forbidden_next = self._among_patterns(token, before)

    def _among(self, token: Token, competitors: list[Token], family: Family | None) -> Ranges | None:
        """What may not follow a plain text among `competitors` and the patterns of its family."""
        text = token.value
        coming: list[tuple[int, int]] = []
        patterns: list[Token] = []
        for competitor in competitors:
            if competitor is token or not _may_be_tried_before(competitor, token, token.order):
                continue
            other = competitor.exact
            if other is None:
                patterns.append(competitor)
            elif text.startswith(other):
                return None
            elif other.startswith(text):
                coming.append((ord(other[len(text)]), ord(other[len(text)])))
        if family is not None and family.uniform and not patterns:
            forbidden = family.forbidden_next
        else:
            known = None if family is None else family.patterns
            forbidden = self._among_patterns(token, [*(known or ()), *patterns])
        return forbidden if forbidden is None or not coming else charset.ranges([*forbidden, *coming])

    def _among_patterns(self, token: Token, before: list[Token]) -> Ranges | None:
        """What may not follow a plain text on account of patterns that are tried before."""
        text = token.value
        others = [(competitor, self._is_told(competitor, token)) for competitor in before]
        key = text[0], _is_word(token), *[(competitor.index, told) for competitor, told in others]
        run = self._runs.get(key)
        if run is None:
            conflict = TerminalConflict(token, (), self.ignored)
            conflict.before = others
            run = self._runs[key] = _Run(conflict.machines(self.patterns))
        state = run.after(text)
        return None if state == LOST else run.forbidden_next(state)

    def _is_told(self, competitor: Token, token: Token) -> bool:
        told = (
            competitor.priority == token.priority
            and not competitor.is_text
            and competitor not in self.ignored
        )
        return told and self._matches_whole(competitor, token.value)

    def _matches_whole(self, pattern: Token, text: str) -> bool:
        run = self._runs.get(pattern.index)
        if run is None:
            run = self._runs[pattern.index] = _matching(pattern)
        return run.matches(text)


def _matching(pattern: Token) -> _Run:
    return _Run([(dfa, "plain", ()) for dfa, _ in pattern.automaton])


def _may_be_tried_before(competitor: Token, token: Token, own: tuple[int, int, int, str]) -> bool:
    order = competitor.order
    if order[:3] == own[:3] and (competitor.name.startswith("__") or token.name.startswith("__")):
        # The name that Lark makes up decides.
        return True
    return order < own


def _matches_whole(token: Token, text: str) -> bool:
    """Whether a pattern, given a text, matches all of it."""
    return accepts(token.automaton, text)


def _touching(dfa: CharDfa, others: list[CharDfa]) -> list[CharDfa]:
    """Those that begin with a character that this one may begin with."""
    begins = first_characters([dfa])
    return [other for other in others if share(begins, first_characters([other]))]


@small_cache(4096)
def share(one: Ranges, other: Ranges) -> bool:
    """Whether there is a character in both."""
    return bool(meet(one, other))


def _always_goes_on(dfa: CharDfa) -> Ranges:
    """The characters with which every text goes on."""
    found: Ranges = charset.ALL
    for state in dfa.accepting:
        found = meet(found, charset.ranges((low, high) for low, high, _ in dfa.edges[state]))
    return found


def _along(text: str, dfa: CharDfa, machines: list[_Machine]) -> Automaton:
    """The product of a single text, whose automaton is given, with its competitors."""
    competitors = _start(machines)
    for char in text:
        after = _after(machines, competitors, ord(char))
        if after is None:
            return ()
        competitors = after
    (end,) = dfa.accepting
    forbidden = _forbidden_after(dfa, end, competitors, machines)
    return () if forbidden is None else ((dfa, forbidden),)


def _run_beside(dfa: CharDfa, machines: list[_Machine]) -> list[tuple[CharDfa, Ranges]]:
    """The product of a terminal with its competitors, by the characters that may not follow."""
    if not dfa.edges:
        return []
    start = 0, _start(machines)
    beyond = GrammarError(f"telling terminals apart needs more than {MAX_STATES} states")
    number = Numbering(start, limit=MAX_STATES, beyond=beyond)
    rows: list[list[tuple[Ranges, int]]] = []
    ends: dict[Ranges, set[int]] = {}
    for own, competitors in number.order:
        work.spend(20)
        if own in dfa.accepting:
            forbidden = _forbidden_after(dfa, own, competitors, machines)
            if forbidden is not None:
                ends.setdefault(forbidden, set()).add(len(rows))
        row: dict[int, list[tuple[int, int]]] = {}
        for low, high, following in _steps(dfa, own, competitors, machines):
            row.setdefault(number[following], []).append((low, high))
        rows.append([(charset.ranges(parts), target) for target, parts in row.items()])
    parts = ((build(rows, states), forbidden) for forbidden, states in ends.items())
    return [part for part in parts if part[0].edges]


_Places = tuple[tuple[int, int, bool], ...]
"""(number of a machine, its state, whether it has matched a beginning) of those that may still match."""


def _start(machines: list[_Machine]) -> _Places:
    return tuple([(number, 0, False) for number in range(len(machines))])


def _steps(
    dfa: CharDfa, own: int, competitors: _Places, machines: list[_Machine]
) -> Iterator[tuple[int, int, tuple[int, _Places]]]:
    """(lowest, highest character, places after it) where the terminal goes on and no competitor is taken."""
    cuts: set[int] = set()
    for number, state, _ in competitors:
        for first, last, _ in machines[number][0].edges[state]:
            cuts |= {first, last + 1}
    order = sorted(cuts)
    for low, high, target in dfa.edges[own]:
        # All competitors do the same with all characters between two cuts.
        inside = order[bisect_right(order, low) : bisect_right(order, high)]
        for first, last in pairwise([low, *inside, high + 1]):
            following = _after(machines, competitors, first)
            if following is not None:
                yield first, last - 1, (target, following)


def _after(machines: list[_Machine], competitors: _Places, point: int) -> _Places | None:
    """The places of competitors after one more character; None where one of them would be taken instead."""
    found = []
    for number, state, matched in competitors:
        other, role, _ = machines[number]
        if role == "told" and state in other.accepting:
            matched = True
        after = step(other, state, point)
        if after is not None:
            if role == "before" and after in other.accepting:
                return None
            found.append((number, after, matched))
        elif matched:
            return None
    return tuple(found)


_NO_LETTERS = meet(invert(charset.WORD), ((0, 0x7F),))


def _forbidden_after(dfa: CharDfa, own: int, competitors: _Places, machines: list[_Machine]) -> Ranges | None:
    """The characters that continue a terminal or a competitor from here; None if this is no text of it."""
    found = [(low, high) for low, high, _ in dfa.edges[own]]
    for number, state, matched in competitors:
        other, role, forbidden = machines[number]
        ends = state in other.accepting
        if (role in ("keyword", "ended") and ends) or (role == "told" and matched and not ends):
            return None
        if role != "before" and ends:
            # What may not follow this text; or the text is told from a match, so there must be one.
            found += forbidden
        goes_on = [(low, high) for low, high, _ in other.edges[state]]
        if role in ("before", "told") or (role == "word" and not meet(tuple(goes_on), _NO_LETTERS)):
            found += goes_on
    return charset.ranges(found)
