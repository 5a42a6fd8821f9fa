"""Where the keys of a TOML file stand. Its parser does not tell: lines are looked at."""

from __future__ import annotations

import re

from sglc.source import Source, Span


def place(source: Source, path: tuple[str, ...]) -> Span:
    """Where a key stands, or else the nearest table around it that can be found: behind the header of its
    table, as a header, or with a dotted name. The beginning of the file where nothing of it can be told."""
    for end in range(len(path), 0, -1):
        for cut in range(end - 1, -1, -1):
            found = _place(source, path[:cut], path[cut:end])
            if found is not None:
                return found
    return Span(source, 0, min(1, len(source.text)))


def masked(source: Source, span: Span) -> Span:
    """The span in a copy of the file in which the values of its line are stars: a message draws the line,
    and what stands there may be a secret."""
    line = next(n for n, start in enumerate(source.line_starts, 1) if start + len(source.line(n)) >= span.end)
    end = source.line_starts[line - 1] + len(source.line(line))
    hidden = re.sub(r"[^\s=]", "*", source.text[span.end : end])
    return Span(
        Source(source.name, source.text[: span.end] + hidden + source.text[end:]), span.start, span.end
    )


def _place(source: Source, within: tuple[str, ...], keys: tuple[str, ...]) -> Span | None:
    """Where keys stand with dots between them in a table."""
    dotted = r"\s*\.\s*".join(map(_named, keys))
    here: tuple[str, ...] = ()
    for number, start in enumerate(source.line_starts, 1):
        line = source.line(number)
        opened = re.match(r"\s*\[+\s*([^\]]*?)\s*\]", line)
        if opened is not None:
            here = tuple(part.strip().strip("\"'") for part in opened[1].split("."))
            if here == (*within, *keys):
                return Span(source, start + opened.start(1), start + opened.end(1))
        elif here == within:
            found = re.match(rf"\s*({dotted})\s*[=.]", line)
            if found is not None:
                last = re.search(rf"{_named(keys[-1])}$", found[1])
                assert last is not None
                return Span(source, start + found.start(1) + last.start(), start + found.end(1))
    return None


def _named(key: str) -> str:
    """A key as it may be written."""
    quoted = re.escape(key)
    return rf"""(?:"{quoted}"|'{quoted}'|{quoted})"""
