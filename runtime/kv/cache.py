"""The KV cache: one pool of blocks, indexed by the tokens from which they were computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from sglc.runtime.kv.accounts import OTHERS, Accounts, CacheStats, OwnerStats
from sglc.runtime.kv.blocks import BLOCK_TOKENS, BlockPool
from sglc.runtime.kv.checking import check_cache
from sglc.runtime.kv.disk import DiskTier
from sglc.runtime.kv.eviction import Policy
from sglc.runtime.kv.names import node_name
from sglc.runtime.kv.node import PrefixNode
from sglc.runtime.kv.release import Release
from sglc.runtime.kv.sequence import Sequence
from sglc.runtime.kv.tree import PrefixTree, path


class KVCache:
    """Blocks of an executor, shared by sequences and kept as long as there is room.

    The cache decides which block holds what. The executor moves the contents, through `copy_block(source,
    target)` and, with a tier on disk, `read_block(block)` and `write_block(block, data)`. The cache calls
    these inside `open`, `Sequence.reserve` and `Sequence.reuse`. So none of the three may be called while the
    executor computes a step. All calls come from one thread.
    """

    def __init__(
        self,
        blocks: int,
        block_bytes: int,
        *,
        copy_block: Callable[[int, int], None],
        policy: Policy = "lru",
        disk: DiskTier | None = None,
        read_block: Callable[[int], bytes] | None = None,
        write_block: Callable[[int, bytes], None] | None = None,
        read_places: Callable[[list[int]], object] | None = None,
        write_places: Callable[[list[int], object], None] | None = None,
    ) -> None:
        """`blocks` of `block_bytes` bytes each. `policy`: what is evicted first, `lru` or `lfu`. The last two
        move single positions, for `Sequence.move`.

        Raises ValueError for a pool without blocks, for an unknown policy, and for a tier on disk without the
        means to read and write blocks.
        """
        if disk is not None and (read_block is None or write_block is None):
            raise ValueError("a tier on disk needs read_block and write_block")
        self.pool = BlockPool(blocks)
        self.tree = PrefixTree(self.pool, policy)
        self.block_bytes = block_bytes
        self.disk = disk
        self.accounts = Accounts()
        self.sequences: dict[Sequence, None] = {}
        """Open sequences, in the order in which they were opened."""
        self._leaving = self._spill if disk is not None else None
        self._watcher: Callable[[bytes], None] | None = None
        self._copy_block = copy_block
        self._read_block = read_block
        self._write_block = write_block
        self._read_places = read_places
        self._write_places = write_places
        self._pins: dict[tuple[int, ...], tuple[PrefixNode, int]] = {}
        """Pinned tokens to the node that is held for them, and how often they were pinned."""

    # -- for the engine -------------------------------------------------------------------------------

    def open(self, tokens: Iterable[int], owner: str = "") -> Sequence:
        """A sequence with the longest beginning of `tokens` whose keys and values are there already.

        The beginning is found to the token. Whole blocks are shared. Of the block in which the match ends the
        beginning is copied, if a block can be had. The sequence may hold all of `tokens`. Logits are not
        kept: a caller that needs those behind the last token rolls back by one token and computes it again.
        """
        sequence = Sequence(self, owner)
        self.sequences[sequence] = None
        try:
            sequence.reuse(tokens)
        except BaseException:
            sequence.release()
            raise
        return sequence

    def computed(self, tokens: Iterable[int]) -> int:
        """How many of `tokens` `open` would find in memory. Nothing is changed."""
        run = tuple(tokens)
        node, position = self.tree.walk(self.tree.root, run)
        rest = run[position : position + BLOCK_TOKENS]
        return position + self.tree.most_alike(node, rest)[2]

    @property
    def available(self) -> int:
        """Blocks that are free or can be evicted."""
        return len(self.pool.free) + self.tree.idle

    def grow(self, blocks: int) -> None:
        """Make the pool `blocks` blocks large, after the executor has. Raises ValueError if it is larger."""
        self.pool.grow(blocks)

    def pin(self, tokens: Iterable[int]) -> int:
        """Keep what is computed of `tokens` from being evicted, until `unpin`; how many of them that is.

        Pinning the same tokens again takes in what was computed since, and asks for one more `unpin`. Blocks
        that are still being written, such as the last few tokens of an open sequence, cannot be pinned yet.
        """
        run = tuple(tokens)
        node, position = self.tree.walk(self.tree.root, run)
        last, longest = self.tree.nearest(node, run[position : position + BLOCK_TOKENS])
        node = last or node
        self.tree.hold(node)
        before, count = self._pins.get(run, (None, 0))
        if before is not None:
            self.tree.drop(before)
        self._pins[run] = (node, count + 1)
        return position + longest

    @property
    def pinned_blocks(self) -> int:
        """Blocks that pins hold, each once. Takes time in proportion to them."""
        return len({node.block for end, _ in self._pins.values() for node in path(end, self.tree.root)})

    def unpin(self, tokens: Iterable[int]) -> None:
        """Undo one `pin` of the same tokens. Raises ValueError if they are not pinned."""
        run = tuple(tokens)
        if run not in self._pins:
            raise ValueError(f"these {len(run)} tokens are not pinned")
        node, count = self._pins[run]
        if count > 1:
            self._pins[run] = (node, count - 1)
        else:
            del self._pins[run]
            self.tree.drop(node)

    def release_of(self, sequences: Iterable[Sequence], pins: bool = False) -> int:
        """How many more blocks would be free or evictable without these sequences, and without all `pins`."""
        release = Release(self)
        for sequence in sequences:
            release.add(sequence)
        if pins:
            for node, _ in self._pins.values():
                release.drop(node)
        return release.blocks

    def save(self, most: int | None = None) -> None:
        """Write whole blocks in memory to the tier on disk, where a later process finds them.

        At most `most` of them, beginnings first; those that are there already are counted. Must not be called
        while the executor computes.
        """
        if self.disk is not None:
            for node in islice(self.tree.nodes(), most):
                self._spill(node)

    def clear(self) -> None:
        """Forget all blocks in memory that nobody holds. Blocks on disk stay."""
        while (node := self.tree.evict(self._told_of)) is not None:
            self.pool.release(node.block)

    def watch(self, watcher: Callable[[bytes], None]) -> None:
        """Tell `watcher` the name (`names.py`) of every whole block that leaves memory, in place of an
        earlier one. It must not raise."""
        self._watcher = watcher
        self._leaving = self._leave

    def stats(self) -> CacheStats:
        """Counts of this moment. Takes time in proportion to the blocks held."""
        free, cached = len(self.pool.free), self.tree.idle
        blocks: dict[str, set[int]] = {}
        for sequence in self.sequences:
            owner = sequence.owner if sequence.owner in self.accounts.owners else OTHERS
            blocks.setdefault(owner, set()).update(sequence.table)
        counts = self.accounts.owners
        return CacheStats(
            blocks=self.pool.size,
            free=free,
            cached=cached,
            held=self.pool.size - free - cached,
            pinned=self.pinned_blocks,
            pins=len(self._pins),
            block_bytes=self.block_bytes,
            sequences=len(self.sequences),
            tokens_looked_up=sum(count[0] for count in counts.values()),
            tokens_reused=sum(count[1] for count in counts.values()),
            evictions=self.accounts.evictions,
            copies=self.accounts.copies,
            adopted=self.accounts.adopted,
            disk=self.disk.stats() if self.disk is not None else None,
            owners={
                owner: OwnerStats(*counts.get(owner, (0, 0)), len(blocks.get(owner, ())))
                for owner in sorted({*counts, *blocks})
            },
        )

    def check(self) -> None:
        """Verify all counts and links against each other, for tests. Raises AssertionError."""
        check_cache(self, [node for node, _ in self._pins.values()])

    # -- for sequences --------------------------------------------------------------------------------

    def take(self) -> int:
        """A free block, evicting the next leaf if there is none; `available` must be positive."""
        if not self.pool.free:
            node = self.tree.evict(self._leaving)
            assert node is not None
            self.accounts.evictions += 1
            self.pool.release(node.block)
        return self.pool.take()

    def copy_of(self, source: int) -> int:
        """A block with a copy of `source`, which must not be evictable."""
        block = self.take()
        try:
            self._copy_block(source, block)
        except BaseException:
            self.pool.release(block)
            raise
        self.accounts.copies += 1
        return block

    def copy_block(self, source: int, target: int) -> None:
        """Copy a block into one that a sequence has already."""
        self._copy_block(source, target)
        self.accounts.copies += 1

    def read_places(self, places: list[int]) -> object:
        """What the executor has at places, `block * BLOCK_TOKENS + place in the block`."""
        assert self._read_places is not None
        return self._read_places(places)

    def write_places(self, places: list[int], held: object) -> None:
        """Put what was read to as many other places."""
        assert self._write_places is not None
        self._write_places(places, held)

    def is_private(self, block: int) -> bool:
        """Whether a block is unsaved and stands in one table only."""
        return self.pool.references[block] == 1 and block not in self.tree.node_of

    def retain(self, block: int) -> None:
        """Count one more table in which a block stands as a tail."""
        node = self.tree.node_of.get(block)
        if node is not None:
            self.tree.hold(node)
        else:
            self.pool.retain(block)

    def release(self, block: int) -> None:
        """Count one table less in which a block stands as a tail or reserved."""
        node = self.tree.node_of.get(block)
        if node is not None:
            self.tree.drop(node)
        else:
            self.pool.release(block)

    def claim(self, block: int) -> bool:
        """Take a block that the caller alone holds, as a tail, out of the tree; False if others need it."""
        node = self.tree.node_of.get(block)
        if node is None or node.active != 1:
            return False
        self.accounts.evictions += self.tree.claim(node, self._leaving)
        return True

    def read_back(self, parent: PrefixNode, key: tuple[int, ...]) -> PrefixNode | None:
        """The block behind `parent` with tokens `key`, read from disk into the tree and held once."""
        assert self.disk is not None and self._write_block is not None
        if not self.available:
            return None
        name = self.disk.name(self._digest(parent), key)
        data = self.disk.read(name, self.block_bytes)
        if data is None:
            return None
        block = self.take()
        try:
            self._write_block(block, data)
        except BaseException:
            self.pool.release(block)
            raise
        self.tree.hold(parent)
        node = self.tree.insert_held(parent, key, block, 1)
        node.digest = name
        return node

    # -- blocks that leave memory ----------------------------------------------------------------------

    def _leave(self, node: PrefixNode) -> None:
        if self.disk is not None:
            self._spill(node)
        self._told_of(node)

    def _told_of(self, node: PrefixNode) -> None:
        if self._watcher is not None and len(node.key) == BLOCK_TOKENS:
            self._watcher(node_name(node))

    # -- the tier on disk -----------------------------------------------------------------------------

    def _spill(self, node: PrefixNode) -> None:
        """Write a whole block to disk; no fault in doing so goes further."""
        assert self.disk is not None and self._read_block is not None
        if len(node.key) == BLOCK_TOKENS:
            read, block = self._read_block, node.block
            self.disk.write(self._digest(node), lambda: read(block))

    def _digest(self, node: PrefixNode) -> bytes:
        """The name of a node on disk: a digest of all tokens from the root on."""
        assert self.disk is not None
        waiting: list[PrefixNode] = []
        current: PrefixNode | None = node
        while current is not None and current.digest is None:
            waiting.append(current)
            current = current.parent
        digest = current.digest if current is not None and current.digest is not None else b""
        for missing in reversed(waiting):
            digest = self.disk.name(digest, missing.key)
            missing.digest = digest
        return digest
