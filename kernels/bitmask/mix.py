"""Two rows of logits as one distribution: q ∝ base^(1 - α) · teacher^α, and the α that a rule asks for.

Let a and b be the natural logarithms of the two distributions over the legal tokens, both renormalised to
those to which both give a probability, and d = b - a. Then q = exp(a + αd - ψ(α)) with
ψ(α) = log Σ exp(a + αd), whose derivatives are the mean and the variance of d under q; ψ(0) = ψ(1) = 0.

  kl       KL(q‖base) = KL(q‖teacher). The difference is ψ'(α), so α is the minimum of the convex ψ, and -ψ(α)
           is the Chernoff information of the two (Chernoff 1952).
  ess      Σ base²/q = Σ teacher²/q: equally many effective samples of both (Kong 1992). ψ(-α) = ψ(2 - α).
  entropy  α = H(base) / (H(base) + H(teacher)): the surer one has the larger share.
  forward  KL(base‖q) = KL(teacher‖q): α = KL(teacher‖base) / (KL(base‖teacher) + KL(teacher‖base)).

The first two are roots of monotone functions: Newton's method, kept inside of a bracket. The last two are in
closed form. Where d is constant every α gives the same q; it is ½.

Signatures (rows contiguous; V tokens, R rows, masks int32[R, ceil(V/32)]):
  moments(base: float32[V], teacher: float32[V], mask, weight) -> (log_sum, mean, variance)
  solve(base: float32[R, V], teacher: float32[R, V], masks | None, rule) -> Solved
  mixture(base: float32[V], teacher: float32[V], weight) -> float32[V]

The compiled kernel keeps sums in float64 and weights in float32: α is right to 1e-5 where ψ' is not flat.
The reference is float64 throughout.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from sglc.kernels.bitmask import mix_reference
from sglc.kernels.dsl.addresses import address
from sglc.kernels.dsl.array_layouts import LayoutError, expect
from sglc.kernels.jit_library import COUNT, FLOAT, POINTER, Library

Rule = Literal["kl", "ess", "entropy", "forward"]
SMALL = 1e-6
"""A function whose root is wanted is taken for 0 below this, and an α for found where a step is smaller.
Float32 logits leave no more: the error of ψ' is about their rounding."""
SPARE = 0.1
"""So much of SMALL may be left by a step that is the last one: its estimate is off by less than tenfold."""
MOST_STEPS = 60
"""Halving a bracket of 1 so often leaves less than a float has."""


def _build() -> str:
    from sglc.kernels.llvm import mix

    return mix.build()


_SUMS = (None, POINTER, POINTER, POINTER, COUNT, FLOAT, FLOAT, FLOAT, FLOAT, POINTER)
_LIBRARY = Library(
    _build,
    {
        "sglc_masked_moments": _SUMS,
        "sglc_all_moments": _SUMS,
        "sglc_mixture": (None, POINTER, POINTER, COUNT, FLOAT, FLOAT, POINTER),
    },
    brief=True,
)


class Moments(NamedTuple):
    """log Σ exp((1 - weight) · base + weight · teacher) over what counts, and the mean and variance of
    teacher - base under these weights. (-inf, 0, 0) where nothing counts."""

    log_sum: float
    mean: float
    variance: float


class Solved(NamedTuple):
    """Of each row: α, and -ψ(α), which is the Chernoff information under the rule `kl`. Both float64 [R]."""

    alpha: np.ndarray
    chernoff: np.ndarray


def _check(base: np.ndarray, teacher: np.ndarray, mask: np.ndarray | None) -> None:
    expect(base, "base", np.float32)
    expect(teacher, "teacher", np.float32)
    if base.shape != teacher.shape:
        raise LayoutError("the two rows are not of one length")
    if mask is not None:
        expect(mask, "mask", np.int32)
        if 32 * len(mask) < len(base):
            raise LayoutError("the mask is shorter than the logits")


