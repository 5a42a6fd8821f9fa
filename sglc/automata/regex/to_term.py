"""`regex_term`: a pattern as a term in which large counted repeats are counted, not unrolled.

`[a-z]{1,3000}` as an automaton has 3,001 states; as a `Text` it has one and a counter. So loops over single
characters become a `Text` with bounds, other large loops a `Repeat`, and what stands around them a `Sequence`
or a `Choice`. All of these mean in terms what they mean in patterns, so the result is exact. What is small,
and what has `^`, `$`, `\\b` or lookaround inside, becomes one automaton.
"""

from __future__ import annotations

from sglc.automata import term as t
from sglc.automata import work
from sglc.automata.caches import remembered
from sglc.automata.charset import Ranges, ranges
from sglc.automata.dfa.operations import EMPTY_WORD, NONE, all_words, difference, intersect
from sglc.automata.regex import tree as r
from sglc.automata.regex.compile import DEFAULT_LIMIT, compile_node, compile_small, compile_within
from sglc.automata.regex.dialects import DialectName
from sglc.automata.regex.parse import parse_regex

MAX_UNROLLED = 40
"""A loop is counted rather than unrolled if it has more copies of characters."""

EAGER_STATES = 2_000
"""States, and a hundred times the work, up to which an automaton is made deterministic at once."""


@remembered
def regex_term(
    pattern: str,
    *,
    anchored: bool = True,
    ignore_case: bool = False,
    limit: int = DEFAULT_LIMIT,
    dialect: DialectName = "sgl",
    encoding: t.Encoding = "raw",
) -> t.Term:
    """The texts that `compile_regex` accepts, as a term; raises RegexError as it does.

    The whole is a single `Text` for most patterns, with bounds on its length for patterns such as
    `^id-[a-z]{1,64}$`; a caller may intersect a `Text` with more.
    """
    node = _joined(parse_regex(pattern, ignore_case=ignore_case, dialect=dialect))
    with work.part(r.costliest(pattern, node), unless_named=True):
        return _Terms(limit, encoding).term(node, not anchored, not anchored)


@remembered
def regex_texts(
    pattern: str,
    *,
    anchored: bool = True,
    ignore_case: bool = False,
    limit: int = DEFAULT_LIMIT,
    dialect: DialectName = "sgl",
) -> tuple[t.Text, ...] | None:
    """The same as a union of automata with bounds on the length, for those who intersect them with others.

    Repeats that no bound on the whole length can count are unrolled. No element: nothing matches. None: that
    would take a large automaton.
    """
    term = regex_term(pattern, anchored=anchored, ignore_case=ignore_case, limit=limit, dialect=dialect)
    arms = term.arms if isinstance(term, t.Choice) else (term,)
    texts = tuple(arm for arm in arms if isinstance(arm, t.Text))
    if len(texts) == len(arms) or term == t.Nothing():
        return texts
    node = parse_regex(pattern, ignore_case=ignore_case, dialect=dialect)
    try:
        found = compile_within(
            node, open_left=not anchored, open_right=not anchored, small=EAGER_STATES, limit=limit
        )
    except r.RegexError:
        return None
    return None if found is None else (t.Text(found),)


