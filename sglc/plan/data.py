"""A plan as plain data: what `sglc plan --json` prints. `docs/plan.schema.json` describes it."""

from __future__ import annotations

from dataclasses import asdict

from sglc.plan.measured import Measured
from sglc.plan.plan import FunctionPlan, HolePlan, ProgramPlan, Row

VERSION = 1
"""Raised where the meaning of something changes; what is added does not raise it."""


def as_data(plan: ProgramPlan, measured: Measured | None = None) -> dict[str, object]:
    """The plan of a program, and what a run took."""
    found: dict[str, object] = {
        "version": VERSION,
        "file": plan.file,
        "model": plan.model or None,
        "unit": plan.unit,
        "functions": [function_data(function) | _cost(plan, function) for function in plan.functions],
    }
    if measured is not None:
        found["run"] = _run(measured)
    return found


def _cost(plan: ProgramPlan, function: FunctionPlan) -> dict[str, object]:
    """What its answers cost, as decimals in texts: no reader makes floats of them unasked."""
    cost = plan.cost(function)
    if cost is None or plan.price is None:
        return {}
    least, most = cost
    greatest = None if most is None else f"{most:f}"
    return {"cost": {"least": f"{least:f}", "greatest": greatest, "currency": plan.price.currency}}


def function_data(function: FunctionPlan) -> dict[str, object]:
    """One function."""
    return {
        "name": function.name,
        "signature": function.signature,
        "least": function.least,
        "greatest": function.most,
        "within": function.within,
        "verdict": function.verdict,
        "beginning": function.beginning,
        "behind": function.behind,
        "rows": [row_data(row) for row in function.rows],
    }


def row_data(row: Row) -> dict[str, object]:
    """One row."""
    found: dict[str, object] = {"number": row.number, "depth": row.depth, "kind": row.kind}
    if row.role:
        found["role"] = row.role
    if row.line is not None:
        found["line"] = row.line
    if row.kind == "text":
        found.update(text=row.text, size=row.size, behind=row.behind)
    if row.kind == "leave":
        found["how"] = row.text
    if row.kind in ("value", "call", "part", "fork", "loop", "choice"):
        found["origins"] = list(row.origins)
    if row.times is not None:
        found["times"] = {"least": row.times[0], "greatest": row.times[1]}
    if row.function:
        found["function"] = row.function
    if row.kind == "call":
        found["started"] = row.started
    if row.hole is not None:
        found["hole"] = _hole(row.hole)
    return found


def _hole(hole: HolePlan) -> dict[str, object]:
    return {
        "name": hole.name,
        "mode": hole.mode,
        "type": hole.type,
        "least": hole.least,
        "least_exact": hole.exact,
        "least_cut": min(hole.cut, hole.least),
        "greatest": hole.most,
        "greatest_exact": hole.most_exact,
        "because": hole.because,
        "drawn": hole.drawn,
        "forced": hole.forced,
        "value": hole.value,
        "attempts": hole.attempts,
        "samples": hole.samples,
        "masks": None if hole.masks is None else asdict(hole.masks),
    }


def _run(measured: Measured) -> dict[str, object]:
    return {**asdict(measured), "tokens": measured.tokens}
