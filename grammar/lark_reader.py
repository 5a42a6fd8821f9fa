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

from sglc.diagnostics.suggest import nearest
from sglc.grammar.checks import check_names
from sglc.grammar.errors import GrammarError
from sglc.grammar.lark_templates import Expander, File, Template, Use, meant, names, renamed
from sglc.grammar.lark_tokens import lark_tokens, unescaped
from sglc.grammar.model import (
    EMPTY,
    Alternatives,
    Expression,
    Grammar,
    Literal,
    Named,
    Pattern,
    Reference,
    Repeat,
    Rule,
    Sequence,
    Terminal,
)
from sglc.source import Source

MAX_DEPTH = 100
MAX_COUNT = 100_000

_TERMINAL_NAME = re.compile(r"_?[A-Z][_A-Z0-9]*")
_RULE_NAME = re.compile(r"_?[a-z][_a-z0-9]*")
_LIBRARIES = ("common", "python", "unicode", "lark")


def read_lark(text: str, start: str | None = None, name: str = "grammar") -> Grammar:
    """The grammar of a Lark file. Raises GrammarError."""
    source = Source(name, text)
    reader = _Reader(source)
    file = reader.file()
    rules, terminals = dict(file.rules), dict(file.terminals)
    if "{" in reader.texts:
        rules = Expander(file, source).expand()
    grammar = Grammar(rules, terminals, tuple(file.ignore), start or "start", "lark")
    check_names(grammar, source)
    return grammar