class _Terms:
    def __init__(self, limit: int, encoding: t.Encoding) -> None:
        self.limit = limit
        self.encoding = encoding

    def term(self, node: r.Node, left: bool, right: bool) -> t.Term:
        """`left`, `right`: any text may come before or follow."""
        node, left, right = r.without_anchors(node, left, right)
        if left:
            node = r.cut(node, left=True)
        if right:
            node = r.cut(node, left=False)
        measured = self.measured(node, left, right)
        if measured is not None:
            return measured
        if not _is_large(node):
            return self.text(node, left, right)
        if isinstance(node, r.Either):
            return self.choice(node, left, right)
        items = node.items if isinstance(node, r.Join) else (node,)
        if any(r.has_places(item) and _is_large(item) for item in items) or not _are_apart(items):
            return self.text(node, left, right)
        return self.sequence(items, left, right)

    def text(self, node: r.Node, left: bool = False, right: bool = False) -> t.Term:
        """One automaton, deterministic unless it would be large."""
        small = min(self.limit, EAGER_STATES)
        found = compile_small(node, open_left=left, open_right=right, small=small, limit=self.limit)
        if isinstance(found, t.CharNfa):
            return t.Pattern(found, self.encoding)
        return t.Text(found, self.encoding) if found.edges else t.Nothing()

    def choice(self, node: r.Either, left: bool, right: bool) -> t.Term:
        small = tuple(arm for arm in node.arms if not _is_large(arm))
        arms = [self.term(arm, left, right) for arm in node.arms if _is_large(arm)]
        if small:
            arms.append(self.text(r.Either(small), left, right))
        arms = [arm for arm in dict.fromkeys(arms) if arm != t.Nothing()]
        return arms[0] if len(arms) == 1 else t.Choice(tuple(arms)) if arms else t.Nothing()

    def sequence(self, items: tuple[r.Node, ...], left: bool, right: bool) -> t.Term:
        if not left and not right:
            counted = self.counted(items)
            if counted is not None:
                return counted
        out: list[t.Term] = []
        run: list[r.Node] = []
        for item in items:
            if _is_large(item):
                if run or (left and not out):
                    out.append(self.text(r.Join(tuple(run)), left=left and not out))
                run = []
                out.append(self.loop(item) if isinstance(item, r.Loop) else self.term(item, False, False))
            else:
                run.append(item)
        if run or right:
            out.append(self.text(r.Join(tuple(run)), right=right))
        if t.Nothing() in out:
            return t.Nothing()
        return out[0] if len(out) == 1 else t.Sequence(tuple(out))

    def counted(self, items: tuple[r.Node, ...]) -> t.Term | None:
        """One large loop where all else has one length: the length of the whole tells the rounds."""
        if any(map(r.has_places, items)):
            return None
        large = [item for item in items if _is_large(item)]
        widths = [_width(item) for item in items if not _is_large(item)]
        if len(large) != 1 or None in widths:
            return None
        (loop,) = large
        width = _width(loop.item) if isinstance(loop, r.Loop) and not _is_large(loop.item) else None
        if not isinstance(loop, r.Loop) or not width:
            return None
        rest = sum(each for each in widths if each is not None)
        any_rounds = r.Loop(loop.item, 0, None, loop.position)
        whole = self.text(r.Join(tuple(any_rounds if item is loop else item for item in items)))
        most = None if loop.maximum is None else rest + width * loop.maximum
        if isinstance(whole, t.Pattern):
            return None
        if not isinstance(whole, t.Text):
            return whole
        return t.Text(whole.dfa, self.encoding, rest + width * loop.minimum, most)

    def loop(self, node: r.Loop) -> t.Term:
        these = _single(node.item)
        if these is not None:
            if not these:
                return t.Text(EMPTY_WORD, self.encoding) if node.minimum == 0 else t.Nothing()
            return t.Text(all_words(these), self.encoding, node.minimum, node.maximum)
        if not r.may_be_empty(node.item):
            item = self.term(node.item, False, False)
            return item if item == t.Nothing() else t.Repeat(item, node.minimum, node.maximum)
        # Empty rounds count too, so any number of rounds that are not empty will do up to the maximum.
        dfa = difference(compile_node(node.item, limit=self.limit), EMPTY_WORD)
        if dfa == NONE:
            return t.Text(EMPTY_WORD, self.encoding)
        return t.Repeat(t.Text(dfa, self.encoding), 0, node.maximum)

    def measured(self, node: r.Node, left: bool, right: bool) -> t.Term | None:
        """`(?=.{1,255}$)…` that is matched whole: the rest, with bounds on its length."""
        if left or right or not isinstance(node, r.Join) or len(node.items) < 2:
            return None
        look, *rest = node.items
        if not isinstance(look, r.Look) or look.behind or look.negated or not isinstance(look.item, r.Join):
            return None
        body = [item for item in look.item.items if item != r.Edge("start")]
        if len(body) != 2 or body[1] != r.Edge("end") or not isinstance(body[0], r.Loop):
            return None
        these = _single(body[0].item)
        whole = self.term(r.Join(tuple(rest)), False, False)
        if these is None or not isinstance(whole, t.Text) or whole.min_chars or whole.max_chars is not None:
            return None
        dfa = intersect(whole.dfa, all_words(these))
        if not dfa.edges:
            return t.Nothing()
        return t.Text(dfa, self.encoding, body[0].minimum, body[0].maximum)


def _joined(node: r.Node) -> r.Node:
    """The tree without sequences inside sequences, single-character choices as sets."""
    if isinstance(node, r.Join):
        items: list[r.Node] = []
        for item in map(_joined, node.items):
            items += item.items if isinstance(item, r.Join) else (item,)
        return items[0] if len(items) == 1 else r.Join(tuple(items))
    if isinstance(node, r.Either):
        arms = tuple(map(_joined, node.arms))
        sets = [arm.these for arm in arms if isinstance(arm, r.Chars)]
        if len(sets) == len(arms):
            return r.Chars(ranges(part for these in sets for part in these))
        return r.Either(arms)
    return r.with_parts(node, _joined)


def _single(node: r.Node) -> Ranges | None:
    return node.these if isinstance(node, r.Chars) else None


def _size(node: r.Node) -> int:
    """Copies of characters when unrolled."""
    if isinstance(node, r.Chars):
        return 1
    if isinstance(node, r.Loop):
        return _size(node.item) * max(node.minimum, node.maximum or 1, 1)
    return sum(_size(part) for part in r.parts(node))


def _width(node: r.Node) -> int | None:
    """The length of all texts it matches, if they have one; only asked where there are no places inside."""
    if isinstance(node, r.Chars):
        return 1
    if isinstance(node, r.Loop):
        width = _width(node.item)
        if width == 0 or node.maximum == 0:
            return 0
        return width * node.minimum if width is not None and node.minimum == node.maximum else None
    widths = [_width(part) for part in r.parts(node)]
    if isinstance(node, r.Either):
        return widths[0] if len(set(widths)) == 1 else None
    return None if None in widths else sum(width for width in widths if width is not None)


def _is_large(node: r.Node) -> bool:
    if isinstance(node, r.Loop) and _size(node) > MAX_UNROLLED and max(node.minimum, node.maximum or 0) > 1:
        return True
    return any(_is_large(part) for part in r.parts(node))


def _are_apart(items: tuple[r.Node, ...]) -> bool:
    """Whether all places in a sequence have their neighbours between the same large items as they are.

    Then what lies between two large items is matched alike with and without them. At the ends of the sequence
    the neighbours are known to be none, or any.
    """
    run: list[r.Node] = []
    begins = True
    for item in (*items, None):
        if item is not None and not _is_large(item):
            run.append(item)
            continue
        asking = [index for index, part in enumerate(run) if r.has_places(part)]
        if asking:
            if any(r.has_look(part) for part in run):
                return False
            before, behind = run[: asking[0]], run[asking[-1] + 1 :]
            if not begins and all(map(r.may_be_empty, before)):
                return False
            if item is not None and all(map(r.may_be_empty, behind)):
                return False
        run, begins = [], False
    return True
