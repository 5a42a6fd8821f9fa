"""The kinds of parts that constraints are made of, but for texts, choices among words and exclusions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sglc.automata.charset import Ranges
from sglc.runtime.mask.automaton.machine import Machine
from sglc.runtime.mask.automaton.protocol import Node, Worklist
from sglc.runtime.mask.core.errors import LONGEST_COMPLETION, CompletionTooLong

_KEPT = 256
"""Bytes of a word that is kept while a longer one is written."""


def measure(root: Node) -> None:
    """Find `size` for a node and all below it: Knuth's generalisation of shortest paths, by iteration."""
    order: list[Node] = []
    seen = {root.index}
    stack = [root]
    while stack:
        node = stack.pop()
        order.append(node)
        node.make_children()
        for child in node.children():
            if child.index not in seen and child.size is None and child.productive:
                seen.add(child.index)
                stack.append(child)
    order.reverse()
    changed = True
    while changed:
        changed = False
        for node in order:
            size = node.measure()
            if size is not None and (node.size is None or size < node.size):
                node.size = size
                changed = True


class Compound(Node):
    """A node whose shortest word is made of those of other nodes, which may be nested deep."""

    def shortest(self, machine: Machine) -> bytes:
        """By `write_out`, without recursion. Raises CompletionTooLong."""
        return write_out(self, machine)


def write_out(root: Node, machine: Machine) -> bytes:
    """A shortest word of a node. Raises CompletionTooLong.

    Rules lead to rules thousands deep, and a word may hold that of one rule thousands of times, so nodes are
    followed by a stack, and short words are kept while the whole is written.
    """
    if root.size is None:
        measure(root)
    if root.size is not None and root.size > LONGEST_COMPLETION:
        raise CompletionTooLong
    known: dict[int, bytes] = {}
    out: list[bytes] = []
    waiting: list[Node | tuple[Node, int]] = [root]
    while waiting:
        here = waiting.pop()
        if isinstance(here, tuple):
            node, first = here
            word = b"".join(out[first:])
            if isinstance(node, Repetition):
                word = node.separator.data.join([word] * node.needed)
            out[first:] = [word]
            if len(word) <= _KEPT:
                known[node.index] = word
        elif here.index in known:
            out.append(known[here.index])
        elif isinstance(here, Series):
            waiting += (here.rest, here.first)
        elif isinstance(here, Alternatives):
            waiting.append(here.chosen())
        elif isinstance(here, RuleNode):
            waiting += ((here, len(out)), here.written())
        elif isinstance(here, Repetition):
            if here.needed:
                waiting += ((here, len(out)), here.item)
        else:
            out.append(here.shortest(machine))
    return b"".join(out)