class _Row:
    """The sums of one pair of rows: ψ and its derivatives at any α."""

    def __init__(self, base: np.ndarray, teacher: np.ndarray, mask: np.ndarray | None) -> None:
        _check(base, teacher, mask)
        self.base, self.teacher, self.mask = base, teacher, mask
        self._kernels = _LIBRARY.functions()
        self._out = np.empty(4)
        self._tops = (0.0, 0.0)
        """What is taken off the logits before they are multiplied: float32 tells small numbers apart best."""

    @cached_property
    def ends(self) -> tuple[Moments, Moments]:
        """The moments at 0 and 1. What is asked for afterwards is counted from the largest logits."""
        first, base_top = self._sums(0.0)
        second, teacher_top = self._sums(1.0)
        if first.log_sum > -math.inf:
            self._tops = (base_top, teacher_top)
        return first, second

    def at(self, weight: float) -> Moments:
        """The moments at an α."""
        return self._sums(weight)[0]

    def _sums(self, weight: float) -> tuple[Moments, float]:
        """The moments at an α, and the largest exponent, counted from `_tops`."""
        kernels = self._kernels
        if kernels is None:
            return Moments(*mix_reference.moments(self.base, self.teacher, self.mask, weight)), 0.0
        run, bits = kernels.all_moments, 0
        if self.mask is not None:
            run, bits = kernels.masked_moments, address(self.mask)
        first, second = self._tops
        rows = (address(self.base), address(self.teacher), bits, len(self.base))
        run(*rows, 1.0 - weight, weight, first, second, address(self._out))
        largest, total, linear, square = self._out.tolist()
        if not total:
            return Moments(-math.inf, 0.0, 0.0), 0.0
        mean = linear / total
        log_sum = largest + math.log(total) + (1.0 - weight) * first + weight * second
        variance = max(square / total - mean * mean, 0.0)
        return Moments(log_sum, mean + second - first, variance), largest

    @property
    def empty(self) -> bool:
        """Whether there is no token to which both give a probability."""
        return self.ends[0].log_sum == -math.inf

    def psi(self, weight: float) -> tuple[float, float, float]:
        """ψ, ψ' and ψ'' at an α."""
        known = self.ends[int(weight)] if weight in (0.0, 1.0) else self.at(weight)
        return self.normal(weight, known)

    def normal(self, weight: float, found: Moments) -> tuple[float, float, float]:
        """ψ, ψ' and ψ'' of moments: those of distributions, where moments are those of logits."""
        first, second = self.ends[0].log_sum, self.ends[1].log_sum
        return (
            found.log_sum - (1.0 - weight) * first - weight * second,
            found.mean - (second - first),
            found.variance,
        )


def moments(base: np.ndarray, teacher: np.ndarray, mask: np.ndarray | None, weight: float) -> Moments:
    """The sums of one row at an α, any number; see `Moments`."""
    _check(base, teacher, mask)
    return _Row(base, teacher, mask).at(weight)


def solve(base: np.ndarray, teacher: np.ndarray, masks: np.ndarray | None, rule: Rule) -> Solved:
    """The α of each row by a rule. A row without a token to which both give a probability has ½ and NaN."""
    found = [
        _RULES[rule](row) if not row.empty else (0.5, math.nan)
        for row in (
            _Row(base[at], teacher[at], None if masks is None else masks[at]) for at in range(len(base))
        )
    ]
    values = np.array(found, np.float64).reshape(-1, 2)
    return Solved(values[:, 0], values[:, 1])


def chernoff(base: np.ndarray, teacher: np.ndarray, mask: np.ndarray | None, weight: float) -> float:
    """-ψ(weight) of one row, in nats: how far apart the two are, from there. NaN where nothing counts."""
    row = _Row(base, teacher, mask)
    return math.nan if row.empty else -row.psi(weight)[0]


def effective_samples(
    base: np.ndarray, teacher: np.ndarray, mask: np.ndarray | None, weight: float
) -> tuple[float, float]:
    """1 / Σ p²/q of one row for p the base and for p the teacher: what share of draws from q counts as draws
    from p. NaN where nothing counts."""
    row = _Row(base, teacher, mask)
    if row.empty:
        return math.nan, math.nan
    own = row.psi(weight)[0]
    return math.exp(-own - row.psi(-weight)[0]), math.exp(-own - row.psi(2.0 - weight)[0])


