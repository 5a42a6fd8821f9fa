"""A naive model of the memory of keys and values, and random operations on the cache and on it.

The model keeps each sequence as a list of tokens, and the pool as a table in which every position that was
written holds a digest of the tokens up to it. Whatever the cache says is computed must be found there.
"""

from __future__ import annotations

from collections.abc import Sequence as Run

from sglc.runtime.kv.blocks import BLOCK_TOKENS, PoolFull
from sglc.runtime.kv.cache import KVCache
from sglc.runtime.kv.disk import DiskTier
from sglc.runtime.kv.eviction import Policy
from sglc.runtime.kv.sequence import Sequence
from sglc.runtime.kv.tree import path

LIMIT = 150
"""Most positions of one sequence."""
DOCUMENTS = [[(n * n * k + n) % 7 for n in range(LIMIT)] for k in (3, 4, 5)]
"""Texts that sequences have beginnings of, so that there is something to share."""


def text(document: int, length: int, end: Run[int]) -> list[int]:
    """A beginning of a document and some tokens of one's own."""
    return [*DOCUMENTS[document % len(DOCUMENTS)][:length], *end]


class Model:
    """A cache under test, what it must hold, and operations on both."""

    def __init__(self, blocks: int, policy: Policy = "lru", disk: DiskTier | None = None) -> None:
        self.content: list[list[int]] = [[0] * BLOCK_TOKENS for _ in range(blocks)]
        self.cache = KVCache(
            blocks,
            8 * BLOCK_TOKENS,
            copy_block=self._copy,
            policy=policy,
            disk=disk,
            read_block=self._read,
            write_block=self._write,
        )
        self.open: list[tuple[Sequence, list[int]]] = []
        self.pins: list[list[int]] = []
        self.refusals = 0

    # -- an executor ----------------------------------------------------------------------------------

    def _copy(self, source: int, target: int) -> None:
        assert source != target
        self.content[target] = list(self.content[source])

    def _read(self, block: int) -> bytes:
        return b"".join(value.to_bytes(8, "little", signed=True) for value in self.content[block])

    def _write(self, block: int, data: bytes) -> None:
        parts = [data[at : at + 8] for at in range(0, len(data), 8)]
        self.content[block] = [int.from_bytes(part, "little", signed=True) for part in parts]

    def compute(self, sequence: Sequence, tokens: list[int]) -> None:
        """What an executor does: write the positions of `tokens` into the blocks of the table."""
        known = list(sequence.tokens)
        for token in tokens:
            known.append(token)
            place = len(known) - 1
            self.content[sequence.table[place // BLOCK_TOKENS]][place % BLOCK_TOKENS] = hash(tuple(known))

    # -- operations -----------------------------------------------------------------------------------

    def begin(self, tokens: list[int], owner: str = "") -> None:
        """Open a sequence."""
        known, room = self.findable(tokens), self.cache.available
        counted = self.cache.computed(tokens)
        sequence = self.cache.open(tokens, owner)
        assert sequence.tokens == tokens[: sequence.length]
        assert sequence.length >= (known if room else known // BLOCK_TOKENS * BLOCK_TOKENS)
        assert counted >= known
        if self.cache.disk is None:
            assert sequence.length == counted or not room
        self.open.append((sequence, list(sequence.tokens)))

    def reuse(self, which: int, tokens: list[int]) -> None:
        """Let a sequence take over what others computed."""
        sequence, known = self._pick(which)
        tokens = tokens[: LIMIT - len(known)]
        found = sequence.reuse(tokens)
        known.extend(tokens[:found])

    def extend(self, which: int, tokens: list[int], fork: bool = False) -> None:
        """Compute more tokens of a sequence; `fork` forks it while they are computed."""
        sequence, known = self._pick(which)
        tokens = tokens[: LIMIT - len(known)]
        before = self.state()
        try:
            sequence.reserve(len(tokens))
        except PoolFull as full:
            assert self.state() == before
            assert full.needed > full.available == self.cache.available
            assert self.in_use(sequence, len(tokens)) > self.cache.pool.size, "there was room"
            self.refusals += 1
            return
        if fork:
            self.fork(which)
        self.compute(sequence, tokens)
        sequence.commit(tokens)
        known.extend(tokens)

    def reserve_only(self, which: int, n: int) -> None:
        """Make room that is not used, as a step that fails does."""
        sequence, known = self._pick(which)
        try:
            sequence.reserve(min(n, LIMIT - len(known)))
        except PoolFull:
            self.refusals += 1

    def cut(self, which: int, length: int) -> None:
        """Roll a sequence back."""
        sequence, known = self._pick(which)
        length %= len(known) + 1
        sequence.rollback(length)
        del known[length:]

    def fork(self, which: int) -> None:
        sequence, known = self._pick(which)
        self.open.append((sequence.fork(), list(known)))

    def end(self, which: int) -> None:
        """Release a sequence, twice."""
        sequence, _ = self.open.pop(which % len(self.open))
        sequence.release()
        sequence.release()

    def end_some(self, chosen: int) -> None:
        """Release the sequences whose bits are set; it is known before what that gives."""
        going = [place for place in range(len(self.open)) if chosen >> place & 1]
        before = self.cache.available
        told = self.cache.release_of([self.open[place][0] for place in going])
        assert self.cache.available == before
        for place in reversed(going):
            self.end(place)
        assert self.cache.available == before + told

    def pin(self, tokens: list[int]) -> None:
        found = self.cache.pin(tokens)
        assert found >= self.findable(tokens)
        self.pins.append(tokens)

    def unpin(self, which: int) -> None:
        self.cache.unpin(self.pins.pop(which % len(self.pins)))

    def _pick(self, which: int) -> tuple[Sequence, list[int]]:
        return self.open[which % len(self.open)]

    # -- what must hold -------------------------------------------------------------------------------

    def findable(self, tokens: list[int]) -> int:
        """The longest beginning of `tokens` that any saved block holds, looked for in all of them."""
        best = 0
        for node in self.cache.tree.nodes():
            saved = [token for part in path(node, self.cache.tree.root) for token in part.key]
            same = 0
            while same < min(len(saved), len(tokens)) and saved[same] == tokens[same]:
                same += 1
            best = max(best, same)
        return best

    def in_use(self, sequence: Sequence, n: int) -> int:
        """Blocks that would be held at least, had this sequence room for n more positions."""
        whole = sequence.length // BLOCK_TOKENS
        others = {block for other, _ in self.open if other is not sequence for block in other.table}
        pinned = {block for tokens in self.pins for block in self.pinned(tokens)}
        shared = others | pinned | set(sequence.table[:whole])
        own = max(-(-(sequence.length + n) // BLOCK_TOKENS), len(sequence.table)) - whole
        return len(shared) + own

    def pinned(self, tokens: list[int]) -> list[int]:
        """Blocks that are kept for pinned tokens."""
        return [node.block for node in path(self.cache._pins[tuple(tokens)][0], self.cache.tree.root)]

    def state(self) -> object:
        """Everything that a refused request must leave as it was."""
        tables = [(list(s.tokens), list(s.table), s.length) for s, _ in self.open]
        blocks = sorted((node.block, node.key, node.active) for node in self.cache.tree.nodes())
        return tables, blocks, sorted(self.cache.pool.free), list(self.cache.pool.references)

    def check_contents(self) -> None:
        """Every position that is said to be computed holds what was computed from these tokens."""
        for sequence, known in self.open:
            assert sequence.tokens == known and sequence.length == len(known)
            for place in range(len(known)):
                block = sequence.table[place // BLOCK_TOKENS]
                assert self.content[block][place % BLOCK_TOKENS] == hash(tuple(known[: place + 1]))
        for node in self.cache.tree.nodes():
            above = path(node, self.cache.tree.root)
            tokens = [token for part in above for token in part.key]
            first = (len(above) - 1) * BLOCK_TOKENS
            for place in range(first, len(tokens)):
                assert self.content[node.block][place % BLOCK_TOKENS] == hash(tuple(tokens[: place + 1]))

    def check(self) -> None:
        """All of the above, the cache's own check, and the blocks held counted anew."""
        self.cache.check()
        self.check_contents()
        held = {block for sequence, _ in self.open for block in sequence.table}
        stats = self.cache.stats()
        pinned = {block for tokens in self.pins for block in self.pinned(tokens)}
        assert (stats.held, stats.pinned) == (len(held | pinned), len(pinned))
        assert stats.blocks == stats.free + stats.cached + stats.held
        assert self.cache.available == stats.free + stats.cached
        assert stats.tokens_reused <= stats.tokens_looked_up

    def close(self) -> None:
        """Let go of everything; then all blocks can be had again."""
        before, size = self.cache.available, self.cache.pool.size
        assert before + self.cache.release_of([sequence for sequence, _ in self.open], pins=True) == size
        while self.open:
            self.end(0)
        while self.pins:
            self.unpin(0)
        self.check()
        assert self.cache.available == self.cache.pool.size
        self.cache.clear()
        self.check()
        assert len(self.cache.pool.free) == self.cache.pool.size


def written(model: Model, tokens: list[int], owner: str = "") -> Sequence:
    """An open sequence of which all tokens are computed."""
    sequence = model.cache.open(tokens, owner)
    rest = tokens[sequence.length :]
    sequence.reserve(len(rest))
    model.compute(sequence, rest)
    sequence.commit(rest)
    model.open.append((sequence, list(tokens)))
    model.check()
    return sequence


def released(model: Model, tokens: list[int], owner: str = "") -> None:
    """Compute tokens and let go of them."""
    sequence = written(model, tokens, owner)
    model.end(next(index for index, (known, _) in enumerate(model.open) if known is sequence))
    model.check()


def run(first: int, length: int) -> list[int]:
    return list(range(first, first + length))


def press(model: Model, blocks: int) -> None:
    """Evict as many blocks, by asking for them and giving them back unused."""
    sequence = model.cache.open([])
    sequence.reserve((len(model.cache.pool.free) + blocks) * BLOCK_TOKENS)
    sequence.release()


def evict_all(model: Model) -> None:
    """Evict whatever nobody holds."""
    press(model, model.cache.tree.idle)