class _Reader:
    """Recursive descent over the tokens of one file."""

    def __init__(self, source: Source, library: str | None = None) -> None:
        self.source = source
        self.library = library
        self.kinds, self.texts, self.places = lark_tokens(source)
        self.index = 0
        self.parameters: tuple[str, ...] = ()
        self.result = File({}, {}, {}, [])
        self.defined: dict[str, int] = {}

    def fault(self, reason: str, at: int | None = None, hint: str = "") -> GrammarError:
        return GrammarError(reason, self.source, self.places[self.index] if at is None else at, hint)

    # Statements

    def file(self) -> File:
        kinds, texts = self.kinds, self.texts
        # Imports count as made before all else, wherever they stand.
        for index, text in enumerate(texts):
            if text == "%import" and kinds[index] == "directive":
                self.index = index
                self.directive()
        self.index = 0
        while True:
            kind = kinds[self.index]
            if kind == "end":
                return self.result
            if kind == "line":
                self.index += 1
            elif texts[self.index] == "%import":
                self.index = kinds.index("line", self.index)
            elif kind == "directive":
                self.directive()
            else:
                self.definition()

    def definition(self, mode: str = "") -> None:
        modifiers = ""
        while self.texts[self.index] in ("?", "!"):
            modifiers += self.texts[self.index]
            self.index += 1
        at = self.places[self.index]
        if self.kinds[self.index] != "name":
            raise self.fault("a rule or terminal is expected here", hint="`name: …`, or `| …` to go on")
        name = self.name()
        terminal = name.isupper()
        if modifiers and terminal:
            raise self.fault("terminals have no modifiers", at)
        if "?" in modifiers and name.startswith("_"):
            raise self.fault("an inlined rule (_rule) cannot use the ?rule modifier", at)
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
        self.parameters = parameters
        body = self.alternatives(0)
        self.parameters = ()
        if self.kinds[self.index] != "line":
            raise self.unexpected()
        self.define(name, terminal, body, modifiers, priority, parameters, at, mode)

    def define(
        self, name: str, terminal: bool, body: Expression, modifiers: str, priority: int | None,
        parameters: tuple[str, ...], at: int, mode: str,
    ) -> None:  # fmt: skip
        known = name in self.defined
        if mode and not known:
            known_names = nearest(name, self.defined)
            raise self.fault(f"%{mode} of {name}, which is not defined before", at, meant(known_names))
        if known and not mode:
            raise self.fault(f"{name} is defined more than once", at)
        self.defined[name] = at
        result = self.result
        if mode == "extend":
            body = self.extended(name, terminal, body, parameters, at)
        if terminal:
            result.terminals[name] = Terminal(name, body, priority or 0, at, self.source)
        elif parameters:
            rule = Rule(name, body, modifiers, priority, at, self.source)
            result.templates[name] = Template(rule, parameters)
        else:
            result.rules[name] = Rule(name, body, modifiers, priority, at, self.source)

    def extended(
        self, name: str, terminal: bool, body: Expression, parameters: tuple[str, ...], at: int
    ) -> Expression:
        result = self.result
        if terminal:
            before = result.terminals[name].body
        elif name in result.templates:
            if result.templates[name].parameters != parameters:
                raise self.fault(f"{name} has other parameters where it is defined", at)
            before = result.templates[name].rule.body
        else:
            before = result.rules[name].body
        return Alternatives((body, *(before.arms if isinstance(before, Alternatives) else (before,))))

    def template_parameters(self, name: str) -> tuple[str, ...]:
        self.index += 1
        found: list[str] = []
        while True:
            at = self.places[self.index]
            parameter = self.name()
            if parameter.isupper():
                raise self.fault("a parameter's name is written in lower case", at)
            if parameter in found:
                raise self.fault(f"{parameter} is a parameter of {name} twice", at)
            found.append(parameter)
            if not self.comma("}"):
                return tuple(found)

    def comma(self, end: str) -> bool:
        """After an item of a list: whether another follows."""
        mark = self.texts[self.index]
        if mark not in (",", end):
            raise self.fault(f"a comma or {end} is expected here")
        self.index += 1
        return mark == ","

    def directive(self) -> None:
        at = self.places[self.index]
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
        if self.kinds[self.index] != "line":
            raise self.unexpected()

    def ignored(self) -> None:
        at = self.places[self.index]
        body = self.alternatives(0)
        if isinstance(body, Reference):
            self.result.ignore.append(body.name)
            return
        name = f"__IGNORE_{len(self.result.ignore)}"
        self.result.terminals[name] = Terminal(name, body, 0, at, self.source)
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
        known: dict[str, Rule | Terminal] = {**file.rules, **file.terminals}

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
            self.defined.setdefault(new, at)
            changed = replace(item, name=new, body=renamed(item.body, new_name))
            if isinstance(changed, Rule):
                self.result.rules[new] = changed
            else:
                self.result.terminals[new] = changed

    # Expressions

    def alternatives(self, depth: int) -> Expression:
        if depth > MAX_DEPTH:
            raise self.fault(f"nested more than {MAX_DEPTH} deep")
        arm = self.alias(depth)
        if self.kinds[self.index] != "or":
            return arm
        arms = [arm]
        while self.kinds[self.index] == "or":
            self.index += 1
            arms.append(self.alias(depth))
        return Alternatives(tuple(arms))

    def alias(self, depth: int) -> Expression:
        item = self.sequence(depth)
        if self.texts[self.index] != "->":
            return item
        self.index += 1
        at = self.places[self.index]
        name = self.name()
        if name.isupper():
            raise self.fault("an alias is written in lower case", at)
        return Named(item, name)

    def sequence(self, depth: int) -> Expression:
        kinds, texts = self.kinds, self.texts
        items: list[Expression] = []
        while True:
            kind = kinds[self.index]
            if kind == "name":
                item = self.reference(depth)
            elif kind == "string":
                item = self.string()
            elif kind == "mark" and texts[self.index] in "([":
                item = self.group(depth)
            elif kind == "regexp":
                item = self.regexp()
            else:
                break
            if kinds[self.index] == "mark" and texts[self.index] in "*+?~":
                item = self.repeated(item)
            items.append(item)
        if len(items) == 1:
            return items[0]
        return Sequence(tuple(items)) if items else EMPTY

    def repeated(self, item: Expression) -> Expression:
        mark = self.texts[self.index]
        at = self.places[self.index]
        self.index += 1
        if mark == "*":
            return Repeat(item)
        if mark == "+":
            return Repeat(item, 1)
        if mark == "?":
            following = self.texts[self.index]
            if following[:1].isalpha() and self.places[self.index] == at + 1:
                raise self.fault("a blank is needed between ? and the next name")
            return Repeat(item, 0, 1)
        minimum = maximum = self.number("a count")
        if self.texts[self.index] == "..":
            self.index += 1
            maximum = self.number("a count")
        if minimum < 0 or maximum < minimum:
            raise self.fault(f"{minimum}..{maximum} is no range of counts", at)
        if maximum > MAX_COUNT:
            raise self.fault(f"a count may be at most {MAX_COUNT}", at)
        return Repeat(item, minimum, maximum)

    def group(self, depth: int) -> Expression:
        mark = self.texts[self.index]
        at = self.places[self.index]
        self.index += 1
        item = self.alternatives(depth + 1)
        if self.texts[self.index] != (")" if mark == "(" else "]"):
            if self.kinds[self.index] in ("line", "end"):
                raise self.fault(f"this {mark} is never closed", at)
            raise self.unexpected()
        self.index += 1
        return item if mark == "(" else Repeat(item, 0, 1)

    def reference(self, depth: int) -> Expression:
        at = self.places[self.index]
        name = self.name()
        if self.texts[self.index] != "{":
            return Reference(name, at)
        if depth > MAX_DEPTH:
            raise self.fault(f"nested more than {MAX_DEPTH} deep")
        self.index += 1
        arguments: list[Expression] = []
        while True:
            kind = self.kinds[self.index]
            if kind == "name":
                arguments.append(self.reference(depth + 1))
            elif kind == "string":
                arguments.append(self.string())
            elif kind == "regexp":
                arguments.append(self.regexp())
            else:
                raise self.fault("an argument of a template is a name, a text or a pattern")
            if not self.comma("}"):
                return Use(name, tuple(arguments), at)  # type: ignore[return-value]

    def string(self) -> Expression:
        at = self.places[self.index]
        written = self.texts[self.index]
        self.index += 1
        ignore_case = written.endswith("i")
        inner = written[1:-2] if ignore_case else written[1:-1]
        if self.texts[self.index] == "..":
            return self.range(inner, at)
        text = unescaped(inner, self.source, at).replace("\\\\", "\\") if "\\" in inner else inner
        if not text:
            raise self.fault("an empty text is no terminal", at, "leave it out, or use [ ] or ?")
        return Literal(text, ignore_case, at)

    def range(self, low: str, at: int) -> Expression:
        self.index += 1
        if self.kinds[self.index] != "string":
            raise self.fault('a range is written "a".."z"')
        written = self.texts[self.index]
        self.index += 1
        high = written[1 : -2 if written.endswith("i") else -1]
        if len(unescaped(low, self.source, at)) != 1 or len(unescaped(high, self.source, at)) != 1:
            raise self.fault("a range has a single character at both ends", at)
        return Pattern(f"[{low}-{high}]", frozenset(), at)

    def regexp(self) -> Expression:
        at = self.places[self.index]
        written = self.texts[self.index]
        self.index += 1
        end = written.rindex("/")
        flags = frozenset(written[end + 1 :])
        inner = written[1:end]
        if "\n" in inner and "x" not in flags:
            raise self.fault("a pattern with line ends needs the flag x", at)
        if "l" in flags:
            raise self.fault("the flag l (locale) is not supported", at)
        return Pattern(unescaped(inner, self.source, at), flags, at)

    # Tokens

    def name(self) -> str:
        if self.kinds[self.index] != "name":
            raise self.fault("a name is expected here")
        name = self.texts[self.index]
        if not (name.islower() or name.isupper()) or name.startswith("__"):
            good = (_RULE_NAME if name.islower() else _TERMINAL_NAME).fullmatch(name)
            if not good:
                raise self.fault(
                    f"{name} is no name", hint="rules are written in lower case, terminals in upper case"
                )
        self.index += 1
        return name

    def number(self, what: str) -> int:
        if self.kinds[self.index] != "number":
            raise self.fault(f"{what} is expected here")
        written = self.texts[self.index]
        if len(written) > 9:
            raise self.fault(f"{written[:9]}… is too large")
        self.index += 1
        return int(written)

    def unexpected(self) -> GrammarError:
        text = self.texts[self.index]
        if self.kinds[self.index] in ("line", "end"):
            return self.fault("the line ends too early")
        if text in (")", "]", "}"):
            return self.fault(f"this {text} closes nothing")
        if text == ":":
            return self.fault("a colon has no place here", hint="a new rule begins on a line of its own")
        if text in "*+?~":
            return self.fault(f"{text} needs something before it")
        return self.fault(f"{text!r} has no place here")


@lru_cache(maxsize=8)
def _library(name: str) -> File:
    """A library of the installed Lark."""
    text = (files("lark.grammars") / f"{name}.lark").read_text(encoding="utf-8")
    # Indentation has no text of its own; what needs it is refused where it is imported.
    text = re.sub(r"(?m)^%declare.*$", "", text)
    return _Reader(Source(f"{name}.lark", text), name).file()
