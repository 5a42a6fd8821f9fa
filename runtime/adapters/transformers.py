"""A logits processor for transformers: `model.generate(…, logits_processor=[processor])` under constraints.

The processor is shown all tokens of every row at each step and nothing else, so it finds the guide of a row
by the row's history: mostly that of a row of the step before and one token more, in another order after a
step of beam search. A history that is no such successor (drafted tokens were turned down, a text was cut) is
followed from the known history with which it shares the longest beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import LogitsProcessor

from sglc.kernels.bitmask import operations
from sglc.kernels.triton import packed_mask_reference
from sglc.runtime.adapters.bitmask import Guide, allocate, fill
from sglc.runtime.mask.constraint import Constraint
from sglc.runtime.mask.core.errors import ConstraintError
from sglc.runtime.mask.vocabulary.vocabulary import Vocabulary


class IllegalToken(ConstraintError):
    """Generated tokens that the constraint does not allow."""


@dataclass(frozen=True, slots=True)
class _Followed:
    """A history of generated tokens and the guide after it, None where the constraint is left or done with.

    `fault` says why a history is not legal; it is empty for a row that generation has finished by itself.
    """

    tokens: np.ndarray
    guide: Guide | None
    fault: str = ""


class ConstraintLogitsProcessor(LogitsProcessor):
    """Keeps every row of a batch inside its constraint.

    One constraint is for all prompts; several are one for each prompt, in order, and each prompt may have
    several rows (beams, `num_return_sequences`). End tokens are legal exactly where the text may end, and
    nothing else is where it can only end. Prompts may be padded on the left.

    A generation begins where the prompts end: at the length of the first call, or at `prompt_length` if the
    beginning of the text is in the prompts already. A call with other prompts begins a new generation; where
    new prompts go on from the old ones, call `reset` before.

    Rows that generation finishes by itself (stop strings) go on with padding or an end token where neither is
    legal: their text stays as it is, a beginning of a legal one. Beam search may hold rows of score minus
    infinity, which are not legal; they are led to their end. If no row of a prompt is legal, another
    processor has interfered, and that is an IllegalToken.
    """

    def __init__(
        self,
        constraints: Constraint | Sequence[Constraint],
        vocabulary: object,
        *,
        end_ids: int | Iterable[int] | None = None,
        pad_id: int | None = None,
        prompt_length: int | None = None,
    ) -> None:
        """`vocabulary` is a Vocabulary or a tokenizer of transformers, whose end tokens are the default.
        `pad_id` fills rows that are finished; by default it is that of the tokenizer, if one is given.

        Raises ConstraintError if a constraint has no legal text, and ValueError without end tokens.
        """
        if not isinstance(vocabulary, Vocabulary):
            pad_id = getattr(vocabulary, "pad_token_id", None) if pad_id is None else pad_id
            vocabulary = Vocabulary.from_pretrained(vocabulary)
        if isinstance(end_ids, int):
            end_ids = (end_ids,)
        ends = vocabulary.end_ids if end_ids is None else frozenset(end_ids)
        given = [constraints] if isinstance(constraints, Constraint) else list(constraints)
        if not given:
            raise ValueError("there must be at least one constraint")
        self.vocabulary = vocabulary
        self._guides = [Guide(constraint, vocabulary, ends) for constraint in given]
        self._fillers = ends if pad_id is None else ends | {pad_id}
        self._prompt_length = prompt_length
        self.reset()

    def reset(self) -> None:
        """Forget all texts: the next call begins a generation."""
        self._start = -1
        self._prompts: set[bytes] = set()
        self._known: dict[tuple[int, bytes], _Followed] = {}

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Scores [n, V], at minus infinity where a token may not follow its row of `input_ids` [n, L]."""
        tokens = input_ids.cpu().numpy()
        n = len(tokens)
        if n % len(self._guides):
            raise ValueError(f"{n} rows cannot be shared out to {len(self._guides)} constraints")
        prompts = self._enter(tokens)
        each = max(1, n // len(self._guides))
        after: dict[tuple[int, bytes], _Followed] = {}
        rows = []
        owners = []
        for row, history in enumerate(tokens[:, self._start :]):
            which = 0 if len(self._guides) == 1 else row // each
            owners.append((which, prompts[row]))
            key = (which, history.tobytes())
            found = after.get(key)
            if found is None:
                found = after[key] = self._follow(which, history)
            rows.append(found)
        self._known = after
        _refuse_illegal(rows, owners)
        return _masked(scores, self._masks(rows, max(scores.shape[1], self.vocabulary.size)))

    def _enter(self, tokens: np.ndarray) -> list[bytes]:
        """The prompt of each row; begins a generation unless these are the prompts of the present one."""
        length = tokens.shape[1]
        if length >= self._start >= 0:
            prompts = [row.tobytes() for row in tokens[:, : self._start]]
            if self._prompts.issuperset(prompts):
                return prompts
        start = length if self._prompt_length is None else self._prompt_length
        if not 0 <= start <= length:
            raise ValueError(f"the prompt length is {start}, the rows have {length} tokens")
        prompts = [row.tobytes() for row in tokens[:, :start]]
        self._start, self._prompts, self._known = start, set(prompts), {}
        return prompts

    def _follow(self, which: int, history: np.ndarray) -> _Followed:
        """The guide after a history, from the nearest one that is known."""
        known = self._known.get((which, history.tobytes()))
        if known is not None:
            return known
        if len(history):
            before = self._known.get((which, history[:-1].tobytes()))
            if before is not None:
                return self._onward(before, history)
        nearest = _Followed(history[:0], self._guides[which])
        shared = 0
        for (constraint, _), other in self._known.items():
            if constraint == which and other.guide is not None:
                common = _common_prefix(history, other.tokens)
                if common > shared:
                    nearest, shared = other, common
        assert nearest.guide is not None
        guide = nearest.guide.clone()
        guide.rollback(max(0, guide.steps - shared))
        here = _Followed(history[:shared], guide)
        for end in range(shared + 1, len(history) + 1):
            here = self._onward(here, history[:end])
        return here

    def _onward(self, before: _Followed, history: np.ndarray) -> _Followed:
        """One token more. What follows an end is padding and changes nothing."""
        if before.guide is None or before.guide.is_ended:
            return _Followed(history, before.guide, before.fault)
        guide = before.guide.clone()
        token = int(history[-1])
        if guide.accept(token):
            return _Followed(history, guide)
        if token in self._fillers:
            return _Followed(history, None)
        text = guide.text()[-40:].decode("utf-8", "backslashreplace")
        return _Followed(history, None, f"token {token} is not legal after {text!r}")

    def _masks(self, rows: Sequence[_Followed], width: int) -> np.ndarray:
        masks = allocate(len(rows), width)
        legal = [(row, each.guide) for row, each in enumerate(rows) if each.guide is not None]
        fill([guide for _, guide in legal], masks, [row for row, _ in legal])
        bits = masks.view(np.uint32)
        for row, each in enumerate(rows):
            if each.guide is None:
                for token in self._guides[0].end_ids:
                    bits[row, token >> 5] |= np.uint32(1 << (token & 31))
        return masks


def _refuse_illegal(rows: Sequence[_Followed], owners: Sequence[tuple[int, bytes]]) -> None:
    """Raise IllegalToken if all rows of a constraint and a prompt are illegal."""
    if not any(each.fault for each in rows):
        return
    alive = {owner for each, owner in zip(rows, owners, strict=True) if not each.fault}
    for row, (each, owner) in enumerate(zip(rows, owners, strict=True)):
        if owner not in alive:
            raise IllegalToken(f"row {row}: {each.fault}")


def _common_prefix(first: np.ndarray, second: np.ndarray) -> int:
    size = min(len(first), len(second))
    different = np.flatnonzero(first[:size] != second[:size])
    return int(different[0]) if len(different) else size


def _masked(scores: torch.Tensor, masks: np.ndarray) -> torch.Tensor:
    """A copy of the scores with the masks applied."""
    out = scores.detach().clone(memory_format=torch.contiguous_format)
    if out.device.type == "cpu" and out.dtype == torch.float32:
        operations.apply(out.numpy(), masks)
        return out
    apply = packed_mask_reference.apply_packed_mask
    if out.is_cuda:
        try:
            from sglc.kernels.triton import packed_mask

            apply = packed_mask.apply_packed_mask
        except ImportError:
            pass
    return apply(out, torch.from_numpy(masks).to(out.device))
