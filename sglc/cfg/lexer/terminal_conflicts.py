"""A terminal among those that a lexer might take for it: see `sglc.cfg.lexer.lexis`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

from sglc.automata import charset, work
from sglc.automata.caches import small_cache
from sglc.automata.charset import Ranges, invert, meet
from sglc.automata.dfa.operations import EMPTY_WORD, build, literal, step, words
from sglc.automata.term import CharDfa
from sglc.cfg.lexer.conflict_sets import Rivals
from sglc.cfg.lexer.keyword_families import Families, Family
from sglc.cfg.lexer.match_semantics import Automaton, accepts
from sglc.cfg.lexer.nfa_union import alternation
from sglc.cfg.lexer.terminals import Token
from sglc.cfg.model.errors import GrammarError

MAX_STATES = 20_000
"""States of one terminal beside those that it must not be taken for."""
_FEW = 20
"""More rivals than this are made one automaton first: it is only asked whether any of them matches."""


_Machine = tuple[CharDfa, str, Ranges]
"""(automaton, role, what may not follow its texts). Roles: `before`, a rival that would match; `ended`, one
that would if nothing followed; `told`, one from whose match this one is told by its text; `keyword`, one that
is told from this one; `word`, a pattern of words that this one could be the beginning of; `part`, a part of
the terminal itself."""


class Contest:
    """A terminal beside those that are tried before it."""

    def __init__(
        self, token: Token, rivals: Iterable[Token], ignored: list[Token], families: Iterable[Family] = ()
    ) -> None:  # fmt: skip
        """`families`: more rivals, of a pattern only."""
        self.token = token
        own = token.order
        self.before: list[tuple[Token, bool]] = []
        """(terminal tried before, whether it is told from this one by its text)."""
        self.keywords: list[Token] = []
        texts = None if token.is_text else _matching(token)
        for rival in rivals:
            if rival.index == token.index:
                continue
            told = rival.priority == token.priority and rival.is_text != token.is_text
            if token in ignored or (rival in ignored and token.is_text):
                # What a pattern is ignored as, it is whatever its text.
                told = False
            if texts is not None and told and texts.matches(rival.value):
                self.keywords.append(rival)
            elif _may_be_tried_before(rival, token, own):
                self.before.append((rival, told and token.is_text and _matches_whole(rival, token.value)))
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
        automaton, whole = self.token.automaton, self.token.whole
        machines: list[_Machine] = []
        if _is_word(self.token):
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
        return machines

    def _keyword_automata(self, whole: CharDfa) -> list[CharDfa]:
        texts = [rival.exact for rival in self.keywords if rival.exact is not None]
        if len(texts) == len(self.keywords) > _FEW:
            return [words(texts)]
        return _touching(whole, [dfa for rival in self.keywords for dfa, _ in rival.automaton])


def _is_word(token: Token) -> bool:
    return token.is_text and (token.value[-1].isalnum() or token.value[-1] == "_")


class _Run:
    """Texts along machines, one character after the other; texts that come to the same places go on together.

    State 0 is the start; in LOST one of the machines has been taken instead.
    """

    def __init__(self, machines: list[_Machine]) -> None:
        self.machines = machines
        start = _start(machines)
        self.places = [start]
        self._numbers = {start: 0}
        self._rows: dict[tuple[int, str], int] = {}
        self._barred: dict[int, Ranges | None] = {}

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
            found = self._numbers.setdefault(places, len(self.places))
            if found == len(self.places):
                self.places.append(places)
        self._rows[state, char] = found
        return found

    def matches(self, text: str) -> bool:
        """Whether one of the machines reads a text, where none can be taken instead."""
        ends = self.places[self.after(text)]
        return any([state in self.machines[number][0].accepting for number, state, _ in ends])

    def barred(self, state: int) -> Ranges | None:
        """What may not follow a text that has come there; None if it is not read back."""
        if state not in self._barred:
            self._barred[state] = _barred_at(EMPTY_WORD, 0, self.places[state], self.machines)
        return self._barred[state]


LOST = -1


class Contests:
    """What each terminal reads beside the others.

    A grammar may have thousands of keywords, each beside the same few patterns. Where all terminals are tried
    everywhere, plain texts are looked at by families.
    """

    def __init__(self, rivals: Rivals, ignored: list[Token], patterns: list[Token]) -> None:
        self.rivals = rivals
        self.ignored = ignored
        self.patterns = patterns
        self._runs: dict[object, _Run] = {}
        self._families: Families | None = None
        self._apart: list[Token] = []
        """Plain texts that are in no family."""
        if rivals.together is None:
            plain = [token for tokens in rivals.texts.values() for token in tokens]
            texts = [token for token in plain if token.exact is not None and token not in ignored]
            self._families = Families(texts, [*rivals.others, *ignored])
            self._apart = [token for token in plain if token.index not in self._families.of]

    def parts(self, token: Token, tried: int | None = None) -> Automaton:
        """See `Contest.parts`; `tried` as in `Rivals.of`."""
        if token.exact is not None and token not in self.ignored:
            barred = self.barred(token, tried)
            return () if barred is None else ((literal(token.exact), barred),)
        if self._families is None or tried is not None or token.is_text:
            return Contest(token, self.rivals.of(token, tried), self.ignored).parts(self.patterns)
        families = self._families.beginning(token)
        others = [*self.rivals.patterns_beginning(token), *self._apart, *self.ignored]
        return Contest(token, others, self.ignored, families).parts(self.patterns)

    def barred(self, token: Token, tried: int | None = None) -> Ranges | None:
        """What may not follow a plain text that is not ignored; None if it is not read back."""
        family = self._families.of.get(token.index) if self._families and tried is None else None
        if family is None:
            return self._among(token, self.rivals.of(token, tried), None)
        if not family.known:
            self._look_at(family)
        if family.patterns is None:
            return self._among(token, self.rivals.of(token), None)
        if family.alike and token.index not in self.rivals.near:
            return family.barred
        return self._among(token, self.rivals.texts_near(token.value.lower()), family)

    def _look_at(self, family: Family) -> None:
        """Find what all texts of a family share."""
        family.known = True
        token = family.tokens[0]
        char = token.value[0]
        some = [rival for rival in self.ignored if rival.exact is None or rival.exact[:1] == char]
        some += self.rivals.patterns_at(char.lower())
        if any([rival.exact is not None or rival.order[:3] == token.order[:3] for rival in some]):
            return
        before = family.patterns = [rival for rival in some if rival.order < token.order]
        assert self._families is not None
        told = {rival.index for rival in before if self._is_told(rival, token)}
        family.alike = self._families.tells_all(
            dfa for rival in before if rival.index not in told for dfa in rival.found
        )
        if family.alike:
            family.barred = self._among_patterns(token, before)

    def _among(self, token: Token, rivals: list[Token], family: Family | None) -> Ranges | None:
        """What may not follow a plain text among `rivals` and the patterns of its family."""
        text = token.value
        coming: list[tuple[int, int]] = []
        patterns: list[Token] = []
        for rival in rivals:
            if rival is token or not _may_be_tried_before(rival, token, token.order):
                continue
            other = rival.exact
            if other is None:
                patterns.append(rival)
            elif text.startswith(other):
                return None
            elif other.startswith(text):
                coming.append((ord(other[len(text)]), ord(other[len(text)])))
        if family is not None and family.alike and not patterns:
            barred = family.barred
        else:
            known = None if family is None else family.patterns
            barred = self._among_patterns(token, [*(known or ()), *patterns])
        return barred if barred is None or not coming else charset.ranges([*barred, *coming])

    def _among_patterns(self, token: Token, before: list[Token]) -> Ranges | None:
        """What may not follow a plain text on account of patterns that are tried before."""
        text = token.value
        others = [(rival, self._is_told(rival, token)) for rival in before]
        key = text[0], _is_word(token), *[(rival.index, told) for rival, told in others]
        run = self._runs.get(key)
        if run is None:
            contest = Contest(token, (), self.ignored)
            contest.before = others
            run = self._runs[key] = _Run(contest.machines(self.patterns))
        state = run.after(text)
        return None if state == LOST else run.barred(state)

    def _is_told(self, rival: Token, token: Token) -> bool:
        told = rival.priority == token.priority and not rival.is_text and rival not in self.ignored
        return told and self._matches_whole(rival, token.value)

    def _matches_whole(self, pattern: Token, text: str) -> bool:
        run = self._runs.get(pattern.index)
        if run is None:
            run = self._runs[pattern.index] = _matching(pattern)
        return run.matches(text)


def _matching(pattern: Token) -> _Run:
    return _Run([(dfa, "plain", ()) for dfa, _ in pattern.automaton])


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
    begins = _begins(dfa)
    return [other for other in others if share(begins, _begins(other))]


def _begins(dfa: CharDfa) -> Ranges:
    return charset.ranges((low, high) for low, high, _ in dfa.edges[0]) if dfa.edges else ()


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
    """The product of a single text, whose automaton is given, with its rivals."""
    rivals = _start(machines)
    for char in text:
        after = _after(machines, rivals, ord(char))
        if after is None:
            return ()
        rivals = after
    (end,) = dfa.accepting
    barred = _barred_at(dfa, end, rivals, machines)
    return () if barred is None else ((dfa, barred),)


def _run_beside(dfa: CharDfa, machines: list[_Machine]) -> list[tuple[CharDfa, Ranges]]:
    """The product of a terminal with its rivals, by the characters that may not follow."""
    if not dfa.edges:
        return []
    start = 0, _start(machines)
    number = {start: 0}
    order = [start]
    rows: list[list[tuple[Ranges, int]]] = []
    ends: dict[Ranges, set[int]] = {}
    for own, rivals in order:
        if own in dfa.accepting:
            barred = _barred_at(dfa, own, rivals, machines)
            if barred is not None:
                ends.setdefault(barred, set()).add(len(rows))
        row: dict[int, list[tuple[int, int]]] = {}
        for low, high, following in _steps(dfa, own, rivals, machines):
            if following not in number:
                if len(order) > MAX_STATES:
                    raise GrammarError(f"telling terminals apart needs more than {MAX_STATES} states")
                number[following] = len(order)
                order.append(following)
                work.spend(20)
            row.setdefault(number[following], []).append((low, high))
        rows.append([(charset.ranges(parts), target) for target, parts in row.items()])
    parts = ((build(rows, states), barred) for barred, states in ends.items())
    return [part for part in parts if part[0].edges]


_Places = tuple[tuple[int, int, bool], ...]
"""(number of a machine, its state, whether it has matched a beginning) of those that may still match."""


def _start(machines: list[_Machine]) -> _Places:
    return tuple([(number, 0, False) for number in range(len(machines))])


def _steps(
    dfa: CharDfa, own: int, rivals: _Places, machines: list[_Machine]
) -> Iterator[tuple[int, int, tuple[int, _Places]]]:
    """(lowest, highest character, places after it) where the terminal goes on and no rival is taken."""
    cuts: set[int] = set()
    for number, state, _ in rivals:
        for first, last, _ in machines[number][0].edges[state]:
            cuts |= {first, last + 1}
    order = sorted(cuts)
    for low, high, target in dfa.edges[own]:
        # All rivals do the same with all characters between two cuts.
        inside = order[bisect_right(order, low) : bisect_right(order, high)]
        for first, last in pairwise([low, *inside, high + 1]):
            following = _after(machines, rivals, first)
            if following is not None:
                yield first, last - 1, (target, following)


def _after(machines: list[_Machine], rivals: _Places, point: int) -> _Places | None:
    """The places of rivals after one more character; None where one of them would be taken instead."""
    found = []
    for number, state, matched in rivals:
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


def _barred_at(dfa: CharDfa, own: int, rivals: _Places, machines: list[_Machine]) -> Ranges | None:
    """The characters with which a terminal or a rival goes on from here; None if this is no text of it."""
    found = [(low, high) for low, high, _ in dfa.edges[own]]
    for number, state, matched in rivals:
        other, role, barred = machines[number]
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
