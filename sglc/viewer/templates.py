"""Templates of pictures in HTML, with the words that all of them use. What they are given is escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template

from sglc.diagnostics.render import plain
from sglc.viewer.segments import brief_items, facts, level, scores, segments
from sglc.viewer.trees import trees
from sglc.viewer.wording import branches, details, name_of, nats, one_line, percent, quoted, row_of

COMMON: Mapping[str, Callable[..., object]] = {
    "branches": branches,
    "brief_items": brief_items,
    "details": details,
    "facts": facts,
    "kind": lambda item: type(item).__name__,
    "level": level,
    "line": one_line,
    "name": name_of,
    "nats": nats,
    "percent": percent,
    "quoted": quoted,
    "row": row_of,
    "scores": scores,
    "segments": segments,
    "shown": plain,
    "trees": trees,
}


def resource(name: str) -> str:
    """A file that lies beside this module."""
    return (files("sglc.viewer") / name).read_text(encoding="utf-8")


def template(name: str, filters: Mapping[str, Callable[..., object]]) -> Template:
    """A template that lies beside this module, with filters of its own."""
    environment = Environment(
        loader=FunctionLoader(resource),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(COMMON, **filters)
    return environment.get_template(name)
