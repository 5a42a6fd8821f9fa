"""What `--stats` prints: tables of holes and functions, and lines on the engine, its memory and the start."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sglc.commands.shared.invocation import counted
from sglc.project.prices import shown

ORDER_SHARE = 0.1
"""Least share of a prompt that another order must win before it is spoken of: less is not worth rewriting."""

PRESSURE = 0.1
"""Least mean pressure of a hole, in nats a drawn token, that is spoken of: the legal tokens have 90 %."""
MOST_PRESSED = 5
"""Most holes whose pressure is spoken of."""


def as_json(report: dict[str, Any], start: dict[str, float]) -> str:
    """One line of JSON: the report (see `metrics.report`) with the parts of the start in seconds."""
    return json.dumps({**report, "start": {name: round(value, 6) for name, value in start.items()}})


def as_tables(report: dict[str, Any], start: dict[str, float]) -> str:
    """For people."""
    parts = [
        _holes(report["holes"]),
        _functions(report["functions"]),
        _process(report),
        _pressure(report["holes"]),
        _blends(report["holes"]),
        _models(report.get("models", {})),
        _backends(report.get("backends", {})),
        _order(report["holes"]),
        _start(start),
    ]
    return "\n\n".join(part for part in parts if part)


def _holes(holes: dict[str, dict[str, Any]]) -> str:
    if not holes:
        return ""
    head = ("hole", "times", "tokens", "drawn", "forced", "passes", "drafts", "masks", "queue", "time")
    rows = [
        (
            name,
            f"{hole['fillings']}" + (f" ({hole['failures']} failed)" if hole["failures"] else ""),
            f"{hole['tokens']}",
            f"{hole['sampled']}",
            f"{hole['forced']}",
            f"{hole['forwards']}",
            f"{hole['accepted']}/{hole['drafted']}" if hole["drafted"] else "-",
            duration(hole["mask_seconds"]),
            duration(hole["queue_seconds"]),
            duration(hole["seconds"]),
        )
        for name, hole in holes.items()
    ]
    return _table(head, rows)


def _functions(functions: dict[str, dict[str, Any]]) -> str:
    head = ("function", "calls", "runs", "failed", "retries", "tokens", "p50", "p99")
    rows = []
    for name, figures in functions.items():
        runs = sum(figures["runs"].values())
        failed = {error: count for error, count in figures["runs"].items() if error != "ok"}
        rows.append(
            (
                name,
                f"{figures['calls']}",
                f"{runs}" if runs else "-",
                ", ".join(f"{count} {error}" for error, count in failed.items()) or "-",
                f"{figures['retries']}" if runs else "-",
                f"{figures['tokens']}",
                duration(figures["p50"]) if runs else "-",
                duration(figures["p99"]) if runs else "-",
            )
        )
    return _table(head, rows) if rows else ""


def _process(report: dict[str, Any]) -> str:
    process = report["process"]
    lines = [
        f"{counted(process['runs'], 'run')}, {counted(process['tokens'], 'token')} in "
        f"{duration(process['seconds'])}: {process['tokens_per_second']:.1f} tok/s"
    ]
    remote = process.get("remote")
    if remote is not None:
        answered = ", ".join(f"{name} {count}" for name, count in remote["answered_by"].items())
        by_whom = f"; answered by {answered}" if answered else ""
        lines.append(
            f"elsewhere: {counted(remote['requests'], 'request')}, {remote['charged_prompt']} prompt tokens, "
            f"{remote['charged_cached']} of them cached, {remote['charged_output']} output tokens{by_whom}"
        )
    engine = process.get("engine")
    if engine is not None:
        found = f", {engine['tokens_reused']} found again" if engine["tokens_reused"] else ""
        lines.append(
            f"model: {engine['forwards']} forward passes in "
            f"{duration(engine['seconds'])}, {counted(engine['tokens_fed'], 'token')} computed{found}"
        )
        if engine["drafted"]:
            sources = [
                f"{name} {each['came']}/{each['sent']}" for name, each in process.get("drafts", {}).items()
            ]
            by_source = f" ({', '.join(sources)})" if sources else ""
            lines.append(f"drafts: {engine['accepted']} of {engine['drafted']} came{by_source}")
    draft = process.get("draft_model")
    if draft is not None:
        failed = f", {counted(draft['unanswered'], 'request')} not answered" if draft["unanswered"] else ""
        lines.append(
            f"draft model: {draft['forwards']} forward passes in {duration(draft['seconds'])}, "
            f"{counted(draft['tokens_fed'], 'token')} computed{failed}"
        )
    steps = process.get("steps")
    if steps:
        lines.append(
            f"steps: at most {counted(steps['largest'], 'request')} in one, {steps['mean']:.1f} on average; "
            f"{duration(steps['scheduled'] + steps['committed'])} for scheduling and committing"
        )
    cache = report.get("cache")
    if cache is not None:
        preempted = f", {engine['preemptions']} preemptions" if engine and engine["preemptions"] else ""
        pins = counted(cache["pins"], "beginning")
        pinned = f", {counted(cache['pinned'], 'block')} pinned for {pins}" if cache["pins"] else ""
        lines.append(
            f"memory: {100 * cache['hit_rate']:.1f} % of {cache['tokens_looked_up']} tokens were there, "
            f"{cache['blocks'] - cache['free']} of {cache['blocks']} blocks used "
            f"({cache['bytes'] / 2**20:.0f} MiB in all), {cache['evictions']} evictions{preempted}"
            f"{pinned}"
        )
        disk = cache.get("disk")
        if disk is not None:
            faults = disk["write_faults"] + disk["read_faults"] + disk["corrupt"]
            lines.append(
                f"disk: {disk['blocks']} blocks ({disk['bytes'] / 2**20:.0f} MiB), {disk['writes']} written, "
                f"{disk['reads']} read, {faults} faults"
            )
    return "\n".join(lines)


def _pressure(holes: dict[str, dict[str, Any]]) -> str:
    """The holes whose masks fight the model most: how likely a legal token was where one was drawn."""
    found = [
        (hole["pressure"] / hole["weighed"], name, hole)
        for name, hole in holes.items()
        if hole["weighed"] and hole["pressure"] >= PRESSURE * hole["weighed"]
    ]
    lines = []
    for mean, name, hole in sorted(found, key=lambda each: (-each[0], each[1]))[:MOST_PRESSED]:
        lines.append(
            f"pressure: `{name}` {mean:.2f} nats a drawn token, {hole['pressure'] / hole['fillings']:.1f} a "
            f"value: the model gives what is legal {100 * math.exp(-mean):.2g} % on average; tell it the form"
        )
    return "\n".join(lines)


def _blends(holes: dict[str, dict[str, Any]]) -> str:
    """How two models shared the tokens of holes, and how far apart they were."""
    lines = []
    for name, hole in holes.items():
        if hole["shared"]:
            mean = hole["alpha"] / hole["shared"]
            apart = f", {hole['chernoff'] / hole['compared']:.3f} nats apart" if hole["compared"] else ""
            tokens = counted(hole["shared"], "token")
            lines.append(f"blend: `{name}` share of the teacher {mean:.2f} on average of {tokens}{apart}")
    return "\n".join(lines)


def _models(models: dict[str, dict[str, Any]]) -> str:
    """What the models did that the program names."""
    lines = []
    for name, engine in models.items():
        found = f", {engine['tokens_reused']} found again" if engine["tokens_reused"] else ""
        lines.append(
            f"model {name}: {engine['forwards']} forward passes in {duration(engine['seconds'])}, "
            f"{counted(engine['tokens_fed'], 'token')} computed{found}"
        )
    return "\n".join(lines)


def _backends(backends: dict[str, dict[str, Any]]) -> str:
    """What models elsewhere were asked, and what it cost."""
    lines = []
    for name, spent in backends.items():
        cached = f" ({spent['cached']} of them cached)" if spent["cached"] else ""
        estimated = f", {spent['estimated']} of all estimated" if spent["estimated"] else ""
        cost = f"; {shown(Decimal(spent['cost']), spent['currency'])}" if "cost" in spent else ""
        prompts = f"{counted(spent['prompt'], 'token')} of prompts{cached}"
        requests = counted(spent["requests"], "request")
        kept = f"; {counted(spent['kept'], 'answer')} kept from before" if "kept" in spent else ""
        lines.append(
            f"model {name}: {requests}, {prompts}, {spent['output']} of answers{estimated}{cost}{kept}"
        )
    return "\n".join(lines)


def _order(holes: dict[str, dict[str, Any]]) -> str:
    """Where the order of a prompt costs reuse: constant text behind values that differ from run to run."""
    lines = []
    for name, hole in holes.items():
        times, prompt, reused = hole["fillings"], hole["prompt"], hole["reused"]
        again = hole["behind"] * (times - 1) // times if times else 0  # the first run computes it in any case
        lost = min(again, prompt - reused)
        if not prompt or lost < ORDER_SHARE * prompt:
            continue
        function, tokens = name.rpartition(".")[0], counted(hole["behind"] // times, "token")
        lines.append(
            f"order: `{function}` writes {tokens} that never "
            f"change behind a value; {100 * reused / prompt:.0f} % of its prompts was found again, "
            f"{100 * (reused + lost) / prompt:.0f} % would be with them before it"
        )
    return "\n".join(lines)


def _start(start: dict[str, float]) -> str:
    if not start:
        return ""
    return "start: " + ", ".join(f"{name} {duration(seconds)}" for name, seconds in start.items())


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need to be, the first to the left, the others to the right."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = []
    for row in (head, *rows):
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def duration(seconds: float) -> str:
    """`1.25 s`, `12.5 ms`, `80 µs`."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    if seconds >= 0.001:
        return f"{seconds * 1e3:.1f} ms"
    return f"{seconds * 1e6:.0f} µs"
