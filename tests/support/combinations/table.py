"""The table of what goes together at a hole, as the page about decoding has it: asked of the compiler."""

from __future__ import annotations

from dataclasses import dataclass, replace

from combinations.axes import FORMS, Combination
from combinations.compiling import check

BEGIN = "<!-- what goes together: made by tests/support/combinations/table.py -->"
END = "<!-- end of what goes together -->"
_FORMS = {form.name: form for form in FORMS}


@dataclass(frozen=True, slots=True)
class Column:
    """A way to find a text, in the shortest form in which it can be had."""

    title: str
    strategy: str = ""
    sampler: str = ""
    model: str = ""
    form: str = ""
    """Of `choose` and `select`."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is added to each of them. `form` takes the place of the type; `more` is written behind it, also
    behind options."""

    title: str
    sampler: str | None = None
    samples: str = ""
    model: str = ""
    form: str = ""
    more: str = ""


COLUMNS = (
    Column("`local`", "decode local", "temp 1.0"),
    Column("`exact`", "decode exact", "temp 1.0"),
    Column("`smc`", "decode smc(2)", "temp 1.0"),
    Column("`beam`", "decode beam(2)"),
    Column("two models", "", "temp 1.0", "using blend(main, big)"),
    Column("`choose`", "", "temp 1.0", form="choose list"),
    Column("`select`", form="select list"),
)
ROWS = (
    Row("nothing else"),
    Row("no `temp`", sampler=""),
    Row("`temp 1.0`", sampler="temp 1.0"),
    Row("`top_k`, `top_p`, `min_p`", sampler="temp 1.0 top_k 3"),
    Row("`top_k` without `temp`", sampler="top_k 3"),
    Row("`seed`", sampler="temp 1.0 seed 7"),
    Row("`seed` without `temp`", sampler="seed 7"),
    Row("`n 2`", samples="n 2"),
    Row("`n 3`", samples="n 3"),
    Row("`max n tok`", more="max 9 tok"),
    Row("`until`", form="str", more='until "."'),
    Row("text behind the hole", form="text behind"),
    Row("records, lists, optionals", form="record"),
    Row("patterns", form="pattern"),
    Row("grammars", form="grammar"),
    Row("`one of xs`", form="one of"),
    Row("`span of x`", form="span of"),
    Row("`where` in the mask", form="mask condition"),
    Row("`where` that is asked at the end", form="late condition"),
    Row("the same with `n 2`", form="late condition", samples="n 2"),
    Row("a validator", form="validator"),
    Row("`retry` `resample`, `repair`", form="retry resample"),
    Row("`using big`", model="using big"),
    Row("`using blend(a, b)`", model="using blend(main, big)"),
    Row("… `by ess`, `at least`", model="using blend(main, big) at least 0.5"),
    Row("… `weight 0.5`", model="using blend(main, big) weight 0.5"),
    Row("… `weight 1.5` without `min_p`", model="using blend(main, big) weight 1.5"),
    Row("`weight` without a blend", model="weight 0.5"),
)
NONE = "–"
"""There is no such hole: options have no type, and two models are two."""


def combination(row: Row, column: Column) -> Combination | None:
    """What a cell is about; None where there is no such hole."""
    of_options = bool(column.form)
    if (of_options and row.form and not row.more) or (column.model and row.model == "weight 0.5"):
        return None
    form = _FORMS[column.form or row.form or "int"]
    return Combination(
        replace(form, text=f"{form.text} {row.more}".strip()),
        column.strategy,
        column.sampler if row.sampler is None else row.sampler,
        row.samples,
        row.model or column.model,
    )


def table() -> str:
    """The table in Markdown, with a blank line around it."""
    cells = {(row, column): combination(row, column) for row in ROWS for column in COLUMNS}
    made = [each for each in cells.values() if each is not None]
    said = dict(zip([key for key, each in cells.items() if each is not None], check(made), strict=True))
    lines = [
        "| | " + " | ".join(column.title for column in COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for row in ROWS:
        shown = []
        for column in COLUMNS:
            found = said.get((row, column))
            if found is None:
                shown.append(NONE)
                continue
            told = [
                code for code in found.codes if code not in ("W0207", "W0215")
            ]  # not of what goes together
            refusing = next((each.code for each in found.errors), "")
            shown.append(refusing or " ".join(("yes", *told)))
        lines.append(f"| {row.title} | " + " | ".join(shown) + " |")
    return "\n" + "\n".join(lines) + "\n"


def with_table(page: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"
