"""For engines that take a bitmask: one guide for each request, one int32 row for each guide.

    guide = Guide(constraint, vocabulary)            # one a request
    bitmask = allocate(batch, vocabulary.size)       # int32[batch, words], reused for every step
    fill([guide, …], bitmask)                        # token t of row i: bit t % 32 of bitmask[i, t // 32]
    guide.accept(token)                              # the token that was drawn; end tokens too
    guide.rollback(2)                                # drafted tokens that were turned down

This is the layout of vLLM, SGLang, TensorRT-LLM and of the kernels `sglc.kernels.bitmask.operations.apply`
(CPU) and `sglc.kernels.triton.packed_mask` (GPU). Bitmasks may be numpy arrays or torch tensors on the CPU.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from sglc.runtime.mask.constraint import Constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.matcher import Matcher, fill_masks
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch

_COUNT_OF = attrgetter("count")
_FEW = 6
"""Below this many guides, a row is written for each; from there on, all are written together."""


class DeadEnd(ConstraintError):
    """No token can come next: the vocabulary cannot write what the constraint asks for."""


class Guide:
    """One text under a constraint, with its end.

    End tokens are legal exactly where the text may end, and nothing else is where it can only end. They are
    never text, even if the vocabulary gives them bytes. After an end token the text is over: further tokens
    are refused, and its row holds end tokens only.
    """

    __slots__ = ("_ended", "_ends", "_matcher", "_start", "end_ids", "vocabulary")

    def __init__(
        self, constraint: Constraint, vocabulary: Vocabulary, end_ids: Iterable[int] | None = None
    ) -> None:
        """`end_ids` are those of the vocabulary by default. Raises ConstraintError if no text is legal."""
        self.vocabulary = vocabulary
        self.end_ids = frozenset(vocabulary.end_ids if end_ids is None else end_ids)
        if not self.end_ids:
            raise ValueError("there must be at least one end token")
        if not all(0 <= token < vocabulary.size for token in self.end_ids):
            raise ValueError("an end token is outside of the vocabulary")
        self._ends = tuple(
            (token >> 5, np.uint32(1 << (token & 31)).view(np.int32), bool(vocabulary.token_bytes[token]))
            for token in sorted(self.end_ids)
        )
        """Of each end token: its word, its bit, and whether it would be text as well."""
        self._start = constraint.matcher(vocabulary)
        if self._start.is_dead():
            raise ConstraintError("no text is legal under this constraint")
        self._matcher = self._start.clone()
        self._ended = False

    # Questions

    @property
    def matcher(self) -> Matcher:
        """The matcher that follows the text; for reading."""
        return self._matcher

    @property
    def steps(self) -> int:
        """Tokens accepted so far, an end token among them: as many can be rolled back."""
        return self._matcher.steps + self._ended

    @property
    def is_ended(self) -> bool:
        """Whether an end token was accepted."""
        return self._ended

    @property
    def may_end(self) -> bool:
        """Whether an end token is legal now."""
        return not self._ended and self._matcher.is_accepting()

    @property
    def must_end(self) -> bool:
        """Whether nothing but an end token is legal now."""
        return not self._ended and self._matcher.is_complete()

    def allows(self, token: int) -> bool:
        """Whether one token is legal now."""
        if token in self.end_ids:
            return self.may_end
        return not self._ended and self._matcher.allows(token)

    def allows_each(self, tokens: Iterable[int]) -> np.ndarray:
        """bool by token: which of some tokens, end tokens among them, are legal now; as `fill` would say, but
        without computing the whole mask."""
        return np.array([self._in_row(int(token)) for token in tokens], bool)

    def first_allowed(self, tokens: Iterable[int], count: int = 1) -> list[int]:
        """The first `count` of some tokens, those that a model likes best first, that are legal now; fewer if
        no more of them are. The whole mask is not computed."""
        if count < 1:
            raise ValueError(f"at least one token is asked for, not {count}")
        return list(islice(filter(self._in_row, map(int, tokens)), count))

    def _in_row(self, token: int) -> bool:
        """Whether a token is in the row of the guide."""
        if token in self.end_ids:
            return self._ended or self._matcher.is_accepting()
        return not self._ended and bool(self._matcher.allows_each((token,))[0])

    def text(self) -> bytes:
        """The bytes written so far."""
        return self._matcher.text()

    def forced(self) -> bytes:
        """The bytes that must come next; empty where there is a choice or the text may end."""
        return b"" if self._ended else self._matcher.forced()

    # Steps

    def accept(self, token: int) -> bool:
        """Take the next token; False, and nothing happens, if it is not legal."""
        if self._ended:
            return False
        if token in self.end_ids:
            self._ended = self._matcher.is_accepting()
            return self._ended
        return self._matcher.accept(token)

    def accept_all(self, tokens: Iterable[int]) -> int:
        """Take tokens up to the first that is not legal; how many were taken."""
        taken = 0
        for token in tokens:
            if not self.accept(token):
                break
            taken += 1
        return taken

    def legal_prefix(self, tokens: Iterable[int]) -> int:
        """How many of some drafted tokens are legal one after the other. Nothing is taken."""
        return self.clone().accept_all(tokens)

    def rollback(self, steps: int) -> None:
        """Take back the last tokens."""
        if not 0 <= steps <= self.steps:
            raise ValueError(f"cannot take back {steps} of {self.steps} tokens")
        if steps and self._ended:
            self._ended = False
            steps -= 1
        self._matcher.rollback(steps)

    def reset(self) -> None:
        """Begin the text anew."""
        self.rollback(self.steps)

    def clone(self) -> Guide:
        """An independent guide at the same place; costs next to nothing."""
        twin = Guide.__new__(Guide)
        twin.vocabulary = self.vocabulary
        twin.end_ids = self.end_ids
        twin._ends = self._ends
        twin._start = self._start
        twin._matcher = self._matcher.clone()
        twin._ended = self._ended
        return twin


def allocate(rows: int, vocabulary_size: int) -> np.ndarray:
    """Bitmask rows, int32[rows, ceil(V / 32)], without any token.

    V may be the width of the model's logits where that is larger than the vocabulary; tokens beyond the
    vocabulary are never legal.
    """
    return np.zeros((rows, (vocabulary_size + 31) // 32), np.int32)


def fill(
    guides: Sequence[Guide], bitmask: np.ndarray | torch.Tensor, rows: Sequence[int] | None = None
) -> None:
    """Write what may come next: guide i into row i, or into row rows[i], of int32[n, words].

    `bitmask` is a contiguous numpy array or CPU tensor, wide enough for the vocabulary; further words are
    cleared, other rows are left alone. Raises DeadEnd if nothing is legal for a guide.
    """
    table = _as_array(bitmask)
    if not guides:
        return
    where = range(len(guides)) if rows is None else rows
    if len(where) != len(guides):
        raise ValueError(f"{len(guides)} guides do not fill {len(where)} rows")
    if not 0 <= min(where) <= max(where) < len(table):
        raise ValueError(f"a row is outside of the bitmask, which has {len(table)}")
    words = max([guide.vocabulary.words for guide in guides])
    if table.shape[1] < words:
        raise ValueError(f"the bitmask has {table.shape[1]} words a row, the vocabulary needs {words}")
    first = guides[0]
    alike = [g for g in guides if g.vocabulary is first.vocabulary and g.end_ids == first.end_ids]
    if len(guides) < _FEW or len(alike) < len(guides):
        for guide, place in zip(guides, where, strict=True):
            _fill_row(guide, table[place])
        return
    places = np.array(where, np.int64)
    whole = rows is None and len(table) == len(guides)
    masks = fill_masks([guide._matcher for guide in guides], table, None if whole else places)
    endings = [guide._matcher.is_accepting() for guide in guides]
    if table.shape[1] > words:
        table[places, words:] = 0
    over = [index for index, guide in enumerate(guides) if guide._ended]
    if over:
        table[places[over]] = 0
    if 0 in map(_COUNT_OF, masks):
        for guide, mask, ending in zip(guides, masks, endings, strict=True):
            if not ending and not mask.count:
                raise _dead_end(guide)
    legal = places[endings]
    for word, bit, is_text in first._ends:
        if is_text:
            table[places, word] &= ~bit
        if len(legal):
            table[legal, word] |= bit


def _fill_row(guide: Guide, row: np.ndarray) -> None:
    matcher, words = guide._matcher, guide.vocabulary.words
    matcher.fill_mask(row if len(row) == words else row[:words])
    row[words:] = 0
    ending = matcher.is_accepting()
    if guide._ended:
        row[:] = 0
    elif not ending and not matcher.mask_size():
        raise _dead_end(guide)
    for word, bit, is_text in guide._ends:
        if ending:
            row[word] |= bit
        elif is_text:
            row[word] &= ~bit


def _dead_end(guide: Guide) -> DeadEnd:
    text = guide.text()[-40:].decode("utf-8", "backslashreplace")
    return DeadEnd(f"no token of the vocabulary can go on after {text!r}")


def _as_array(bitmask: np.ndarray | torch.Tensor) -> np.ndarray:
    """The memory of a bitmask as a numpy array."""
    table = bitmask if isinstance(bitmask, np.ndarray) else bitmask.numpy()
    if (
        table.dtype != np.int32
        or table.ndim != 2
        or not table.flags.c_contiguous
        or not table.flags.writeable
    ):
        raise ValueError("a bitmask is a contiguous int32 array of two dimensions")
    return table
