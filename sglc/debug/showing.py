"""A stop and what can be seen there, as lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from sglc.bytecode.code import Place, Program
from sglc.runtime.debug.breakpoints import ALWAYS, Breakpoint
from sglc.runtime.debug.looking import (
    alternatives_of,
    frames_of,
    messages_of,
    parts_of,
    shown_value,
    type_of,
    variables_of,
)
from sglc.runtime.debug.masks import Candidate, MaskLook
from sglc.runtime.debug.passages import Passage
from sglc.runtime.debug.stops import Stop
from sglc.runtime.decoding.watching import SearchLook
from sglc.runtime.vm.state.frame import Frame
from sglc.types.json_text import json_text

AROUND = 5
"""Lines of source that are shown on each side."""
MOST_TOKENS = 40
"""Newest tokens whose alternatives are shown."""
_WORDS = {
    "entry": "at the beginning",
    "statement": "",
    "line": "breakpoint",
    "pause": "paused",
    "ensure": "does not hold",
    "expect": "missed",
    "raised": "raised",
}


def where(program: Program, place: Place | None) -> str:
    """`file:line` of a place."""
    if place is None or not 0 <= place.file < len(program.files):
        return "?"
    return f"{program.files[place.file]}:{place.line}"


def source_line(program: Program, place: Place | None) -> str:
    """The line of a place; empty where no source was kept."""
    if place is None or not 0 <= place.file < len(program.sources):
        return ""
    lines = program.sources[place.file].splitlines()
    return lines[place.line - 1] if place.line <= len(lines) else ""


def stop_lines(program: Program, stop: Stop, line: int) -> Iterator[str]:
    """The head of a stop: why, where, and the line."""
    words = [_WORDS.get(stop.reason, ""), stop.text]
    numbers = ", ".join(map(str, stop.breakpoints))
    if numbers and stop.reason != "line":
        words.append(f"breakpoint {numbers}")
    elif numbers:
        words[0] = f"breakpoint {numbers}"
    told = ": ".join(word for word in words if word)
    if told:
        yield f"{stop.strand.title}: {told}" if stop.strand.number > 1 else told
    yield from stop.notes
    if stop.token is not None and stop.passage is not None:
        yield from _token(stop)
    place = stop.place
    if place is not None and line:
        place = place._replace(line=line)
    yield f"> {where(program, place)}  {source_line(program, place).strip()}"


def _token(stop: Stop) -> Iterator[str]:
    assert stop.token is not None and stop.passage is not None
    drawn, text = stop.token.drawn, stop.token.data.decode("utf-8", "backslashreplace")
    probability = math.exp(min(0.0, drawn.logprob))
    kept = math.exp(min(0.0, drawn.log_mass)) if drawn.log_mass == drawn.log_mass else 1.0
    shown = json_text(text) if text else "the end of the message"
    allowed = stop.token.legal.count()
    yield (
        f"  {stop.passage.name}: {shown}  p = {percent(probability)}, mask keeps {percent(kept)} "
        f"({allowed} tokens allowed)"
    )


def percent(share: float) -> str:
    """A probability: `12.5 %`, `0.031 %`."""
    return f"{100 * share:.3g} %"


def listing(
    program: Program, place: Place | None, line: int, breakpoints: Mapping[int, int]
) -> Iterator[str]:
    """The source around a line; `breakpoints` are lines of the file with the number of theirs."""
    if place is None or not 0 <= place.file < len(program.sources) or not program.sources[place.file]:
        yield "the program was compiled without its source"
        return
    lines = program.sources[place.file].splitlines()
    for number in range(max(1, line - AROUND), min(len(lines), line + AROUND) + 1):
        mark = ">" if number == line else "*" if number in breakpoints else " "
        yield f"{number:4} {mark} {lines[number - 1]}".rstrip()


def frame_lines(program: Program, stop: Stop, chosen: int) -> Iterator[str]:
    """The frames of the strand that stands, the newest first."""
    for number, look in enumerate(frames_of(stop.strand.machine)):
        mark = ">" if number == chosen else " "
        yield f"{mark} {number}  {look.name}  {where(program, look.place)}"


def variable_lines(program: Program, frame: Frame) -> Iterator[str]:
    """The variables of a frame, with their types."""
    found = variables_of(program, frame)
    if not found:
        yield "no variable has a value yet"
    for each in found:
        hole = "  (hole)" if each.hole is not None else ""
        yield f"{each.name}: {each.type} = {each.shown}{hole}"


def value_lines(program: Program, value: object) -> Iterator[str]:
    """A value with its type, and its parts if it has some."""
    yield f"{type_of(value)} = {shown_value(program, value)}"
    for part in parts_of(program, value)[:50]:
        yield f"    {part.name}: {part.shown}"


def conversation_lines(frame: Frame) -> Iterator[str]:
    """The messages of a conversation, the last one still open."""
    messages = messages_of(frame)
    if not messages:
        yield "nothing was written yet" if frame.conversation is not None else "a pure function has none"
    for role, text in messages:
        yield f"[{role or 'text'}]"
        yield from (f"  {line}" for line in text.split("\n"))


def mask_lines(look: MaskLook) -> Iterator[str]:
    """A mask: how much it allows, and the most probable tokens before and after it."""
    if look.forced:
        yield f"{look.hole}: only one text is legal: {json_text(look.forced)}"
        return
    written = f" behind {json_text(look.written)}" if look.written else ""
    kept = percent(look.kept)
    yield f"{look.hole}{written}: {look.allowed} of {look.size} tokens allowed, {kept} of the probability"
    rows = max(len(look.before), len(look.after))
    yield f"  {'before the mask':32}  after it"
    for number in range(rows):
        left = _candidate(look.before[number], False) if number < len(look.before) else ""
        right = _candidate(look.after[number], True) if number < len(look.after) else ""
        yield f"  {left:32}  {right}".rstrip()


def search_lines(look: SearchLook) -> Iterator[str]:
    """Where a search stands, and the texts that it holds."""
    yield f"{look.strategy}: {look.told}"
    for each in look.texts[-MOST_TOKENS:]:
        score = "" if each.score is None else f"{each.score:9.4g}"
        mark = ">" if each.number == look.which else " "
        yield f"  {mark} {each.number:3} {score:9}  {each.state:7}  {shown_text(each.text)}"


def _candidate(candidate: Candidate, masked: bool) -> str:
    share = candidate.after if masked else candidate.before
    mark = "" if masked or candidate.after is not None else " x"
    return f"{json_text(candidate.text)[:20]:20} {percent(share or 0.0):>8}{mark}"


def alternative_lines(program: Program, passage: Passage) -> Iterator[str]:
    """What else a hole could have been given."""
    found = alternatives_of(passage)
    text = "" if passage.text is None else f" = {json_text(passage.text)}"
    yield f"{passage.name}{text}"
    if found.why:
        yield f"  {found.why}"
    for option, share in sorted(found.scores.items(), key=lambda each: -each[1]):
        yield f"  {percent(share):>8}  {json_text(option)}"
    if passage.search is not None:
        yield from (f"  {line}" for line in search_lines(passage.search))
    if len(found.tokens) > MOST_TOKENS:
        yield f"  ({len(found.tokens) - MOST_TOKENS} older tokens)"
    for token in list(found.tokens)[-MOST_TOKENS:]:
        yield f"  {_drawn(token)}"


def _drawn(token: Mapping[str, object]) -> str:
    logprob = token.get("logprob")
    share = percent(math.exp(logprob)) if isinstance(logprob, float | int) else "?"
    others = []
    top = token.get("top")
    for text, other, legal in top if isinstance(top, list) else []:
        if text != token["text"]:
            others.append(f"{json_text(text)} {percent(math.exp(other))}{'' if legal else ' x'}")
    return f"{json_text(str(token['text'])):14} {share:>8} of {token.get('mask')}   " + ", ".join(others[:5])


def hole_lines(passages: list[Passage]) -> Iterator[str]:
    """The holes that the run has come to."""
    if not passages:
        yield "the run has come to no hole yet"
    for number, each in enumerate(passages, 1):
        line = each.place.line if each.place is not None else 0
        text = "…" if each.text is None else shown_text(each.text)
        given = "  (given)" if each.forced is not None else ""
        branch = f"  branch {each.strand.machine.branch}" if each.strand.machine.branch else ""
        yield f"{number:4}  {each.name}  line {line}  {text}{given}{branch}"


def shown_text(text: str, most: int = 60) -> str:
    """A text in quotes, cut where it is long."""
    return json_text(text if len(text) <= most else text[: most - 1] + "…")


def breakpoint_line(program: Program, each: Breakpoint) -> str:
    """A breakpoint: its number, its place, its condition."""
    place = f"{program.files[each.file]}:{each.line}" if each.file is not None else "nowhere"
    name = {"hole": f"hole {each.name} at ", "function": f"function {each.name} at "}.get(each.kind, "")
    more = f" if {each.condition}" if each.condition else ""
    more += f", at times {each.hits}" if each.hits != ALWAYS else ""
    more += f", says {json_text(each.log)}" if each.log else ""
    return f"{each.number}  {name}{place}{more}"