class Literal(Node):
    """Exactly these bytes. Lexeme state: how many have been read."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def analyse(self) -> tuple[bool, bool]:
        """Always productive; nullable without bytes."""
        return True, not self.data

    def measure(self) -> int | None:
        """The number of its bytes."""
        return len(self.data)

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """Read the bytes from the first on; without any, what follows takes over."""
        if self.data:
            out.add(machine.thread(self, 0, cont))
        else:
            work.append((None, cont))

    def moves(self, machine: Machine, state: int, cont: int) -> Iterable[tuple[int, int, int]]:
        """The one byte that comes next."""
        byte = self.data[state]
        state += 1
        if state == len(self.data):
            return ((byte, byte, machine.after(cont)),)
        return ((byte, byte, machine.alone(machine.thread(self, state, cont))),)

    def first_characters(self, state: int) -> Ranges | None:
        """The character of the next bytes; None where they are no whole character."""
        lead = self.data[state]
        size = 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)
        try:
            point = ord(self.data[state : state + size].decode())
        except (UnicodeDecodeError, TypeError):
            return None
        return ((point, point),)

    def forced_run(self, state: int) -> bytes:
        """The bytes that have not been read."""
        return self.data[state:]

    def skip(self, state: int, size: int) -> int:
        """So many bytes further."""
        return state + size

    def move(self, machine: Machine, state: int, cont: int, byte: int) -> int:
        """DEAD for any byte but the next one."""
        if byte != self.data[state]:
            return 0
        return next(iter(self.moves(machine, state, cont)))[2]

    def shortest(self, machine: Machine) -> bytes:
        """All its bytes."""
        return self.data

    def shortest_from(self, machine: Machine, state: int) -> bytes:
        """The bytes that have not been read."""
        return self.data[state:]


class AnyBytes(Node):
    """Every byte string."""

    universal = True

    def analyse(self) -> tuple[bool, bool]:
        """Productive and nullable."""
        return True, True

    def measure(self) -> int | None:
        """0, as it may be empty."""
        return 0

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """Read on, or let what follows take over at once."""
        out.add(machine.thread(self, 0, cont))
        work.append((None, cont))

    def moves(self, machine: Machine, state: int, cont: int) -> Iterable[tuple[int, int, int]]:
        """Every byte leads to the same: reading on, beside what follows."""
        here = machine.alone(machine.thread(self, 0, cont))
        return ((0, 255, machine.union(here, machine.after(cont))),)

    def shortest(self, machine: Machine) -> bytes:
        """The empty word."""
        return b""

    def shortest_from(self, machine: Machine, state: int) -> bytes:
        """Nothing is missing."""
        # The lexeme itself may end at once; that alternative is another thread, and just as short.
        return b""


class Series(Compound):
    """One node, then the rest, which may be a series again; so constraints share all their endings.

    Frame state 0: the first has ended.
    """

    def __init__(self, first: Node, rest: Node) -> None:
        self.first = first
        self.rest = rest

    def items(self) -> list[Node]:
        """All nodes in order."""
        found: list[Node] = []
        node: Node = self
        while isinstance(node, Series):
            found.append(node.first)
            node = node.rest
        return [*found, node]

    def children(self) -> Sequence[Node]:
        """The first node and the rest."""
        return (self.first, self.rest)

    def openers(self) -> Sequence[Node]:
        """The first node; the rest too where the first may be empty."""
        return self.children() if self.first.nullable else (self.first,)

    def analyse(self) -> tuple[bool, bool]:
        """Both must be productive, and both nullable for the empty word."""
        first, rest = self.first, self.rest
        return first.productive and rest.productive, first.nullable and rest.nullable

    def measure(self) -> int | None:
        """The sum of both; None while one of them has no size."""
        if self.first.size is None or self.rest.size is None:
            return None
        return self.first.size + self.rest.size

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """Begin the first node, with this one as the frame behind it."""
        if self.productive:
            # The last item is followed by what follows the whole: chains on the right do not grow.
            work.append((self.first, machine.cont(self, 0, cont)))

    def resume(self, machine: Machine, state: int, cont: int, work: Worklist, out: set[int]) -> None:
        """Begin the rest before what follows the whole: the frame is gone then."""
        work.append((self.rest, cont))

    def shortest_rest(self, machine: Machine, state: int) -> bytes:
        """A shortest word of the rest."""
        return self.rest.shortest(machine)


class Alternatives(Compound):
    """Any one of several nodes; of none it is the empty language, which is never opened."""

    def __init__(self, arms: tuple[Node, ...]) -> None:
        self.arms = arms
        self.best: Node | None = None
        self._best_size = 0

    def children(self) -> Sequence[Node]:
        """The arms in order."""
        return self.arms

    def analyse(self) -> tuple[bool, bool]:
        """One productive arm is enough, and one nullable arm for the empty word."""
        return any(a.productive for a in self.arms), any(a.nullable for a in self.arms)

    def measure(self) -> int | None:
        """The least size of an arm, which becomes `best`; None while none has a size."""
        for arm in self.arms:
            # `best` changes only for a strictly shorter arm, so following it always ends.
            if arm.size is not None and (self.best is None or arm.size < self._best_size):
                self.best = arm
                self._best_size = arm.size
        return None if self.best is None else self._best_size

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """Begin every productive arm before the same continuation."""
        for arm in self.arms:
            if arm.productive:
                work.append((arm, cont))

    def chosen(self) -> Node:
        """The arm with the shortest word."""
        if self.size is None:
            measure(self)
        assert self.best is not None
        return self.best


class RuleNode(Compound):
    """A named rule; `body` is set when it has been compiled.

    A rule that is known to be productive, and empty or not, may be compiled when it is opened: by `late`.
    """

    def __init__(self, name: str, late: Callable[[], Node] | None = None) -> None:
        self.name = name
        self.body: Node | None = None
        self._late = late
        self.begins: Callable[[], int] | None = None
        """What is known of the first bytes of its words while it is not compiled."""

    @property
    def made(self) -> bool:
        """Whether the body has been compiled."""
        return self._late is None

    def make(self) -> Node | None:
        """The body, which is compiled if it was not."""
        if self._late is not None:
            late, self._late = self._late, None
            try:
                self.body = late()
            except BaseException:
                self._late = late
                raise
        return self.body

    def make_children(self) -> None:
        """Compile the body if it was not."""
        self.make()

    def children(self) -> Sequence[Node]:
        """The body, once it has been compiled."""
        return () if self.body is None else (self.body,)

    def analyse(self) -> tuple[bool, bool]:
        """What its body is; as it was declared while there is none."""
        if self.body is None:
            return self.productive, self.nullable
        return self.body.productive, self.body.nullable

    def measure(self) -> int | None:
        """The size of its body, None while there is none."""
        return None if self.body is None else self.body.size

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """Begin the body, which is compiled now if it was not."""
        body = self.make()
        if self.productive and body is not None:
            work.append((body, cont))

    def written(self) -> Node:
        """The body of a rule that has one."""
        body = self.make()
        assert body is not None
        return body


class Repetition(Compound):
    """`minimum` to `maximum` items with a separator between them.

    Frame state n >= 0: n items are done (never more than `minimum` where there is no maximum, since no
    more need be known). Frame state -n - 1: n items are done and the separator after them too.
    """

    def __init__(self, item: Node, minimum: int, maximum: int | None, separator: Literal) -> None:
        self.item = item
        self.minimum = minimum
        self.maximum = maximum
        self.separator = separator
        self.repeats_nothing = False

    def children(self) -> Sequence[Node]:
        """The item; the separator is literal."""
        return (self.item,)

    def analyse(self) -> tuple[bool, bool]:
        """Productive where the bounds leave room and items are, or none is needed; nullable if the items that
        are needed may be empty and no separator is due."""
        none = self.minimum == 0
        fits = self.maximum is None or self.minimum <= self.maximum
        productive = fits and (none or self.item.productive)
        nullable = fits and (none or (self.item.nullable and (not self.separator.data or self.minimum == 1)))
        self.repeats_nothing = self.item.nullable and not self.separator.data
        return productive, nullable

    @property
    def needed(self) -> int:
        """Items that must be there; none if they may be empty and leave no trace."""
        return 0 if self.repeats_nothing else self.minimum

    def measure(self) -> int | None:
        """The items that are needed and the separators between them; None while the item has no size."""
        if self.needed == 0:
            return 0
        if self.item.size is None:
            return None
        return self.needed * self.item.size + (self.needed - 1) * len(self.separator.data)

    def open(self, machine: Machine, cont: int, work: Worklist, out: set[int]) -> None:
        """As behind no items."""
        if self.productive:
            self.resume(machine, 0, cont, work, out)

    def resume(self, machine: Machine, state: int, cont: int, work: Worklist, out: set[int]) -> None:
        """Behind an item end, or go on with a separator; behind a separator begin an item."""
        if state < 0:
            self._open_item(machine, -state - 1, cont, work)
            return
        if state >= self.needed:
            work.append((None, cont))
        if (self.maximum is None or state < self.maximum) and self.item.productive:
            if state and self.separator.data:
                work.append((self.separator, machine.cont(self, -state - 1, cont)))
            else:
                self._open_item(machine, state, cont, work)

    def _open_item(self, machine: Machine, done: int, cont: int, work: Worklist) -> None:
        # One at least, so that "some items" and "none" differ where a separator is due.
        done = done + 1 if self.maximum is not None else min(done + 1, max(self.minimum, 1))
        work.append((self.item, machine.cont(self, done, cont)))

    def shortest_rest(self, machine: Machine, state: int) -> bytes:
        """The items that are missing; one at least behind a separator. Raises CompletionTooLong."""
        begun = state < 0
        done = -state - 1 if begun else state
        missing = max(self.needed - done, 1 if begun else 0)
        if not missing:
            return b""
        item = self.item.shortest(machine)
        if missing * (len(item) + len(self.separator.data)) > LONGEST_COMPLETION:
            raise CompletionTooLong
        word = self.separator.data.join([item] * missing)
        return word if begun or not done else self.separator.data + word
