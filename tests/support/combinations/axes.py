"""What can be written at a hole about how its text is found: one value of each axis is one combination."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations as choices
from itertools import product
from typing import Any

HEAD = """\
const RULES = "Be kind."
enum Color: red, green, blue
record Card:
    who: str matching /[a-z]{1,3}/
    points: int in 0..9
grammar Sum:
    start: number ("+" number)?
    number: /[0-9]{1,2}/
pure fn low(prefix: str) -> alive | dead | final:
    return dead if "0" in prefix or "z" in prefix else final

"""

Legal = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Form:
    """What stands at the hole, and what a value of it is. The hole is called `v`."""

    name: str
    text: str
    result: str
    legal: Legal
    behind: str = ""
    """Text on the line of the hole, behind it."""
    after: str = ""
    """A statement after the hole; `{v}` is one value."""
    takes: str = "v"
    """What the function returns of a value."""
    parameters: str = ""
    may: tuple[str, ...] = ()
    """Errors that may end the hole whatever the model writes."""


def _whole(least: int, most: int) -> Legal:
    return lambda v: type(v) is int and least <= v <= most


def _text(pattern: str) -> Legal:
    return lambda v: isinstance(v, str) and re.fullmatch(pattern, v) is not None


def _card(v: Any) -> bool:
    return re.fullmatch(r"[a-z]{1,3}", v.fields["who"]) is not None and 0 <= v.fields["points"] <= 9


def _color(v: Any) -> bool:
    return str(v) in ("red", "green", "blue")


FORMS = (
    Form("str", "str max 6 chars", "str", _text(r"[^\n]{0,6}")),
    Form("int", "int in 1..40", "int", _whole(1, 40)),
    Form("enum", "Color", "Color", _color),
    Form("pattern", "str matching /[ab]{2,4}/", "str", _text(r"[ab]{2,4}")),
    Form("record", "Card", "Card", _card),
    Form("list", "[int in 0..9; 1..2]", "[int]", lambda v: 1 <= len(v) <= 2 and all(map(_whole(0, 9), v))),
    Form("grammar", "Sum", "Sum", _text(r"\d{1,2}(\+\d{1,2})?")),
    Form("union", '"no" | "no, never" | "yes"', "str", lambda v: v in ("no", "no, never", "yes")),
    Form("optional", "(int in 1..9)?", "int?", lambda v: v is None or _whole(1, 9)(v)),
    Form("until", 'str max 6 chars until "."', "str", _text(r"[^.\n]{0,6}")),
    Form("text behind", "str max 6 tok", "str", _text(r"[^.\n]*"), behind="."),
    Form("budget", "str max 20 chars max 4 tok", "str", _text(r"[^\n]{0,20}")),
    Form(
        "one of",
        "one of xs",
        "str",
        lambda v: v in ("ab", "abc", "b"),
        parameters='xs: [str] = ["ab", "abc", "b"]',
    ),
    Form("span of", "span of x", "str", lambda v: v and v in "About it", parameters='x: str = "About it"'),
    Form("mask condition", "int in 1..40 where v > 3", "int", _whole(4, 40)),
    Form("late condition", "int in 1..40 where v * v > 16", "int", _whole(5, 40), may=("Rejected",)),
    Form("validator", "int in 1..40 where low(v)", "int", lambda v: _whole(1, 40)(v) and "0" not in str(v)),
    Form(
        "retry resample",
        "int in 1..40",
        "int",
        _whole(3, 40),
        after='ensure {v} > 2 else "more"\n        retry 2 resample',
        may=("Rejected",),
    ),
    Form(
        "retry repair",
        "int in 1..40",
        "int",
        _whole(3, 40),
        after='ensure {v} > 2 else "more"\n        retry 2 repair',
        may=("Rejected",),
    ),
    Form("choose list", 'choose ["red", "green", "blue"]', "str", _color),
    Form("choose type", "choose Color", "Color", _color),
    Form("select list", 'select ["red", "green", "blue"] by sum', "str", _color, takes="v.top"),
    Form("select type", "select Color by contrast", "Color", _color, takes="v.top"),
)
STRATEGIES = ("", "decode local", "decode exact", "decode smc(2)", "decode beam(2)")
SAMPLERS = (
    "",
    "temp 0",
    "temp 1.0",
    "temp 1.0 top_k 3",
    "temp 1.0 top_p 0.9",
    "temp 1.0 min_p 0.05",
    "temp 1.0 seed 7",
    "top_k 3",
    "seed 7",
)
SAMPLES = ("", "n 1", "n 2")
MODELS = (
    "",
    "using big",
    "using blend(main, big)",
    "using blend(main without RULES, main)",
    "using blend(main, big) by ess",
    "using blend(main, big) at least 0.5",
    "using blend(main, big) weight 0.5",
    "using blend(main, big) weight 1.5",
    "weight 0.5",
)
PLACES = ("hole", "block", "function")
"""Where `using` stands."""


@dataclass(frozen=True, slots=True)
class Combination:
    """One value of each axis."""

    form: Form
    strategy: str = ""
    sampler: str = ""
    samples: str = ""
    model: str = ""
    place: str = "hole"

    @property
    def values(self) -> tuple[str, ...]:
        """By axis, for what counts pairs of them."""
        return (self.form.name, self.strategy, self.sampler, self.samples, self.model)

    @property
    def count(self) -> int:
        """Values that the hole is asked for."""
        return int(self.samples[2:]) if self.samples else 1

    @property
    def draws(self) -> bool:
        """Whether a temperature other than 0 is written."""
        return "temp 1" in self.sampler

    @property
    def idle(self) -> set[str]:
        """Options that are written and change nothing, which a program is told of."""
        limits = {"top_k", "top_p", "min_p"} if "blend" not in self.model else set()
        return set() if self.draws else self.option.keys() & {"seed", *limits}

    @property
    def option(self) -> dict[str, float]:
        """The numbers that are written, by the names that the program's code has for them."""
        words = f"{self.sampler} {self.samples} {self.model}".replace("at least", "at_least").split()
        names = ("temp", "top_k", "top_p", "min_p", "seed", "n", "weight", "at_least")
        return {word: float(words[at + 1]) for at, word in enumerate(words) if word in names}

    @property
    def using(self) -> str:
        """The clause that names models, and nothing of its rule."""
        found = re.match(r"using (big|blend\(.*?\))", self.model)
        return found[0] if found else ""

    def hole(self) -> str:
        """The hole with its options."""
        model = self.model if self.place == "hole" else self.model.removeprefix(self.using).strip()
        options = (self.strategy, self.sampler, self.samples, model)
        return f"?{{v: {' '.join((self.form.text, *filter(None, options)))}}}"

    def function(self, name: str) -> str:
        """A function with this hole and no other."""
        form, listed = self.form, bool(self.samples)
        result = f"[{form.result}]" if listed else form.result
        taken = f"[each{form.takes[1:]} for each in v]" if listed and form.takes != "v" else form.takes
        around = self.using and f" {self.using}"
        head = f"pub fn {name}({form.parameters}) -> {result}{around if self.place == 'function' else ''}:\n"
        lines = ["user: | ${RULES} How many?"]
        line = f"Well: {self.hole()}{form.behind}"
        if self.place == "block":
            lines += ["assistant:", f"   {around}:", f"        | {line}"]
        else:
            lines += [f"assistant: | {line}"]
        if form.after:
            lines += form.after.format(v="v[0]" if listed else "v").splitlines()
        lines += [f"return {taken}"]
        return head + "".join(f"    {each}\n" for each in lines) + "\n"


def combinations() -> Iterator[Combination]:
    """All of them with `using` at the hole, in one order."""
    for form, strategy, sampler, samples, model in product(FORMS, STRATEGIES, SAMPLERS, SAMPLES, MODELS):
        yield Combination(form, strategy, sampler, samples, model)


def covering(made: Iterator[Combination], strength: int) -> list[Combination]:
    """Those that, taken in turn, have values of that many axes together which none before them has."""
    seen: set[tuple[tuple[int, str], ...]] = set()
    kept = []
    for each in made:
        parts = set(choices(enumerate(each.values), strength))
        if not parts <= seen:
            seen |= parts
            kept.append(each)
    return kept
