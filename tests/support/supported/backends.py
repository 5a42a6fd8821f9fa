"""The table of docs/backends.md: what each kind of backend can do, from its capabilities."""

from __future__ import annotations

from sglc.runtime.backends.kinds import KINDS, Kind

_NOTATIONS = {"gbnf": "GBNF", "lark": "Lark", "regex": "patterns", "choice": "choices"}
_DIALECTS = {
    "whole": "JSON Schema",
    "openai": "strict JSON Schema",
    "anthropic": "JSON Schema without bounds",
}


def table() -> str:
    """The rows, one for each kind."""
    head = ["name", "enforces", "continues", "scores", "chances", "seed", "sampling"]
    rows = [head, ["---"] * len(head), *map(_row, KINDS.values())]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(kind: Kind) -> list[str]:
    can = kind.capabilities
    enforces = [text for name, text in _NOTATIONS.items() if name in can.notations]
    if can.dialect is not None:
        enforces.append(_DIALECTS[can.dialect])
    sampling = (["`temp`"] if can.temperature else []) + [f"`{name}`" for name in sorted(can.samplers)]
    return [
        f"`{kind.form}`",
        ", ".join(enforces) or "nothing",
        "yes" if can.continues else "no",
        "yes" if can.scores else "no",
        str(can.top_logprobs) if can.top_logprobs else "no",
        "yes" if can.seed else "no",
        ", ".join(sampling) or "none",
    ]
