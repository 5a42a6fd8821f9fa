"""The definitions of a Lark file, and its templates: each use of a template becomes a rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.diagnostics.suggest import nearest
from sglc.source import Source

MAX_TEMPLATES = 10_000
"""Uses of templates with different arguments."""


@dataclass(slots=True)
class Template:
    rule: g.Rule
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """A template with its arguments; replaced by a reference when templates are expanded."""

    name: str
    arguments: tuple[g.Expression, ...]
    at: int


@dataclass(slots=True)
class File:
    """What one file defines, before templates are expanded."""

    rules: dict[str, g.Rule]
    terminals: dict[str, g.Terminal]
    templates: dict[str, Template]
    ignore: list[str]


class Expander:
    """Makes a rule of every use of a template with different arguments."""

    def __init__(self, file: File, source: Source) -> None:
        self.file = file
        self.source = source
        self.rules: dict[str, g.Rule] = {}
        self.made: set[str] = set()
        self.waiting: list[tuple[str, Template, tuple[g.Expression, ...]]] = []

    def expand(self) -> dict[str, g.Rule]:
        """The rules of the file with a rule for each use of a template. Raises GrammarError."""
        for name, rule in self.file.rules.items():
            self.rules[name] = replace(rule, body=self.rewrite(rule.body, {}))
        while self.waiting:
            name, template, arguments = self.waiting.pop()
            values = dict(zip(template.parameters, arguments, strict=True))
            rule = template.rule
            self.rules[name] = replace(rule, name=name, body=self.rewrite(rule.body, values))
        return self.rules

    def rewrite(self, item: g.Expression, values: dict[str, g.Expression]) -> g.Expression:
        """An expression with the values of parameters put in and uses of templates replaced."""
        match item:
            case g.Reference(name, at):
                if name in values:
                    return values[name]
                template = self.file.templates.get(name)
                if template is not None:
                    count = _arguments(len(template.parameters))
                    raise GrammarError(f"the template {name} takes {count}", self.source, at)
                return item
            case Use():
                return self.use(item, values)
        return g.with_parts(item, lambda part: self.rewrite(part, values))

    def use(self, item: Use, values: dict[str, g.Expression]) -> g.Expression:
        """A reference to the rule that a use of a template becomes. Raises GrammarError."""
        name = item.name
        given = values.get(name)
        if given is not None:
            if not isinstance(given, g.Reference):
                raise GrammarError(f"{name} is used as a template but is none", self.source, item.at)
            name = given.name
        template = self.file.templates.get(name)
        if template is None:
            known = nearest(name, self.file.templates)
            raise GrammarError(f"no template is called {name}", self.source, item.at, meant(known))
        arguments = tuple(self.rewrite(argument, values) for argument in item.arguments)
        if len(arguments) != len(template.parameters):
            raise GrammarError(
                f"{name} takes {_arguments(len(template.parameters))}, not {len(arguments)}",
                self.source,
                item.at,
            )
        made = f"{name}{{{','.join(_shown(argument) for argument in arguments)}}}"
        if made not in self.made:
            if len(self.made) >= MAX_TEMPLATES or len(made) > 10_000:
                raise GrammarError(
                    f"the template {name} leads to more and more rules",
                    self.source,
                    item.at,
                    "its arguments grow without end",
                )
            self.made.add(made)
            self.waiting.append((made, template, arguments))
        return g.Reference(made, item.at)


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _shown(argument: g.Expression) -> str:
    if isinstance(argument, g.Reference):
        return argument.name
    if isinstance(argument, g.Literal):
        return repr(argument.text) + ("i" if argument.ignore_case else "")
    assert isinstance(argument, g.Pattern)
    return f"/{argument.regex}/{''.join(sorted(argument.flags))}"


def names(item: g.Expression) -> list[str]:
    """The names that an expression refers to."""
    found: list[str] = []
    waiting = [item]
    while waiting:
        match waiting.pop():
            case g.Reference(name):
                found.append(name)
            case g.Sequence(items) | g.Alternatives(items):
                waiting += items
            case g.Repeat(inner) | g.Named(inner):
                waiting.append(inner)
            case Use(name, arguments):
                found.append(name)
                waiting += arguments
            case _:
                pass
    return found


def renamed(item: g.Expression, new: Callable[[str], str]) -> g.Expression:
    """An expression with other names."""
    if isinstance(item, g.Reference):
        return g.Reference(new(item.name))
    return g.with_parts(item, lambda part: renamed(part, new))


def meant(name: str | None) -> str:
    """A hint from the nearest name."""
    return f"did you mean {name}?" if name else ""
