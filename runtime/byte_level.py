"""The alphabet of byte-level BPE, and the error of tokenizers that cannot be used.

Shared by the model's tokenizer (`sglc.runtime.tokenizer`) and the vocabulary of masks
(`sglc.runtime.mask.vocabulary`).
"""

from __future__ import annotations

from functools import cache


class TokenizerError(ValueError):
    """A tokenizer that is damaged, that cannot keep text as it is, or whose tokens are not known as bytes."""


@cache
def byte_alphabet() -> dict[str, int]:
    """The byte that each character of byte-level BPE stands for (the table of GPT-2, inverted).

    Printable bytes of Latin-1 stand for themselves, the others for U+0100 onwards in order.
    """
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in plain}
    others = (byte for byte in range(256) if chr(byte) not in table)
    table.update({chr(256 + rank): byte for rank, byte in enumerate(others)})
    return table
