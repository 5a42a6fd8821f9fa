"""Where holes may stand, and what their options may be."""

from __future__ import annotations

from typing import TypedDict

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import HoleNode, Unknown
from sglc.check.expressions.constants import Constants
from sglc.check.expressions.folding import fold
from sglc.check.expressions.inference import Inference
from sglc.check.holes.decoding import LIMITING, Decodings, draws
from sglc.check.holes.distinct import Distinct
from sglc.check.names.scopes import Scopes
from sglc.check.types.kinds import numeric_rank, said
from sglc.diagnostics.diagnostic import Label
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.arithmetic import is_number
from sglc.types.decoding import LOCAL, Decoding
from sglc.types.type import Str

MAX_TOKENS = 1_000_000

MOST_SAMPLES = 1024

RANGES: dict[str, tuple[float, float, str]] = {
    "temp": (0, 10, "a temperature lies in 0..10"),
    "top_p": (0, 1, "a probability lies in 0..1"),
    "min_p": (0, 1, "a probability lies in 0..1"),
    "top_k": (1, 10_000_000, "at least one token must be left"),
    "weight": (
        0,
        10,
        "0 is the base alone, 1 the teacher alone, and more is a contrast of the two, up to 10",
    ),
    "at_least": (0, 1, "a least share lies in 0..1"),
}

DRAWING = {
    "temp": "temp",
    "top_p": "top_p",
    "top_k": "top_k",
    "min_p": "min_p",
    "seed": "seed",
    "max_tokens": "max … tok",
}
"""Options that say how a value is drawn, and how long it may be, as they are written."""


class KnownOptions(TypedDict, total=False):
    """The options of a hole on which its type and its end depend; None for a budget that is not known, and
    for a strategy that is faulty."""

    n: int
    until: list[tuple[str, Span]]
    max_tokens: int | None
    decoding: Decoding | None


