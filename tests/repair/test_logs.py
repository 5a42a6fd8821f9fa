"""The log of corrections of small repairs, in golden files: what was asked, refused, put, and by whom."""

from __future__ import annotations

import json

import pytest

import sglc
from golden_case import GoldenCase, golden_cases


def shown(case: GoldenCase) -> str:
    """The first line of a case has the options as JSON, each other one an answer: a text, or its pieces. The
    last answer comes again and again. `ask` has the words that are picked."""
    first, *rest = [json.loads(line) for line in case.input.splitlines()]
    lines: list[str] = []
    picks = iter(first.pop("ask", []))

    def generate(prompt: str) -> object:
        lines.append(f"asked {prompt!r}")
        answer = rest.pop(0) if len(rest) > 1 else rest[0]
        return iter(answer) if isinstance(answer, list) else answer

    def ask(prompt: str, text: str, words: list[str]) -> object:
        lines.append(f"of    {' '.join(map(repr, words))}")
        return next(picks, None)

    if picks.__length_hint__():
        first["ask"] = ask
    pieces: list[str] = []
    first["on_piece"] = pieces.append
    try:
        found = sglc.repair(generate, **first)
    except sglc.RunError as error:
        corrections, calls, tokens = (error.fields[name] for name in ("corrections", "calls", "tokens"))
        end = [f"error {error.name}: {error.reason}", f"kept  {error.partial!r}"]
    else:
        corrections, calls, tokens = found.corrections, found.calls, found.tokens
        end = [f"text  {found.text!r} {found.ended}"]
        end += [f"value {found.value!r}"] if found.value is not None else []
        assert "".join(pieces) == found.text
    lines += [f"{each.at:>5} {each.wrong!r} -> {each.put!r} by {each.by}" for each in corrections]
    return "\n".join([*lines, *end, f"calls {calls}, tokens {tokens}"])


@pytest.mark.parametrize("case", golden_cases("repair"), ids=str)
def test_logs(case: GoldenCase, golden) -> None:
    golden(case, shown(case))
