"""Numbers, names and sentences as both pictures say them."""

from __future__ import annotations

from sglc.diagnostics.render import visible
from sglc.viewer.building import MOST_DETAILED
from sglc.viewer.model import Fill, Fork, Run, Token
from sglc.viewer.reading import Reading


def one_line(text: str) -> str:
    """Text in one line: control characters, line ends and directions of writing as visible characters."""
    return "".join(map(visible, text))


def quoted(text: str, most: int = 60) -> str:
    """The text of a token, so that its blanks are seen; tokens without text end a message."""
    if not text:
        return "(no text)"
    return f"'{one_line(text if len(text) <= most else text[: most - 1] + '…')}'"


def percent(value: float | None) -> str:
    """A probability: `43.2 %`, `0.03 %`, `1e-7`; empty where there is none."""
    if value is None:
        return ""
    if 0.0 < value < 1e-4:
        return f"{value:.0e}"
    return f"{100 * value:.2f} %" if value < 0.01 else f"{100 * value:.1f} %"


def nats(value: float | None) -> str:
    """A pressure; empty where there is none. What rounds to 0 is 0."""
    return "" if value is None else f"{abs(value) if abs(value) < 0.005 else value:.2f}"


def seconds(value: float | None) -> str:
    """A time: `2.13 s`, `63.2 ms`; empty where there is none."""
    if value is None:
        return ""
    return f"{value:.2f} s" if value >= 1 else f"{1000 * value:.1f} ms"


def counted(number: int, noun: str) -> str:
    """`1 token`, `2 tokens`, `12,345 branches`."""
    ending = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}{ending}"


def branches(fork: Fork) -> str:
    """What a fork is: `3 branches`, `2 samples of f.x`."""
    return (
        f"{counted(fork.count, 'sample')} of {one_line(fork.samples)}"
        if fork.samples
        else counted(fork.count, "branch")
    )


def headline(run: Run) -> str:
    """What was run: `crew of character.sgl`."""
    name = one_line(run.function) or "a run"
    return f"{name} of {one_line(run.program)}" if run.program else name


def figures(run: Run) -> list[tuple[str, str]]:
    """The figures of a run, by name."""
    found = [("seed", "" if run.seed is None else str(run.seed)), ("outcome", one_line(run.outcome))]
    if run.tokens is not None:
        found.append(("tokens", f"{run.tokens:,}"))
    if run.forced is not None:
        found.append(("forced", f"{run.forced:,}"))
    if run.forwards is not None:
        found.append(("forward passes", f"{run.forwards:,}"))
    if run.seconds is not None:
        found.append(("time", seconds(run.seconds)))
    if run.checks:
        found.append(("checks", f"{run.checks - run.failed_checks} of {run.checks} held"))
    if run.retries:
        found.append(("retries", f"{run.retries:,}"))
    return [(name, value) for name, value in found if value]


def remarks(run: Run, reading: Reading | None) -> list[str]:
    """What is not shown, or not as it was: damaged lines, limits, events that are not known."""
    found = []
    if reading is not None:
        found += [f"line {fault.line:,} was left out: {fault.reason}" for fault in reading.faults]
        more = reading.damaged - len(reading.faults)
        if more:
            found.append(f"{counted(more, 'damaged line')} more were left out")
        if reading.left_out:
            found.append(
                f"the trace is longer than can be shown: {counted(reading.left_out, 'line')} behind line "
                f"{reading.lines - reading.left_out:,} were left out"
            )
    if run.left_out:
        found.append(
            f"{counted(run.left_out, 'token')} behind the first {MOST_DETAILED:,} are shown without details"
        )
    if run.skipped:
        kinds = ", ".join(one_line(kind)[:40] for kind in list(run.skipped)[:6])
        found.append(f"{counted(sum(run.skipped.values()), 'event')} of kinds that are not known: {kinds}")
    return found


def row_of(fill: Fill) -> dict[str, str]:
    """The figures of a filling, as the list of holes has them. Columns without a figure are empty."""
    end = fill.end or {}
    pressures = fill.pressures
    total = end.get("pressure")
    known = isinstance(total, int | float) and not isinstance(total, bool)
    whole = float(total) if known else (sum(pressures) if pressures else None)  # type: ignore[arg-type]
    drawn = _count(end.get("sampled"), len(fill.tokens))
    mean = whole / drawn if whole is not None and drawn else None
    time, ended = end.get("seconds"), end.get("ended")
    told = fill.mode != "repair"  # whose text has no tokens: that of another model
    return {
        "tokens": f"{_count(end.get('tokens'), len(fill.tokens)):,}" if told else "",
        "drawn": f"{drawn:,}" if told else "",
        "forced": f"{_count(end.get('forced'), 0):,}" if told else "",
        "pressure": nats(whole),
        "a token": nats(mean),
        "time": seconds(time) if isinstance(time, float | int) and not isinstance(time, bool) else "",
        "ended": "not ended" if fill.end is None else one_line(ended)[:20] if isinstance(ended, str) else "",
    }


def _count(value: object, otherwise: int) -> int:
    return value if type(value) is int and value >= 0 else otherwise


def name_of(fill: Fill) -> str:
    """How a filling is called: its hole, and its branch where it is in one."""
    branch = f" in branch {fill.branch}" if fill.branch else ""
    return f"{one_line(fill.hole) or 'a hole'}{branch}"


def details(token: Token) -> list[tuple[str, str]]:
    """What is known of a token besides its text and its candidates, by name."""
    found = [
        ("probability", percent(token.probability)),
        ("legal tokens", "" if token.legal is None else f"{token.legal:,}"),
        ("pressure", "" if token.pressure is None else f"{nats(token.pressure)} nats"),
        ("alpha", "" if token.alpha is None else f"{token.alpha:.3g}"),
        ("Chernoff", "" if token.chernoff is None else f"{token.chernoff:.3g} nats"),
    ]
    return [(name, value) for name, value in found if value]
