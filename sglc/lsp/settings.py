"""What a client may set: `sglc.lsp` of its configuration, or the options that it is started with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace

from sglc.immutable import value

SECTION = "sglc.lsp"
"""What the settings are called in a client's configuration."""


@value
class Settings:
    """`model` is the model whose tokens are counted, empty for that of `sgl.toml`, if it names one that is
    here; else bounds are in bytes. `allow_outside` lets programs read files outside of their project.
    `commands` is what the commands of lenses begin with: `sgl`, which the client carries out, or
    `sgl.server`, which the server does as far as it can. Without `hints` there are no inlay hints, without
    `lenses` no lenses, and without `advice` findings are those of the checker alone."""

    model: str = ""
    allow_outside: bool = False
    commands: str = "sgl"
    hints: bool = True
    lenses: bool = True
    advice: bool = True


def _is_flag(given: object) -> bool:
    return isinstance(given, bool)


_CHECKS: Mapping[str, tuple[str, Callable[[object], bool], str]] = {
    "model": ("model", lambda given: isinstance(given, str), "the name of a model, in quotes"),
    "allowOutside": ("allow_outside", _is_flag, "true or false"),
    "commands": ("commands", lambda given: given in ("sgl", "sgl.server"), '"sgl" or "sgl.server"'),
    "hints": ("hints", _is_flag, "true or false"),
    "lenses": ("lenses", _is_flag, "true or false"),
    "advice": ("advice", _is_flag, "true or false"),
}
"""By the name of a setting: its field, whether a value is one, and what it is, for people."""
assert {name for name, _, _ in _CHECKS.values()} == {each.name for each in fields(Settings)}


def settings_of(data: object, base: Settings) -> tuple[Settings, list[str]]:
    """Settings from what a client sends, `{"sglc": {"lsp": {…}}}` or the inner part alone, and what is wrong
    with it, in sentences. What it leaves out, or sends as null, is as in `base`."""
    for name in SECTION.split("."):
        if isinstance(data, Mapping) and name in data:
            data = data[name]
    if data is None:
        return base, []
    if not isinstance(data, Mapping):
        return base, [f"the settings `{SECTION}` are no object"]
    found, problems = base, []
    for name, (kept, fits, what) in _CHECKS.items():
        given = data.get(name)
        if given is not None and fits(given):
            found = replace(found, **{kept: given})
        elif given is not None:
            problems.append(f"`{SECTION}.{name}` is {what}")
    return found, problems
