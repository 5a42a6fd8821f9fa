"""Reads grammars in Lark's own syntax, as Lark 1.x reads them.

Names, escapes, imports and templates mean what they mean there (`lark/load_grammar.py` is the reference).
Only the libraries that come with Lark can be imported (`%import common.INT`); they are read from the
installed package.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files

from sglc.cfg.model import grammar as g
from sglc.cfg.model.errors import GrammarError
from sglc.cfg.model.validate import check_names
from sglc.cfg.notation import lark_lexer as lexer
from sglc.cfg.notation.lark_expressions import ExpressionReader
from sglc.cfg.notation.lark_templates import Expander, File, Template, meant, names, renamed
from sglc.diagnostics.suggest import nearest
from sglc.source import Source

_HEAD = re.compile(r"([?!]*)([_A-Za-z][_A-Za-z0-9]*)(?:\.([0-9]+))?")
_LIBRARIES = ("common", "python", "unicode", "lark")


def read_lark(text: str, start: str | None = None, name: str = "grammar") -> g.Grammar:
    """The grammar of a Lark file. Raises GrammarError."""
    source = Source(name, text)
    reader = _Reader(source)
    grammar = _grammar(reader, start)
    if reader.placed:
        check_names(grammar, source)
        return grammar
    try:
        check_names(grammar, source, reader.names_used())
    except GrammarError:
        # Once more with the place of each reference.
        check_names(_grammar(_Reader(source, placed=True), start), source)
        raise
    return grammar


def _grammar(reader: _Reader, start: str | None) -> g.Grammar:
    file = reader.file()
    terminals = dict(file.terminals)
    rules = Expander(file, reader.source).expand() if reader.templates else file.rules
    return g.Grammar(rules, terminals, tuple(file.ignore), start or "start", "lark")


class _Reader(ExpressionReader):
    """The statements of one file."""

    def __init__(self, source: Source, library: str | None = None, *, placed: bool = False) -> None:
        super().__init__(source, placed)
        self.library = library
        self.result = File({}, {}, {}, [])
        self.defined: set[str] = set()

    def names_used(self) -> set[str]:
        """The names in all bodies; of a text without templates."""
        return {item.name for item in self.known.values() if type(item) is g.Reference}

    # Statements

    def file(self) -> File:
        texts = self.texts
        # Imports count as made before all else, wherever they stand.
        if "%import" in texts:
            for index, text in enumerate(texts):
                if text == "%import":
                    self.index = index
                    self.directive()
        self.statements()
        return self.result

    def statements(self) -> None:
        texts, known = self.texts, self.known
        self.index = 0
        while self.index < len(texts):
            index = self.index
            kind = known[texts[index]]
            if kind == lexer.HEAD:
                self.headed()
            elif kind == lexer.LINE:
                self.index += 1
            elif kind == lexer.END:
                return
            elif texts[index] == "%import":
                while lexer.kind_of(texts[self.index]) not in (lexer.LINE, lexer.HEAD):
                    self.index += 1
            elif kind == lexer.DIRECTIVE:
                self.directive()
            else:
                self.definition()

    def headed(self) -> None:
        """A definition whose beginning is one token."""
        index = self.index
        text = self.texts[index]
        first, start = self.head
        if self.broken or self.placed or index < first:
            start = self.place(index)
        else:
            start = self.source.text.index(text, start + (index > first))
        self.head = index, start
        self.index = index + 1
        name = text.strip()[:-1].rstrip()
        at = start + len(text) - len(text.lstrip())
        if name.isidentifier():
            self.check_name(name, at)
            self.rest(name, "", None, (), at, "")
            return
        match = _HEAD.fullmatch(name)
        assert match is not None
        modifiers, name, number = match.groups()
        at += len(modifiers)
        self.check_name(name, at)
        self.check_modifiers(modifiers, name, at)
        self.rest(name, modifiers, int(number) if number else None, (), at, "")

    def definition(self, mode: str = "") -> None:
        modifiers = ""
        while self.texts[self.index] in ("?", "!"):
            modifiers += self.texts[self.index]
            self.index += 1
        if self.kind() != lexer.NAME:
            raise self.fault("a rule or terminal is expected here", hint="`name: …`, or `| …` to go on")
        at = self.place(self.index)
        name = self.name()
        self.check_modifiers(modifiers, name, at)
        parameters: tuple[str, ...] = ()
        if self.texts[self.index] == "{":
            parameters = self.template_parameters(name)
        priority = None
        if self.texts[self.index] == ".":
            self.index += 1
            priority = self.number("a priority")
        if self.texts[self.index] != ":":
            raise self.fault(f"a colon is expected after {name}")
        self.index += 1
        self.rest(name, modifiers, priority, parameters, at, mode)

    def check_modifiers(self, modifiers: str, name: str, at: int) -> None:
        if modifiers and name.isupper():
            raise GrammarError("terminals have no modifiers", self.source, at)
        if "?" in modifiers and name.startswith("_"):
            raise GrammarError("an inlined rule (_rule) cannot use the ?rule modifier", self.source, at)

    def rest(
        self, name: str, modifiers: str, priority: int | None, parameters: tuple[str, ...], at: int, mode: str
    ) -> None:
        """A definition behind its colon."""
        body = self.alternatives(0)
        if self.known[self.texts[self.index]] not in (lexer.LINE, lexer.HEAD):
            raise self.unexpected()
        self.define(name, name.isupper(), body, modifiers, priority, parameters, at, mode)

    def define(
        self,
        name: str,
        terminal: bool,
        body: g.Expression,
        modifiers: str,
        priority: int | None,
        parameters: tuple[str, ...],
        at: int,
        mode: str,
    ) -> None:
        known = name in self.defined
        if mode and not known:
            known_names = nearest(name, self.defined)
            raise GrammarError(
                f"%{mode} of {name}, which is not defined before", self.source, at, meant(known_names)
            )
        if known and not mode:
            raise GrammarError(f"{name} is defined more than once", self.source, at)
        self.defined.add(name)
        result = self.result
        if mode == "extend":
            body = self.extended(name, terminal, body, parameters, at)
        if terminal:
            result.terminals[name] = g.Terminal(name, body, priority or 0, at, self.source)
        elif parameters:
            rule = g.Rule(name, body, modifiers, priority, at, self.source)
            result.templates[name] = Template(rule, parameters)
        else:
            result.rules[name] = g.Rule(name, body, modifiers, priority, at, self.source)

    def extended(
        self, name: str, terminal: bool, body: g.Expression, parameters: tuple[str, ...], at: int
    ) -> g.Expression:
        result = self.result
        if terminal:
            before = result.terminals[name].body
        elif name in result.templates:
            if result.templates[name].parameters != parameters:
                raise GrammarError(f"{name} has other parameters where it is defined", self.source, at)
            before = result.templates[name].rule.body
        else:
            rule = result.rules[name]
            assert isinstance(rule, g.Rule), "rules that are extended are read at once"
            before = rule.body
        return g.Alternatives((body, *(before.arms if isinstance(before, g.Alternatives) else (before,))))

    def template_parameters(self, name: str) -> tuple[str, ...]:
        self.index += 1
        found: list[str] = []
        while True:
            at = self.index
            parameter = self.name()
            if parameter.isupper():
                raise self.fault("a parameter's name is written in lower case", at)
            if parameter in found:
                raise self.fault(f"{parameter} is a parameter of {name} twice", at)
            found.append(parameter)
            if not self.comma("}"):
                return tuple(found)

    def directive(self) -> None:
        at = self.index
        word = self.texts[self.index]
        self.index += 1
        match word:
            case "%ignore":
                self.ignored()
            case "%import":
                self.imported(at)
            case "%declare":
                raise self.fault(
                    "%declare is not supported", at, "a declared terminal has no text that could be generated"
                )
            case "%override" | "%extend":
                self.definition(word[1:])
                return
            case _:
                known = nearest(word[1:], ("ignore", "import", "override", "extend"))
                raise self.fault(f"{word} is no directive", at, meant(known and "%" + known))
        if self.kind() not in (lexer.LINE, lexer.HEAD):
            raise self.unexpected()

    def ignored(self) -> None:
        at = self.place(self.index)
        body = self.alternatives(0)
        if isinstance(body, g.Reference):
            self.result.ignore.append(body.name)
            return
        name = f"__IGNORE_{len(self.result.ignore)}"
        self.result.terminals[name] = g.Terminal(name, body, 0, at, self.source)
        self.result.ignore.append(name)

    def imported(self, at: int) -> None:
        if self.texts[self.index] == ".":
            raise self.fault(
                "imports of other files are not supported", hint="only the libraries of Lark are"
            )
        path = [self.name()]
        while self.texts[self.index] == ".":
            self.index += 1
            path.append(self.name())
        aliases: dict[str, str] = {}
        if self.texts[self.index] == "(":
            self.index += 1
            while True:
                name = self.name()
                aliases[name] = name
                if not self.comma(")"):
                    break
        else:
            name = path.pop()
            if not path:
                raise self.fault(f"nothing is imported from {name}", at, f"%import {name}.NAME")
            aliases[name] = name
            if self.texts[self.index] == "->":
                self.index += 1
                aliases[name] = self.name()
        library = ".".join(path)
        if library not in _LIBRARIES:
            raise self.fault(f"there is no library {library}", at, meant(nearest(library, _LIBRARIES)))
        self.take_over(library, aliases, at)

    def take_over(self, library: str, aliases: dict[str, str], at: int) -> None:
        """The imported names and what they need, the latter under names of their own."""
        file = _library(library)
        known: dict[str, g.Rule | g.Terminal] = {**file.rules, **file.terminals}

        def new_name(name: str) -> str:
            if name in aliases:
                return aliases[name]
            return f"_{library}__{name[1:]}" if name.startswith("_") else f"{library}__{name}"

        waiting = list(aliases)
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in file.templates:
                raise self.fault(f"templates such as {name} cannot be imported", at)
            if name not in known:
                raise self.fault(f"{library} has no {name}", at, meant(nearest(name, known)))
            item = known[name]
            waiting += names(item.body)
            new = new_name(name)
            if new in self.defined and new in aliases.values():
                raise self.fault(f"{new} is defined already", at)
            if name in aliases and new.isupper() != name.isupper():
                raise self.fault(
                    f"{name} cannot be called {new}: rules are written small, terminals large", at
                )
            self.defined.add(new)
            changed = replace(item, name=new, body=renamed(item.body, new_name))
            if isinstance(changed, g.Rule):
                self.result.rules[new] = changed
            else:
                self.result.terminals[new] = changed


@lru_cache(maxsize=8)
def _library(name: str) -> File:
    """A library of the installed Lark."""
    text = (files("lark.grammars") / f"{name}.lark").read_text(encoding="utf-8")
    # Indentation has no text of its own; what needs it is refused where it is imported.
    text = re.sub(r"(?m)^%declare.*$", "", text)
    return _Reader(Source(f"{name}.lark", text), name).file()
