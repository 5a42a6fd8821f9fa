"""Reads grammars in Lark's own syntax, as Lark 1.x reads them.

Names, escapes, imports and templates mean what they mean there (`lark/load_grammar.py` is the reference).
Only the libraries that come with Lark can be imported (`%import common.INT`); they are read from the
installed package.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files

from sglc.diagnostics.suggest import nearest
from sglc.grammar.checks import check_names
from sglc.grammar.errors import GrammarError
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
MAX_TEMPLATES = 10_000
"""Uses of templates with different arguments."""
MAX_COUNT = 100_000

_TOKENS = re.compile(
    r"""(?P<comment>\s*(?://|\#)[^\n]*)
    |(?P<regexp>/(?!/)(?:\\/|\\\\|[^/])*?/[imslux]*)
    |(?P<string>"(?:\\"|\\\\|[^"\n])*?"i?)
    |(?P<or>(?:\r?\n)+\s*\||\|)
    |(?P<line>(?:\r?\n)+\s*)
    |(?P<blank>[ \t]+|\\[ ]*\n)
    |(?P<name>[_A-Za-z][_A-Za-z0-9]*)
    |(?P<number>[+-]?\d+)
    |(?P<directive>%[a-z]+)
    |(?P<mark>\.\.|->|[()\[\]{}:,.~+*?!])""",
    re.VERBOSE,
)
_SKIPPED = ("comment", "blank")
_TERMINAL_NAME = re.compile(r"_?[A-Z][_A-Z0-9]*")
_RULE_NAME = re.compile(r"_?[a-z][_a-z0-9]*")
_LIBRARIES = ("common", "python", "unicode", "lark")


@dataclass(slots=True)
class _Template:
    rule: Rule
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Use:
    """A template with its arguments; replaced by a reference when templates are expanded."""

    name: str
    arguments: tuple[Expression, ...]
    at: int


@dataclass(slots=True)
class _File:
    """What one file defines, before templates are expanded."""

    rules: dict[str, Rule]
    terminals: dict[str, Terminal]
    templates: dict[str, _Template]
    ignore: list[str]


def read_lark(text: str, start: str | None = None, name: str = "grammar") -> Grammar:
    """The grammar of a Lark file. Raises GrammarError."""
    source = Source(name, text)
    reader = _Reader(source)
    file = reader.file()
    rules, terminals = dict(file.rules), dict(file.terminals)
    if "{" in reader.texts:
        rules = _Expander(file, source).expand()
    grammar = Grammar(rules, terminals, tuple(file.ignore), start or "start", "lark")
    check_names(grammar, source)
    return grammar


class _Reader:
    """Recursive descent over the tokens of one file."""

    def __init__(self, source: Source, library: str | None = None) -> None:
        self.source = source
        self.library = library
        self.kinds: list[str] = []
        self.texts: list[str] = []
        self.places: list[int] = []
        self.index = 0
        self.parameters: tuple[str, ...] = ()
        self.result = _File({}, {}, {}, [])
        self.defined: dict[str, int] = {}
        self._split()

    def fault(self, reason: str, at: int | None = None, hint: str = "") -> GrammarError:
        return GrammarError(reason, self.source, self.places[self.index] if at is None else at, hint)

    def _split(self) -> None:
        text = self.source.text
        end = 0
        kinds, texts, places = self.kinds, self.texts, self.places
        for match in _TOKENS.finditer(text):
            start = match.start()
            if start != end:
                break
            end = match.end()
            kind = match.lastgroup
            if kind not in _SKIPPED:
                kinds.append(kind)  # type: ignore[arg-type]
                texts.append(match.group())
                places.append(start)
        if end < len(text):
            raise GrammarError(*_unreadable(text, end, self.source))
        kinds += ("line", "end")
        texts += ("\n", "")
        places += (len(text), len(text))

    # Statements

    def file(self) -> _File:
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
            raise self.fault(f"%{mode} of {name}, which is not defined before", at, _meant(known_names))
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
            result.templates[name] = _Template(rule, parameters)
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
                raise self.fault(f"{word} is no directive", at, _meant(known and "%" + known))
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
            raise self.fault(f"there is no library {library}", at, _meant(nearest(library, _LIBRARIES)))
        self.take_over(library, aliases, at)

    def take_over(self, library: str, aliases: dict[str, str], at: int) -> None:
        """The imported names and what they need, the latter under names of their own."""
        file = _library(library)
        known: dict[str, Rule | Terminal] = {**file.rules, **file.terminals}

        def renamed(name: str) -> str:
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
                raise self.fault(f"{library} has no {name}", at, _meant(nearest(name, known)))
            item = known[name]
            waiting += _names(item.body)
            new = renamed(name)
            if new in self.defined and new in aliases.values():
                raise self.fault(f"{new} is defined already", at)
            if name in aliases and new.isupper() != name.isupper():
                raise self.fault(
                    f"{name} cannot be called {new}: rules are written small, terminals large", at
                )
            self.defined.setdefault(new, at)
            changed = replace(item, name=new, body=_rename(item.body, renamed))
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
                return _Use(name, tuple(arguments), at)  # type: ignore[return-value]

    def string(self) -> Expression:
        at = self.places[self.index]
        written = self.texts[self.index]
        self.index += 1
        ignore_case = written.endswith("i")
        inner = written[1:-2] if ignore_case else written[1:-1]
        if self.texts[self.index] == "..":
            return self.range(inner, at)
        text = self.unescape(inner, at).replace("\\\\", "\\") if "\\" in inner else inner
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
        if len(self.unescape(low, at)) != 1 or len(self.unescape(high, at)) != 1:
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
        return Pattern(self.unescape(inner, at), flags, at)

    def unescape(self, text: str, at: int) -> str:
        """What Lark makes of the inside of a text or pattern: it keeps backslashes that it does not know."""
        if "\\" not in text:
            return text
        quoted: list[str] = []
        chars = iter(text)
        for char in chars:
            quoted.append(char)
            if char == "\\":
                following = next(chars, "")
                if following == "\\":
                    quoted.append("\\\\")
                elif following not in "Uuxnftr" or not following:
                    quoted.append("\\")
                quoted.append(following)
        joined = "".join(quoted).replace('\\"', '"')

        def meant(match: re.Match[str]) -> str:
            written = match.group()
            if written[1] in "xuU" and len(written) > 2:
                code = int(written[2:], 16)
                if code > 0x10FFFF:
                    raise self.fault(f"{written} is no character", at)
                return chr(code)
            plain = {"n": "\n", "t": "\t", "f": "\f", "r": "\r", "\\": "\\", '"': '"'}.get(written[1])
            if plain is None:
                raise self.fault(f"the escape {written} is not complete", at)
            return plain

        return _ESCAPE.sub(meant, joined)

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


_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])")


def _unreadable(text: str, at: int, source: Source) -> tuple[str, Source, int, str]:
    char = text[at]
    if char == '"':
        return "this text is never closed", source, at, "a text ends on its line"
    if char == "/":
        return "this pattern is never closed", source, at, ""
    if char == "'":
        return "a text is written in double quotes", source, at, ""
    return f"{char!r} has no place in a grammar", source, at, ""


def _meant(name: str | None) -> str:
    return f"did you mean {name}?" if name else ""


def _names(item: Expression) -> list[str]:
    """The names that an expression refers to."""
    found: list[str] = []
    waiting = [item]
    while waiting:
        match waiting.pop():
            case Reference(name):
                found.append(name)
            case Sequence(items) | Alternatives(items):
                waiting += items
            case Repeat(inner) | Named(inner):
                waiting.append(inner)
            case _Use(name, arguments):
                found.append(name)
                waiting += arguments
            case _:
                pass
    return found


def _rename(item: Expression, renamed: Callable[[str], str]) -> Expression:
    match item:
        case Reference(name):
            return Reference(renamed(name))
        case Sequence(items):
            return Sequence(tuple(_rename(inner, renamed) for inner in items))
        case Alternatives(arms):
            return Alternatives(tuple(_rename(arm, renamed) for arm in arms))
        case Repeat(inner, minimum, maximum):
            return Repeat(_rename(inner, renamed), minimum, maximum)
        case Named(inner, name):
            return Named(_rename(inner, renamed), name)
    return item


@lru_cache(maxsize=8)
def _library(name: str) -> _File:
    """A library of the installed Lark."""
    text = (files("lark.grammars") / f"{name}.lark").read_text(encoding="utf-8")
    # Indentation has no text of its own; what needs it is refused where it is imported.
    text = re.sub(r"(?m)^%declare.*$", "", text)
    return _Reader(Source(f"{name}.lark", text), name).file()


class _Expander:
    """Makes a rule of every use of a template with different arguments."""

    def __init__(self, file: _File, source: Source) -> None:
        self.file = file
        self.source = source
        self.rules: dict[str, Rule] = {}
        self.made: set[str] = set()
        self.waiting: list[tuple[str, _Template, tuple[Expression, ...]]] = []

    def expand(self) -> dict[str, Rule]:
        for name, rule in self.file.rules.items():
            self.rules[name] = replace(rule, body=self.rewrite(rule.body, {}, name))
        while self.waiting:
            name, template, arguments = self.waiting.pop()
            values = dict(zip(template.parameters, arguments, strict=True))
            rule = template.rule
            self.rules[name] = replace(rule, name=name, body=self.rewrite(rule.body, values, name))
        return self.rules

    def rewrite(self, item: Expression, values: dict[str, Expression], where: str) -> Expression:
        match item:
            case Reference(name, at):
                if name in values:
                    return values[name]
                template = self.file.templates.get(name)
                if template is not None:
                    count = _arguments(len(template.parameters))
                    raise GrammarError(f"the template {name} takes {count}", self.source, at)
                return item
            case Sequence(items):
                return Sequence(tuple(self.rewrite(inner, values, where) for inner in items))
            case Alternatives(arms):
                return Alternatives(tuple(self.rewrite(arm, values, where) for arm in arms))
            case Repeat(inner, minimum, maximum):
                return Repeat(self.rewrite(inner, values, where), minimum, maximum)
            case Named(inner, name):
                return Named(self.rewrite(inner, values, where), name)
            case _Use():
                return self.use(item, values, where)
        return item

    def use(self, item: _Use, values: dict[str, Expression], where: str) -> Expression:
        name = item.name
        given = values.get(name)
        if given is not None:
            if not isinstance(given, Reference):
                raise GrammarError(f"{name} is used as a template but is none", self.source, item.at)
            name = given.name
        template = self.file.templates.get(name)
        if template is None:
            known = nearest(name, self.file.templates)
            raise GrammarError(f"no template is called {name}", self.source, item.at, _meant(known))
        arguments = tuple(self.rewrite(argument, values, where) for argument in item.arguments)
        if len(arguments) != len(template.parameters):
            raise GrammarError(
                f"{name} takes {_arguments(len(template.parameters))}, not {len(arguments)}",
                self.source, item.at,
            )  # fmt: skip
        made = f"{name}{{{','.join(_shown(argument) for argument in arguments)}}}"
        if made not in self.made:
            if len(self.made) >= MAX_TEMPLATES or len(made) > 10_000:
                raise GrammarError(
                    f"the template {name} leads to more and more rules", self.source, item.at,
                    "its arguments grow without end",
                )  # fmt: skip
            self.made.add(made)
            self.waiting.append((made, template, arguments))
        return Reference(made, item.at)


def _arguments(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def _shown(argument: Expression) -> str:
    if isinstance(argument, Reference):
        return argument.name
    if isinstance(argument, Literal):
        return repr(argument.text) + ("i" if argument.ignore_case else "")
    assert isinstance(argument, Pattern)
    return f"/{argument.regex}/{''.join(sorted(argument.flags))}"
