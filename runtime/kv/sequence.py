"""Sequences: the handles through which the engine reads and writes the KV cache."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from sglc.runtime.kv.blocks import BLOCK_MASK, BLOCK_SHIFT, BLOCK_TOKENS, PoolFull
from sglc.runtime.kv.node import PrefixNode
from sglc.runtime.kv.tree import path

if TYPE_CHECKING:
    from sglc.runtime.kv.cache import KVCache


class Sequence:
    """Tokens whose keys and values are computed, and the blocks they lie in.

    Made by `KVCache.open` and `fork`. In a step the engine calls `reserve(n)`, lets the executor write n
    positions from `length` on, and calls `commit` with the tokens. While the executor computes, the sequence
    may be forked, released or rolled back; after that there may be no room to commit to. `reserve` and
    `reuse` have to wait.

    The blocks `table[: length // 16]` are whole. They lie in the tree of prefixes, on the path to `_node`,
    which the sequence holds. The tail, `table[length // 16]`, and the reserved blocks behind it are unsaved,
    and as a rule only this sequence writes them. Other sequences may share the tail after a fork, and the
    tree may share it after a rollback into a whole block. `reserve` makes a shared tail private before
    anything is written to it.
    """

    __slots__ = ("_asked", "_cache", "_node", "_room", "_shared", "length", "owner", "table", "tokens")

    def __init__(self, cache: KVCache, owner: str) -> None:
        self._cache = cache
        self._node: PrefixNode = cache.tree.root
        cache.tree.hold(self._node)
        self._room = 0
        """Positions before this one may be committed."""
        self._shared = False
        """Whether the tail may stand in other tables too."""
        self._asked = 0
        """Positions before this one count as looked up."""
        self.owner = owner
        """Whom the work is counted for, such as the name of a program."""
        self.tokens: list[int] = []
        """Tokens whose keys and values are in the blocks. For reading."""
        self.length = 0
        """How many there are: `len(tokens)`."""
        self.table: list[int] = []
        """Blocks in order, reserved ones included. For reading; the list stays the same object."""

    @property
    def whole_blocks(self) -> object:
        """The same object for open sequences whose tokens in whole blocks are the same, and for no others."""
        return self._node

    @property
    def held(self) -> PrefixNode:
        """The node of the tree that the sequence holds: its last whole block, or the root."""
        return self._node

    # -- growing --------------------------------------------------------------------------------------

    def reserve(self, n: int) -> None:
        """Make room for n more positions. Where the pool has no free block, what nobody holds is evicted.

        A shared tail is copied first. Raises PoolFull, and everything is as it was.
        """
        if self.length + n > self._room or self._shared:
            self._reserve(n)

    def commit(self, tokens: Collection[int]) -> None:
        """Note that the executor has written keys and values of these tokens, which follow, into reserved
        room.

        Blocks that are full now can be found at once. If another sequence has computed the same block in the
        meantime, its block replaces this one's in `table`. Raises ValueError where there is no room.
        """
        before = self.length
        after = before + len(tokens)
        if after > self._room:
            raise ValueError(f"room for {self._room} positions is reserved, not for {after}")
        self.tokens.extend(tokens)
        self.length = after
        if (before ^ after) >> BLOCK_SHIFT or not before & BLOCK_MASK:
            self._save(before >> BLOCK_SHIFT)

    def reuse(self, tokens: Iterable[int]) -> int:
        """Take over what is computed already of `tokens`, which are to follow; how many of them that were.

        `open` does this for its tokens. It is worth asking again before a step, because other sequences may
        have computed the same in the meantime. Reserved room is given back where blocks are found. Where a
        beginning of a block is found, it is copied, if there is a block to be had. Blocks on disk are read
        back.
        """
        self._must_be_open()
        tail = self.length & BLOCK_MASK
        base = self.length - tail
        run = (*self.tokens[base:], *tokens)
        start = self.length
        cache = self._cache
        asked = max(0, base + len(run) - max(self._asked, start))
        self._asked = max(self._asked, base + len(run))
        node, position = cache.tree.walk(self._node, run)
        if position:
            self._follow(node, run[tail:position])
        if cache.disk is not None and len(run) - position >= BLOCK_TOKENS:
            position += self._read_back(run, position)
        rest = run[position : position + BLOCK_TOKENS]
        if len(rest) > self.length & BLOCK_MASK:
            self._copy_beginning(rest)
        reused = self.length - start
        cache.accounts.looked_up(self.owner, asked, reused)
        return reused

    # -- shrinking ------------------------------------------------------------------------------------

    def rollback(self, length: int) -> None:
        """Keep the first `length` tokens. Reserved room may be given back.

        Raises ValueError if there are fewer. Whole blocks that the sequence leaves can still be found.
        """
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot keep {length} of {self.length} positions")
        if length == self.length:
            return
        if (length ^ self.length) >> BLOCK_SHIFT or not length & BLOCK_MASK:
            self._leave_blocks(length)
        del self.tokens[length:]
        self.length = length
        self._asked = min(self._asked, length)

    def move(self, length: int, places: Collection[int], tokens: Collection[int]) -> None:
        """Keep the first `length` tokens, and go on with tokens whose keys and values the executor wrote to
        other positions of the reserved room, `places`; they are moved behind those that are kept.

        To be called before anything else is reserved or rolled back. Raises PoolFull, and then only the first
        `length` tokens are left.
        """
        cache = self._cache
        held = cache.read_places([self._place(position) for position in places])
        self.rollback(length)
        self.reserve(len(tokens))
        cache.write_places([self._place(length + index) for index in range(len(tokens))], held)
        self.commit(tokens)

    def _place(self, position: int) -> int:
        return self.table[position >> BLOCK_SHIFT] << BLOCK_SHIFT | position & BLOCK_MASK

    def fork(self) -> Sequence:
        """Another sequence with the same tokens in the same blocks. The one that writes first copies the
        tail."""
        cache = self._cache
        self._must_be_open()
        twin = Sequence(cache, self.owner)
        tail = self.length & BLOCK_MASK
        whole = self.length >> BLOCK_SHIFT
        twin.tokens = self.tokens.copy()
        twin.length = twin._room = twin._asked = self.length
        twin.table = self.table[: whole + 1] if tail else self.table[:whole]
        cache.tree.hold(self._node)
        cache.tree.drop(cache.tree.root)
        twin._node = self._node
        if tail:
            cache.retain(self.table[whole])
            self._shared = twin._shared = True
        cache.sequences[twin] = None
        return twin

    def release(self) -> None:
        """Let go of all blocks. The sequence cannot be used any more.

        Blocks that were computed can still be found. Releasing twice does nothing.
        """
        cache = self._cache
        if self not in cache.sequences:
            return
        del cache.sequences[self]
        self._withdraw(self.length & ~BLOCK_MASK)
        whole, tail = self.length >> BLOCK_SHIFT, self.length & BLOCK_MASK
        unsaved = self.table[whole:]
        if tail:
            block = unsaved[0]
            key = tuple(self.tokens[whole * BLOCK_TOKENS :])
            if cache.is_private(block) and cache.tree.insert_idle(self._node, key, block):
                del unsaved[0]
        for block in unsaved:
            cache.release(block)
        cache.tree.drop(self._node)
        self._node = cache.tree.root
        self.tokens, self.table = [], []
        self.length = self._room = 0
        self._shared = True

    # -- the slow ways --------------------------------------------------------------------------------

    def _must_be_open(self) -> None:
        if self not in self._cache.sequences:
            raise ValueError("the sequence has been released")

    def _reserve(self, n: int) -> None:
        if n < 0:
            raise ValueError(f"cannot make room for {n} positions")
        self._must_be_open()
        cache, table = self._cache, self.table
        tail, whole = self.length & BLOCK_MASK, self.length >> BLOCK_SHIFT
        more = max(0, ((self.length + n + BLOCK_MASK) >> BLOCK_SHIFT) - len(table))
        copied = bool(tail and n) and not cache.is_private(table[whole])
        available = cache.available
        if copied and more + 1 > available and more <= available and cache.claim(table[whole]):
            copied = False
        if more + copied > available:
            raise PoolFull(more + copied, available)
        if copied:
            block = cache.copy_of(table[whole])
            cache.release(table[whole])
            table[whole] = block
        for _ in range(more):
            table.append(cache.take())
        if n or not tail:
            self._shared = False
            self._room = len(table) << BLOCK_SHIFT
            self._announce()

    def _save(self, first: int) -> None:
        """Enter the blocks from number `first` on that are full into the tree."""
        cache, tokens, table = self._cache, self.tokens, self.table
        tree = cache.tree
        self._withdraw(first << BLOCK_SHIFT)
        for index in range(first, self.length >> BLOCK_SHIFT):
            key = tuple(tokens[index << BLOCK_SHIFT : (index + 1) << BLOCK_SHIFT])
            block, known = table[index], self._node.children.get(key)
            if known is None:
                self._node = tree.insert_held(self._node, key, block, cache.pool.references[block])
                cache.pool.references[block] = 1
            else:
                tree.hold(known)
                tree.drop(self._node)
                self._node = known
                known.uses += 1
                table[index] = known.block
                cache.release(block)
                cache.accounts.adopted += 1
        self._announce()

    def _follow(self, node: PrefixNode, tokens: tuple[int, ...]) -> None:
        """Go on to a node further down, of which `tokens` are new; unsaved blocks are given back."""
        cache = self._cache
        nodes = path(node, self._node)
        self._withdraw(self.length & ~BLOCK_MASK)
        cache.tree.hold(node)
        cache.tree.drop(self._node)
        whole = self.length >> BLOCK_SHIFT
        for block in self.table[whole:]:
            cache.release(block)
        del self.table[whole:]
        for found in nodes:
            found.uses += 1
            self.table.append(found.block)
        self._node = node
        self.tokens.extend(tokens)
        self.length += len(tokens)
        self._room = self.length
        self._shared = False

    def _read_back(self, run: tuple[int, ...], position: int) -> int:
        """Take blocks that follow from disk into the tree; how many tokens of `run` these are."""
        start = position
        while position + BLOCK_TOKENS <= len(run):
            key = run[position : position + BLOCK_TOKENS]
            node = self._cache.read_back(self._node, key)
            if node is None:
                break
            self._follow(node, key[self.length & BLOCK_MASK :])
            self._cache.tree.drop(node)
            position += BLOCK_TOKENS
        return position - start

    def _copy_beginning(self, rest: tuple[int, ...]) -> None:
        """Copy the block that begins most like `rest`, the tokens from the last whole block on."""
        cache = self._cache
        node, source, longest = cache.tree.most_alike(self._node, rest)
        tail, whole = self.length & BLOCK_MASK, self.length >> BLOCK_SHIFT
        if longest <= tail:
            return
        if node is not None:
            node.uses += 1
        own = whole < len(self.table)
        if own and cache.is_private(self.table[whole]):
            cache.copy_block(source, self.table[whole])
        else:
            block = self._copy(source, node)
            if block is None:
                return
            if own:
                cache.release(self.table[whole])
                self.table[whole] = block
            else:
                self.table.append(block)
        self._withdraw(self.length & ~BLOCK_MASK)
        self.tokens.extend(rest[tail:longest])
        self.length += longest - tail
        self._room = len(self.table) << BLOCK_SHIFT
        self._shared = False
        self._announce()

    def _copy(self, source: int, node: PrefixNode | None) -> int | None:
        """A private copy of a block, that of `node` or an unsaved one; None if there is no block for it.

        If all that could be evicted for the copy is the node itself, its block is taken as it is.
        """
        cache, tree = self._cache, self._cache.tree
        if node is not None:
            tree.hold(node)
        if not cache.available and node is not None and cache.claim(source):
            return source
        try:
            if not cache.available:
                return None
            return cache.copy_of(source)
        finally:
            if node is not None:
                tree.drop(node)

    def _leave_blocks(self, length: int) -> None:
        """Give back the blocks behind the first `length` positions, and the holds on them."""
        cache, tree = self._cache, self._cache.tree
        self._withdraw(self.length & ~BLOCK_MASK)
        whole, kept = self.length >> BLOCK_SHIFT, (length + BLOCK_MASK) >> BLOCK_SHIFT
        for block in self.table[whole:]:
            cache.release(block)
        del self.table[kept:]
        tail: PrefixNode | None = None
        node = self._node
        for _ in range(whole - (length >> BLOCK_SHIFT)):
            assert node.parent is not None
            node, tail = node.parent, node
        self._shared = tail is not None and bool(length & BLOCK_MASK)
        if tail is not None:
            if self._shared:
                tree.hold(tail)
            tree.hold(node)
            tree.drop(self._node)
            self._node = node
        self._room = length

    # -- the tail, findable while it is written ------------------------------------------------------------

    def _announce(self) -> None:
        """Let others find the tail, by its first token, unless another has announced a longer one."""
        if self.length & BLOCK_MASK and not self._shared:
            tails, first = self._node.tails, self.tokens[self.length & ~BLOCK_MASK]
            writer = tails.get(first)
            if writer is None or writer.length < self.length:
                tails[first] = self

    def _withdraw(self, first: int) -> None:
        """Undo `_announce` for the tail that begins at position `first`, before the node changes."""
        tails = self._node.tails
        if tails and first < len(self.tokens) and tails.get(self.tokens[first]) is self:
            del tails[self.tokens[first]]