def mixture(base: np.ndarray, teacher: np.ndarray, weight: float) -> np.ndarray:
    """(1 - weight) · base + weight · teacher, -inf where either is. At 0 and 1 one of the rows itself."""
    _check(base, teacher, None)
    if weight in (0.0, 1.0):
        return teacher if weight else base
    out = np.empty_like(base)
    kernels = _LIBRARY.functions()
    if kernels is None:
        mix_reference.mixture(base, teacher, weight, out)
    else:
        kernels.mixture(address(base), address(teacher), len(base), 1.0 - weight, weight, address(out))
    return out


# -- the rules ---------------------------------------------------------------------------------------


def _kl(row: _Row) -> tuple[float, float]:
    _, low, _ = row.normal(0.0, row.ends[0])
    _, high, _ = row.normal(1.0, row.ends[1])
    if -low < SMALL and high < SMALL:
        return 0.5, max(0.0, -row.psi(0.5)[0])
    last = (0.0, 0.0, low)

    def slope(weight: float) -> tuple[float, float]:
        nonlocal last
        psi, first, second = row.psi(weight)
        last = (weight, psi, first)
        return first, second

    alpha = _root(slope, low / (low - high))
    weight, psi, first = last
    # ψ at the root, to the second order in a step below SMALL: no pass more
    return alpha, max(0.0, -(psi + 0.5 * first * (alpha - weight)))


def _ess(row: _Row) -> tuple[float, float]:
    def difference(weight: float) -> tuple[float, float]:
        near, near_slope, _ = row.psi(-weight)
        far, far_slope, _ = row.psi(2.0 - weight)
        return near - far, far_slope - near_slope

    low, high = difference(0.0)[0], difference(1.0)[0]
    alpha = 0.5 if -low < SMALL and high < SMALL else _root(difference, low / (low - high))
    return alpha, max(0.0, -row.psi(alpha)[0])


def _forward(row: _Row) -> tuple[float, float]:
    low, high = -row.normal(0.0, row.ends[0])[1], row.normal(1.0, row.ends[1])[1]
    alpha = 0.5 if low < SMALL and high < SMALL else min(1.0, max(0.0, high / (low + high)))
    return alpha, max(0.0, -row.psi(alpha)[0])


def _entropy(row: _Row) -> tuple[float, float]:
    first, second = (entropy(each, row.mask) for each in (row.base, row.teacher))
    alpha = first / (first + second) if first + second > 0.0 else 0.5
    return alpha, max(0.0, -row.psi(alpha)[0])


def entropy(logits: np.ndarray, mask: np.ndarray | None) -> float:
    """The entropy of one row over the set bits, in nats."""
    found = _Row(np.zeros_like(logits), logits, mask).at(1.0)
    return max(0.0, found.log_sum - found.mean)


_RULES: dict[Rule, Callable[[_Row], tuple[float, float]]] = {
    "kl": _kl,
    "ess": _ess,
    "entropy": _entropy,
    "forward": _forward,
}


def _root(function: Callable[[float], tuple[float, float]], start: float) -> float:
    """Where an increasing function on [0, 1] is 0; it gives its value and its slope.

    Newton's method; where a step would leave what is known to hold the root, that is halved. A step leaves
    half the second derivative times its square; where that, as two slopes tell it, is far below SMALL, the
    function is not asked again.
    """
    low, high, at = 0.0, 1.0, min(1.0, max(0.0, start))
    known: tuple[float, float] | None = None
    for _ in range(MOST_STEPS):
        value, slope = function(at)
        if abs(value) < SMALL:
            break
        if value < 0.0:
            low = at
        else:
            high = at
        before, at = at, at - value / slope if slope > 0.0 else -1.0
        halved = not low <= at <= high
        if halved:
            at = 0.5 * (low + high)
        step = abs(at - before)
        if step < SMALL:
            break
        if known is not None and not halved and before != known[0]:
            second = abs((slope - known[1]) / (before - known[0]))
            if 0.5 * second * step * step < SMALL * SPARE:
                break
        known = before, slope
    return at
