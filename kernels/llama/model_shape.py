"""The shape of a model, as constants of its step."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sglc.kernels.llama.kv_layout import part_bytes

HEAD_SIZES = tuple(range(32, 257, 32))
"""Sizes of heads that attention is written for."""
_TOGETHER = 3
"""Most query heads at a time: of 64 numbers, the two sums of each 16 of them fill 24 of 32 registers."""


class ShapeError(ValueError):
    """A shape that the kernels are not written for; the message says why."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """Numbers that the code of a step is made for. Raises ShapeError for what it cannot be made for."""

    layers: int
    heads: int
    """Heads of queries."""
    shared: int
    """Heads of keys and values; each serves heads / shared query heads."""
    size: int
    """Numbers of a head."""
    turned: int
    """Numbers of a head that rotate with the position, from its beginning."""
    width: int
    inner: int
    vocabulary: int
    biased: bool
    """Whether queries, keys and values have biases."""
    normed: bool
    """Whether heads of queries and keys are normed one by one."""

    def __post_init__(self) -> None:
        least = min(self.layers, self.heads, self.shared, self.width, self.inner, self.vocabulary)
        if least < 1 or self.heads % self.shared:
            raise ShapeError(f"{self.heads} heads share {self.shared} heads of keys")
        if self.size not in HEAD_SIZES:
            raise ShapeError(f"heads of {self.size} numbers; multiples of 32 up to 256 are known")
        if self.turned % 32 or not 0 < self.turned <= self.size:
            raise ShapeError(
                f"{self.turned} of {self.size} numbers of a head rotate; multiples of 32 are known"
            )
        for name, value in (("width", self.width), ("inner width", self.inner)):
            if value % 32:
                raise ShapeError(f"a {name} of {value}, which is no multiple of 32")

    @property
    def all_heads(self) -> int:
        """Outputs of queries, keys and values together."""
        return (self.heads + 2 * self.shared) * self.size

    @property
    def padded_vocabulary(self) -> int:
        """Outputs of the head: a multiple of 32."""
        return -(-self.vocabulary // 32) * 32

    @property
    def together(self) -> int:
        """Query heads that attention computes at a time, of those that share a head of keys."""
        group = self.heads // self.shared
        return -(-group // -(-group // _TOGETHER))

    @property
    def block_bytes(self) -> int:
        """Bytes of a block of 16 positions: keys and values of all layers."""
        return self.layers * self.shared * part_bytes(self.size)

    @property
    def vector_numbers(self) -> int:
        """Floats of the norms, then biases, then norms of heads."""
        norms = (2 * self.layers + 1) * self.width
        biases = self.layers * self.all_heads if self.biased else 0
        return norms + biases + (2 * self.layers * self.size if self.normed else 0)

    def constants(self) -> dict[str, int]:
        """For the kernel `sglc.kernels.llama.step.step`."""
        found = {name: int(value) for name, value in asdict(self).items()}
        return {**found, "vocabulary": self.padded_vocabulary, "together": self.together}
