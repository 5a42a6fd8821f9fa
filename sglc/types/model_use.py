"""Models as a program names them: which one fills a hole, or which two together."""

from __future__ import annotations

from typing import Literal

from sglc.immutable import value

MAIN = "main"
"""The name of the run's own model in every program."""

Rule = Literal["kl", "ess", "entropy", "forward", "weight"]
"""What finds the share of a blend's second model; `weight` is a share that the program gives."""


@value
class ModelView:
    """A model, and a text that is left out of the conversation wherever it stands before the model reads it;
    empty for none."""

    name: str = MAIN
    without: str = ""


MAIN_VIEW = ModelView()
"""The run's own model, which reads everything."""


@value
class ModelUse:
    """The model of a hole; with a `teacher` the two are blended: one distribution q ∝ base^(1-α) · teacher^α.

    `rule` finds α for each token. See `sglc.kernels.bitmask.mix`. `others` are a chain behind `base`: each is
    asked where those before it cannot be had or fail. A chain has no teacher.
    """

    base: ModelView = MAIN_VIEW
    teacher: ModelView | None = None
    rule: Rule = "kl"
    others: tuple[ModelView, ...] = ()

    @property
    def views(self) -> tuple[ModelView, ...]:
        """All that may be asked: the one or two, or the chain in its order."""
        return (self.base, *self.others) if self.teacher is None else (self.base, self.teacher)

    def shown(self) -> str:
        """As it stands in a program: `big`, `big or small`, `blend(main, big)`."""
        names = [
            view.name + (f' without "{_brief(view.without)}"' if view.without else "") for view in self.views
        ]
        return " or ".join(names) if self.teacher is None else f"blend({', '.join(names)})"


MAIN_USE = ModelUse()
"""Of a hole that names no model."""


def _brief(text: str) -> str:
    line = text.partition("\n")[0]
    return line if line == text and len(line) <= 40 else line[:40] + "…"
