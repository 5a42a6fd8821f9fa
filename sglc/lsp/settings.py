"""What a client may set: `sglc.lsp` of its configuration, or the options that it is started with."""

from __future__ import annotations

from collections.abc import Mapping

from sglc.immutable import value


@value
class Settings:
    """`model` is the model whose tokens are counted, empty for that of `sgl.toml`, if it names one that is
    here; else bounds are in bytes. `allow_outside` lets programs read files outside of their project.
    `commands` is what the commands of lenses begin with: `sgl`, which the client carries out, or
    `sgl.server`, which the server does as far as it can."""

    model: str = ""
    allow_outside: bool = False
    commands: str = "sgl"


def settings_of(data: object) -> tuple[Settings, list[str]]:
    """Settings from what a client sends, `{"sglc": {"lsp": {…}}}` or the inner part alone, and what is wrong
    with it, in sentences."""
    for name in ("sglc", "lsp"):
        if isinstance(data, Mapping) and isinstance(data.get(name), Mapping):
            data = data[name]
    if data is None:
        return Settings(), []
    if not isinstance(data, Mapping):
        return Settings(), ["the settings `sglc.lsp` are no object"]
    problems = []
    model, outside = data.get("model", ""), data.get("allowOutside", False)
    if model is None:
        model = ""
    if not isinstance(model, str):
        problems.append("`sglc.lsp.model` is the name of a model, in quotes")
        model = ""
    if not isinstance(outside, bool):
        problems.append("`sglc.lsp.allowOutside` is true or false")
        outside = False
    commands = data.get("commands", "sgl")
    if commands not in ("sgl", "sgl.server"):
        problems.append('`sglc.lsp.commands` is "sgl" or "sgl.server"')
        commands = "sgl"
    return Settings(model, outside, str(commands)), problems
