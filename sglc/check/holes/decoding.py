"""`decode`: which strategy a hole has, and what it cannot stand beside."""

from __future__ import annotations

from itertools import pairwise
from typing import get_args

from sglc.check.core.context import ModuleContext
from sglc.check.core.result import HoleNode
from sglc.check.expressions.constants import Constants
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.decoding import COUNTS, TRIES, Decoding, Strategy
from sglc.types.type import Str
from sglc.types.values import Value

NAMES: tuple[Strategy, ...] = get_args(Strategy)
COUNTED = {"exact": "walks", "smc": "particles", "beam": "beams"}
LIMITING = ("top_k", "top_p", "min_p")


@node
class Decodings:
    """Reads `decode` of holes. What cannot be had is reported, never dropped."""

    module: ModuleContext
    constants: Constants

    def read(self, node: HoleNode, option: ast.HoleOption, samples: int) -> Decoding | None:
        """The strategy that an option names; None where it is faulty, which is reported.

        `samples` is what `n` says. The hole's other options have been read.
        """
        value = option.value
        called = isinstance(value, ast.Call)
        name = value.function if isinstance(value, ast.Call) else value
        if not isinstance(name, ast.Reference) or name.name not in NAMES:
            self._unknown(option, name)
            return None
        arguments = value.arguments if isinstance(value, ast.Call) else ()
        if name.name == "local" and called:
            self._report(option, "`local` counts nothing", value.span, "takes no number")
            return None
        found = self._counted(name.name, arguments, option)
        if found is None or self._apart(node, option, found, samples):
            return None
        return found

    def _unknown(self, option: ast.HoleOption, name: ast.Expression) -> None:
        near = self.module.nearest(name.name, NAMES) if isinstance(name, ast.Reference) else None
        self.module.report(
            "E0347",
            "this is no decoding strategy",
            name.span,
            label="unknown" if isinstance(name, ast.Reference) else "is not the name of one",
            hint=f"did you mean `{near}`?" if near else "strategies: local, exact, smc(8), beam(4)",
            edits=(Edit(name.span, near),) if near else (),
        )

    def _counted(
        self, strategy: Strategy, arguments: tuple[ast.Argument, ...], option: ast.HoleOption
    ) -> Decoding | None:
        """The strategy with its count and what else stands in its parentheses."""
        count: int | None = TRIES if strategy == "exact" else 0 if strategy == "local" else None
        by = "sum"
        named = "tries" if strategy == "exact" else ""
        for argument in arguments:
            label = argument.name.text if argument.name is not None else ""
            if label == "by" and strategy == "beam":
                text = self.constants.needed(argument.value, Str(), "`by`")
                if text not in ("sum", "mean"):
                    what = '`by` is `"sum"` or `"mean"`'
                    self._report(option, what, argument.value.span, "neither of them")
                    return None
                by = str(text)
            elif label == named:
                count = self.constants.whole(argument.value, f"the count of `{strategy}`")
                if count is None:
                    return None
                least, most = COUNTS[strategy]
                if not least <= count <= most:
                    message = f"`{strategy}` has {least} to {most:,} {COUNTED[strategy]}"
                    self._report(option, message, argument.value.span, f"this is {count}")
                    return None
            else:
                written = f"{strategy}(tries = {TRIES})" if named else f"{strategy}(8)"
                hint = f"write `{written}`"
                self._report(option, f"`{strategy}` has no such argument", argument.span, "unknown", hint)
                return None
        if count is None:
            hint = f"write `{strategy}(8)`" if strategy == "smc" else f"write `{strategy}(4)`"
            what = f"`{strategy}` needs the number of its {COUNTED[strategy]}"
            self._report(option, what, option.value.span, "how many?", hint)
            return None
        return Decoding(strategy, count, "mean" if by == "mean" else "sum")

    def _apart(self, node: HoleNode, option: ast.HoleOption, found: Decoding, samples: int) -> bool:
        """Report what the strategy cannot stand beside; whether there is any."""
        before = len(self.module.diagnostics)
        name = found.strategy
        others = {other.kind: other for other in node.options}
        if isinstance(node, ast.Select):
            reason = "`select` scores every option in full: nothing is left to choose a way for"
            self._beside(option, "select", option, reason, drop=option)
        elif isinstance(node, ast.Choose) and name in ("smc", "beam"):
            reason = "`choose` scores every option exactly"
            self._beside(option, "choose", option, reason, drop=option)
        elif name == "beam":
            self._beams(option, found, others, samples)
        elif name in ("exact", "smc") and isinstance(node, ast.Gen):
            self._draws(option, others)
        return len(self.module.diagnostics) > before

    def stands_beside(self, node: HoleNode, distinct: ast.HoleOption, written: Decoding | None) -> bool:
        """Report what `distinct` cannot stand beside: another strategy than exact draws, and what they cannot
        stand beside either. Whether there is nothing."""
        before = len(self.module.diagnostics)
        others = {other.kind: other for other in node.options}
        if written is None and isinstance(node, ast.Gen):
            self._draws(distinct, others)
        elif written is not None and written.strategy != "exact":
            reasons = {"beam": "beams give different texts as they are"}
            reason = reasons.get(written.strategy, "each value is drawn exactly, among those that are left")
            drop = distinct if written.strategy == "beam" else others["decode"]
            self._beside(others["decode"], "distinct", distinct, reason, drop)
        return len(self.module.diagnostics) == before

    def _beams(
        self, option: ast.HoleOption, found: Decoding, others: dict[str, ast.HoleOption], samples: int
    ) -> None:
        for kind in ("temp", *LIMITING, "seed"):
            if kind in others:
                reason = "beams look for the likeliest text and draw nothing"
                self._beside(option, kind, others[kind], reason, drop=others[kind])
        if samples > found.count:
            self.module.report(
                "E0348",
                f"{found.count} beams cannot give {samples} texts",
                others["n"].span,
                label="more than there are beams",
                secondary=(Label(option.span, "this many"),),
                hint=f"write `beam({samples})` or `n {found.count}`",
            )

    def _draws(self, option: ast.HoleOption, others: dict[str, ast.HoleOption]) -> None:
        temperature = others.get("temp")
        if temperature is None or self.module.constants.get(id(temperature.value)) == 0:
            self.module.report(
                "E0348",
                f"`{_shown(option)}` draws, and this hole asks for the likeliest text",
                option.span if temperature is None else temperature.span,
                label="no temperature" if temperature is None else "a temperature of 0 draws nothing",
                hint="add a temperature, such as `temp 1.0`, or write `decode beam(4)`",
            )
        for kind in LIMITING:
            if kind in others:
                name = _shown(option).removeprefix("decode ")
                reason = f"`{name}` draws from the model's whole distribution, given that the text is legal"
                self._beside(option, kind, others[kind], reason, drop=others[kind])

    def validated(self, span: Span, found: Decoding) -> None:
        """Report a validator beside a strategy that cannot ask it."""
        if found.strategy in ("smc", "beam"):
            self.module.report(
                "E0348",
                f"`decode {found.strategy}` cannot go with a validator",
                span,
                label="judges the text so far",
                reason="several texts are written side by side, and none of them is taken back",
                hint="use `decode exact`, or say what is legal in the type",
            )

    def blended(self, span: Span, found: Decoding) -> None:
        """Report two models beside a strategy that asks one."""
        if found.strategy != "local":
            self.module.report(
                "E0348",
                f"`{'distinct' if found.distinct else f'decode {found.strategy}'}` cannot go with two models",
                span,
                label="is filled by both together, token by token",
                reason="their share is found for one token after the other",
                hint=f"leave out `{'distinct' if found.distinct else 'decode'}`, or name one model",
            )

    def ended(self, span: Span, found: Decoding | None) -> None:
        """Report `until` beside beams."""
        if found is not None and found.strategy == "beam":
            self.module.report(
                "E0348",
                "`decode beam` cannot go with `until`",
                span,
                label="may end anywhere",
                reason="the likeliest of such texts is mostly the one that ends first",
                hint="give the text a form of its own, or draw it with `temp`",
            )

    def shadowed(self, node: HoleNode, words: list[str] | None, found: Decoding | None) -> None:
        """Warn of words that are drawn token by token where one begins with another."""
        written = any(option.kind == "decode" for option in node.options)
        usual = isinstance(node, ast.Gen) and not written
        local = found.strategy == "local" if found is not None else usual
        if not local or words is None or not any(draws(self.module.constants, o) for o in node.options):
            return
        ordered = sorted(words)
        pair = next((two for two in pairwise(ordered) if two[1].startswith(two[0])), None)
        if pair is not None:
            self.module.report(
                "W0229",
                f'"{pair[1]}" begins with "{pair[0]}", and beginnings decide alone',
                node.span,
                label="is drawn token by token",
                reason="each token is drawn for itself among the legal ones, not the word as a whole",
                witness=f'"{pair[0]}" against "{pair[1]}"',
                hint="write `decode exact`, or `choose`, which weighs whole words",
            )

    def _beside(
        self,
        option: ast.HoleOption,
        what: str,
        other: ast.HoleOption,
        reason: str,
        drop: ast.HoleOption,
    ) -> None:
        self.module.report(
            "E0348",
            f"`{_shown(option)}` cannot go with `{what}`",
            other.span,
            label="cannot stand here",
            secondary=() if other is option else (Label(option.span, "the strategy"),),
            reason=reason,
            hint=f"leave out `{what}`" if drop is other else "leave out `decode`",
            edits=(Edit(_with_blank(drop.span), ""),),
        )

    def _report(self, option: ast.HoleOption, message: str, span: Span, label: str, hint: str = "") -> None:
        self.module.report("E0347", message, span, label=label, hint=hint)


def _shown(option: ast.HoleOption) -> str:
    """`decode NAME` or `distinct`, as messages name it."""
    name = option.value.function if isinstance(option.value, ast.Call) else option.value
    return f"decode {name.name}" if isinstance(name, ast.Reference) else option.kind


def draws(constants: dict[int, Value], option: ast.HoleOption) -> bool:
    """Whether an option is a temperature other than 0, or one that is not known yet."""
    return option.kind == "temp" and constants.get(id(option.value)) != 0


def _with_blank(span: Span) -> Span:
    """A place with the blanks before it on its line."""
    before = span.source.text[: span.start]
    return Span(span.source, len(before.rstrip(" ")), span.end)