@node
class HoleOptions:
    """Options known now are returned; others are checked by type."""

    module: ModuleContext
    scopes: Scopes
    inference: Inference
    constants: Constants
    decodings: Decodings
    distinct: Distinct

    def check_place(self, node: HoleNode) -> None:
        """Report a hole that stands where no model is asked."""
        function = self.scopes.function
        if function.kind in ("pure", "const", "test"):
            self.module.report(
                "E0404",
                f"a hole cannot stand in {self.scopes.place()}",
                node.span,
                label="asks a model",
                hint="move it to a `fn`" if function.kind != "test" else "call a function, or `fuzz` it",
            )
        elif function.role is not None and function.role != "assistant":
            assert function.role_span is not None
            self.module.report(
                "E0405",
                f"a hole cannot stand under `{function.role}`",
                node.span,
                label="only the assistant's text is generated",
                secondary=(Label(function.role_span, f"inside this `{function.role}`"),),
                hint="move it under `assistant:`",
            )
        elif function.role is None and function.has_roles and function.kind == "fn":
            self.module.report(
                "E0405",
                "a hole stands outside the roles",
                node.span,
                label="belongs to no message",
                hint="move it under `assistant:`",
            )

    def read(self, node: HoleNode) -> KnownOptions:
        """Check the options; constants by kind, `until` as a list of texts."""
        found: KnownOptions = {}
        decode: ast.HoleOption | None = None
        distinct: ast.HoleOption | None = None
        for option in node.options:
            kind = option.kind
            if kind in ("using", "by"):
                continue  # see `sglc.check.holes.models`
            elif kind == "decode":
                decode = option
            elif isinstance(node, ast.Select) and kind in DRAWING:
                self.module.report(
                    "E0330",
                    f"`{DRAWING[kind]}` belongs to `gen` and `choose`",
                    option.span,
                    label="`select` draws nothing: it scores all options and takes the best",
                    hint="leave it out, or write `choose`",
                )
            elif kind == "distinct":
                distinct = option
            elif kind == "n":
                self._samples(node, option, found)
            elif kind == "until":
                self._until(node, option, found)
            else:
                self._number_option(option, found)
        if decode is not None:
            found["decoding"] = self.decodings.read(node, decode, found.get("n", 1))
        if distinct is not None:
            written = found.get("decoding")
            faulty = decode is not None and written is None
            found["decoding"] = self.distinct.read(node, distinct, written, faulty)
        if (
            found.get("n", 1) > 1
            and not _differ(found)
            and not any(draws(self.module.constants, o) for o in node.options)
        ):
            self.module.report(
                "W0216",
                "all samples will be the same",
                node.span,
                label="draws the likeliest token always",
                hint="add a temperature, such as `temp 0.8`",
            )
        return found

    def check_effect(self, node: HoleNode, found: KnownOptions, blended: bool) -> None:
        """Warn of options that change nothing, as the most probable token is taken. What two models share is
        limited all the same."""
        if isinstance(node, ast.Select) or any(draws(self.module.constants, o) for o in node.options):
            return
        strategy = found["decoding"] if "decoding" in found else LOCAL
        if strategy is None or (strategy.strategy != "local" and isinstance(node, ast.Gen)):
            return  # the strategy tells what it cannot stand beside
        for option in node.options:
            if option.kind == "seed" or (option.kind in LIMITING and not blended):
                self.module.report(
                    "W0233",
                    f"`{option.kind}` changes nothing here",
                    option.span,
                    label="the likeliest is taken always",
                    hint=f"add a temperature, such as `temp 0.8`, or leave out `{option.kind}`",
                )

    def _samples(self, node: HoleNode, option: ast.HoleOption, found: KnownOptions) -> None:
        """`n k`: the value becomes a list of k."""
        if isinstance(node, ast.Select):
            self.module.report(
                "E0330",
                "`n` belongs to `gen` and `choose`",
                option.span,
                label="`select` weighs all options at once",
            )
            return
        found["n"] = 1
        count = self.constants.whole(option.value, "`n`")
        if count is not None and not 1 <= count <= MOST_SAMPLES:
            self.module.report(
                "E0330",
                f"a hole has 1 to {MOST_SAMPLES} samples",
                option.value.span,
                label=f"this is {count}",
            )
        elif count is not None:
            found["n"] = count

    def _until(self, node: HoleNode, option: ast.HoleOption, found: KnownOptions) -> None:
        if not isinstance(node, ast.Gen):
            self.module.report(
                "E0330", "`until` belongs to `gen`", option.span, label="options have their own ends"
            )
            return
        text = self.constants.needed(option.value, Str(), "a stop text")
        if isinstance(text, str):
            found.setdefault("until", []).append((text, option.span))

    def _number_option(self, option: ast.HoleOption, found: KnownOptions) -> None:
        kind = option.kind
        if kind == "max_tokens":
            count = self.constants.whole(option.value, "`max … tok`")
            found["max_tokens"] = None
            if count is not None and not 1 <= count <= MAX_TOKENS:
                fault = "at least 1" if count < 1 else f"at most {MAX_TOKENS:,}"
                self.module.report(
                    "E0330", f"a token budget is {fault}", option.value.span, label=f"this is {count}"
                )
                return
            if count is not None:
                found["max_tokens"] = count
            return
        type = self.inference.infer(option.value)
        rank = numeric_rank(type, self.module.table)
        whole = kind in ("top_k", "seed")
        if isinstance(type, Unknown):
            return
        if rank is None or (whole and rank > 0):
            self.module.report(
                "E0330",
                f"`{kind}` is {'an integer' if whole else 'a number'}, not {said(type)}",
                option.value.span,
                label=f"this is {said(type)}",
            )
            return
        known, value = fold(self.module, option.value)
        if known and is_number(value):
            self.module.constants[id(option.value)] = value
            limits = RANGES.get(kind)
            if limits is not None and not limits[0] <= value <= limits[1]:
                self.module.report(
                    "E0330",
                    f"`{kind}` cannot be {value}",
                    option.value.span,
                    label="out of range",
                    reason=limits[2],
                )
                return


def _differ(found: KnownOptions) -> bool:
    """Whether samples differ without a temperature, as those of beams and distinct ones do. True too of a
    faulty strategy."""
    strategy = found.get("decoding")
    return strategy.strategy == "beam" or strategy.distinct if strategy is not None else "decoding" in found
