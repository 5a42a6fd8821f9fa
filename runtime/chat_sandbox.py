"""Jinja for chat templates from anywhere: nothing that a template does takes much time or memory.

Jinja's own sandbox keeps a template away from Python's insides; it bounds neither time nor memory. Here every
way to make something large, or to do something often, is counted:

- loops, by wrapping what they go over; calls, filters and operators, by the sandbox's own hooks;
- texts and containers, by their size before they are made where that can be told (repetition, padding,
  replacing, joining, formatting) and when they are made where it cannot;
- what is written, also into macros and blocks.

A value has at most `MOST_CHARACTERS` or `MOST_ITEMS` (with shared parts counted each time, as they are when
the value is written or compared), so one operation takes milliseconds at most; all of them together take no
more than `MOST_WORK`, and `MOST_SECONDS` of the processor as a backstop.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from time import thread_time
from typing import TypeVar

from jinja2 import Environment, nodes
from jinja2.exceptions import SecurityError
from jinja2.ext import Extension, loopcontrols
from jinja2.filters import FILTERS
from jinja2.parser import Parser
from jinja2.runtime import Context, LoopContext, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Cycler, Joiner, Namespace, _PassArg
from jinja2.visitor import NodeTransformer

T = TypeVar("T")
Container = list[object] | tuple[object, ...] | dict[object, object]

MOST_WORK = 4_000_000
"""Steps of a rendering: iterations, calls, filters, items, and 16 characters each. The longest conversation
(4,096 messages) costs the templates of published models some 400,000."""
MOST_SECONDS = 4.0
"""Of processor time for one rendering; the templates of published models take milliseconds."""
MOST_CHARACTERS = 1 << 21
"""Of one text, and of all that is written. Contents are short marks here, whatever the messages hold."""
MOST_ITEMS = 1 << 17
"""Of one container, with those in its parts."""
DEEPEST = 64
"""Containers within containers."""
MOST_BITS = 4096
"""Of one integer."""
WIDEST = 4096
"""Numbers that filters and methods take: widths, counts, indentations."""
_CHARACTERS_A_STEP = 16
_LOOK_AT_CLOCK = 1 << 8
"""Steps between two looks at the clock; what a template does between two steps is as long as itself."""

_UNNEEDED = ("pprint", "random", "striptags", "urlize", "wordwrap", "xmlattr")
"""Filters for web pages, some of whose patterns take quadratic time. No chat template needs them."""
_STEPS, _JOINED, _MADE = "sglc steps", "sglc joined", "sglc made"
"""Filters of ours that the compiler puts in; a template cannot spell names with blanks."""

_TEXT_METHODS = frozenset(
    "capitalize casefold center count endswith expandtabs find format index isalnum isalpha isascii "
    "isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower "
    "lstrip partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split "
    "splitlines startswith strip swapcase title upper zfill".split()
)
_METHODS: dict[type, frozenset[str]] = {
    str: _TEXT_METHODS,
    list: frozenset({"count", "index"}),
    tuple: frozenset({"count", "index"}),
    dict: frozenset({"get", "items", "keys", "values", "copy"}),
    int: frozenset({"bit_length"}),
    float: frozenset({"is_integer"}),
}
"""What may be called of Python's own values. Everything else of them is refused."""
_METHOD_KINDS = (types.BuiltinMethodType, types.MethodType, types.MethodWrapperType)
_WIDE_NUMBER = re.compile(r"\d{5}")
_PERCENT = re.compile(r"%[^a-zA-Z%]*\*|\d{5}")
"""Formats whose width is a value, or has five digits."""


class LimitExceeded(Exception):
    """A template asks for too much; the message says of what."""


class Meter:
    """What one rendering has spent."""

    def __init__(self) -> None:
        self.left = MOST_WORK
        self._look = self.left - _LOOK_AT_CLOCK
        self._until = thread_time() + MOST_SECONDS

    def spend(self, steps: int = 1) -> None:
        """Count steps. Raises LimitExceeded."""
        self.left -= steps
        if self.left < self._look:
            self._look = self.left - _LOOK_AT_CLOCK
            if self.left < 0:
                raise LimitExceeded(f"it takes more than {MOST_WORK:,} steps")
            if thread_time() > self._until:
                raise LimitExceeded(f"it takes longer than {MOST_SECONDS:g} s")

    def text(self, length: int) -> None:
        """Count a text before it is made."""
        if length > MOST_CHARACTERS:
            raise LimitExceeded(f"it makes a text of more than {MOST_CHARACTERS:,} characters")
        self.spend(1 + length // _CHARACTERS_A_STEP)

    def value(self, value: T) -> T:
        """Count a value that was made, and give it back."""
        if isinstance(value, str):
            self.text(len(value))
        elif isinstance(value, int):
            if value.bit_length() > MOST_BITS:
                raise LimitExceeded(f"it makes a number of more than {MOST_BITS} bits")
        elif isinstance(value, list | tuple | dict):
            self.items(value)
        return value

    def count(self, items: int) -> None:
        """Count the items of a container before it is made."""
        if items > MOST_ITEMS:
            raise LimitExceeded(f"it makes a list of more than {MOST_ITEMS:,} items")
        self.spend(items)

    def items(self, value: Container) -> int:
        """Count a container with all that is in it, and say how much that is.

        What is in it several times counts each time, and 16 characters of a text count as an item.
        """
        work: list[tuple[Container, int]] = [(value, 1)]
        found = 0
        while work:
            part, depth = work.pop()
            inside: Iterable[object] = part
            size = len(part)
            if isinstance(part, dict):
                inside, size = [*part, *part.values()], 2 * size
            found += 1 + size
            for each in inside:
                if isinstance(each, str):
                    found += len(each) // _CHARACTERS_A_STEP
                elif isinstance(each, list | tuple | dict):
                    work.append((each, depth + 1))
            if found > MOST_ITEMS or depth > DEEPEST:
                raise LimitExceeded(
                    f"it makes a list of more than {MOST_ITEMS:,} items, or more than {DEEPEST} deep"
                )
        self.spend(found)
        return found

    def number(self, value: object) -> None:
        """Refuse a width or a count that is too large."""
        if isinstance(value, int | float) and not -WIDEST <= value <= WIDEST:
            raise LimitExceeded(f"it asks for a width or a number of {str(value)[:20]}, more than {WIDEST}")


class Steps:
    """What a loop goes over, counted item by item."""

    def __init__(self, meter: Meter, items: Iterable[object]) -> None:
        self._meter, self._items = meter, items

    def __iter__(self) -> Iterator[object]:
        spend = self._meter.spend
        for item in self._items:
            spend()
            yield item

    def __len__(self) -> int:
        if isinstance(self._items, Sized):
            return len(self._items)
        raise TypeError("what a generator gives has no length")


class _Counted(NodeTransformer):
    """Has loops, joined texts and containers go through filters that count them."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        self.generic_visit(node)
        node.iter = _filtered(node.iter, _STEPS)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), _JOINED)

    def visit_List(self, node: nodes.List) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(node, _MADE)

    def visit_Dict(self, node: nodes.Dict) -> nodes.Node:
        self.generic_visit(node)
        return _filtered(node, _MADE)

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Node:
        self.generic_visit(node)
        return node if node.ctx == "store" else _filtered(node, _MADE)


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class GenerationBlock(Extension):
    """`{% generation %}` marks what an assistant wrote; for rendering it is only its body."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.tags = {"generation"}

    def parse(self, parser: Parser) -> nodes.Node:
        """The nodes of the body, in a scope of their own. Jinja calls it behind the word `generation`."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body).set_lineno(line)


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """A sandbox that counts. `meter` is that of the rendering at hand; one at a time."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[GenerationBlock, loopcontrols],
            finalize=self._written,
            cache_size=0,
        )
        self.meter = Meter()
        self.concat = self._concat  # type: ignore[method-assign]
        kept = {name: function for name, function in FILTERS.items() if name not in _UNNEEDED}
        self.filters.clear()
        for name, function in kept.items():
            self.add_filter(name, function)
        self.filters[_STEPS] = _in_context(lambda items: Steps(self.meter, items))
        self.filters[_JOINED] = _in_context(lambda parts: self._concat(map(self._as_text, parts)))
        self.filters[_MADE] = _in_context(lambda made: self.meter.value(made))
        self.globals.pop("lipsum", None)

    def add_filter(self, name: str, function: Callable[..., object]) -> None:
        """A filter, counted."""
        self.filters[name] = self._counted(name, function)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        found: nodes.Template = _Counted().visit(super()._parse(source, name, filename))
        return found.set_environment(self)  # type: ignore[return-value]

    # -- texts ---------------------------------------------------------------------------------------

    def _written(self, value: object) -> object:
        """Called with every value that is written."""
        self.meter.spend()
        return value if isinstance(value, str) else self._as_text(value)

    def _as_text(self, value: object) -> str:
        """`str(value)`; containers are counted first, as what they share is written each time."""
        if isinstance(value, list | tuple | dict):
            self.meter.items(value)
        return value if isinstance(value, str) else str(value)

    def _concat(self, parts: Iterable[str]) -> str:
        """What Jinja joins: outputs, bodies of macros and blocks."""
        found, length = [], 0
        for part in parts:
            length += len(part)
            if length > MOST_CHARACTERS:
                break
            found.append(part)
        self.meter.text(length)
        return "".join(found)

    # -- operators, calls, filters -------------------------------------------------------------------

    def call_binop(self, context: Context, operator: str, left: object, right: object) -> object:
        """Called for every operator in `intercepted_binops`."""
        meter = self.meter
        meter.spend()
        if operator == "*":
            for sequence, times in ((left, right), (right, left)):
                if isinstance(sequence, str | list | tuple) and isinstance(times, int):
                    (meter.text if isinstance(sequence, str) else meter.count)(len(sequence) * max(0, times))
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            if left.bit_length() * max(0, right) > MOST_BITS:
                raise LimitExceeded(f"it makes a number of more than {MOST_BITS} bits")
        elif operator == "%" and isinstance(left, str):
            self._check_percent(left, right)
        elif operator == "+" and isinstance(left, str) and isinstance(right, str):
            meter.text(len(left) + len(right))
        return meter.value(super().call_binop(context, operator, left, right))

    def _check_percent(self, text: str, values: object) -> None:
        if _PERCENT.search(text):
            raise LimitExceeded("it formats with a width of five digits or a computed one")
        every = values if isinstance(values, tuple) else (values,)
        longest = max((len(self._as_text(each)) for each in every), default=0)
        self.meter.text(len(text) + text.count("%") * (longest + WIDEST))

    def call(__self, __context: Context, __obj: object, *args: object, **kwargs: object) -> object:
        """Called for every call in a template."""
        self, called = __self, __obj
        meter = self.meter
        meter.spend()
        for argument in (*args, *kwargs.values()):
            if isinstance(argument, list | tuple | dict | str):
                meter.spend(len(argument) // _CHARACTERS_A_STEP)
        owner = getattr(called, "__self__", None) if isinstance(called, _METHOD_KINDS) else None
        if isinstance(owner, tuple(_METHODS)) or isinstance(called, types.MethodWrapperType):
            self._check_method(owner, str(getattr(called, "__name__", "")), args, kwargs)
        elif isinstance(called, LoopContext):
            args = tuple(Steps(meter, each) if isinstance(each, Iterable) else each for each in args)
        elif isinstance(called, type) and called not in (dict, Namespace, Cycler, Joiner):
            raise SecurityError(f"{called.__name__} is not for templates")
        return meter.value(super().call(__context, called, *args, **kwargs))

    def wrap_str_format(self, value: object) -> Callable[..., str] | None:
        """Called for `format` of a text, which Jinja replaces by one that looks at attributes."""
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None
        text, safe = str(getattr(value, "__self__", "")), wrapped

        def checked(*args: object, **kwargs: object) -> str:
            self._check_text("format", text, args, kwargs)
            return safe(*args, **kwargs)

        return checked

    def _check_method(
        self, owner: object, name: str, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> None:
        """Of texts and other values of Python."""
        allowed = next((names for kind, names in _METHODS.items() if isinstance(owner, kind)), frozenset())
        if name not in allowed:
            raise SecurityError(f"{type(owner).__name__}.{name} is not for templates")
        if isinstance(owner, str):
            self._check_text(name, owner, args, kwargs)

    def _check_text(
        self, name: str, text: str, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> None:
        """Before a filter or method makes a text of another: what it may come to."""
        meter = self.meter
        every = (*args, *kwargs.values())
        for value in every:
            meter.number(value)
        match name:
            case "replace":
                old, new = (*args, *kwargs.values())[:2] if len(every) >= 2 else ("", "")
                if isinstance(old, str) and isinstance(new, str):
                    meter.text(len(text) + (text.count(old) if old else len(text) + 1) * len(new))
            case "join":
                parts = [len(each) for arg in args if isinstance(arg, list | tuple) for each in map(str, arg)]
                meter.text(sum(parts) + len(text) * len(parts))
            case "expandtabs" | "indent":
                lines = text.count("\t") + text.count("\n") + 1
                widths = [v for v in every if isinstance(v, str | int | float)]
                most = max((len(v) if isinstance(v, str) else int(v) for v in widths), default=8)
                meter.text(len(text) + lines * most)
            case "format":
                if "%" in text and name == "format":
                    self._check_percent(text, args or dict(kwargs))
                if _WIDE_NUMBER.search(text) or re.search(r":[^}]*\{", text):
                    raise LimitExceeded("it formats with a width of five digits or a computed one")
                longest = max((len(self._as_text(each)) for each in every), default=0)
                meter.text(len(text) + text.count("{") * (longest + WIDEST))

    def _counted(self, name: str, function: Callable[..., object]) -> Callable[..., object]:
        """A filter that is counted. It takes the context, so that it is never computed while compiling."""
        passed = _PassArg.from_obj(function)

        def counted(context: Context, value: object = None, *args: object, **kwargs: object) -> object:
            meter = self.meter
            meter.spend()
            for each in (*args, *kwargs.values()):
                meter.number(each)
            if isinstance(value, str):
                self._check_text(name, value, args, kwargs)
                meter.spend(len(value) // _CHARACTERS_A_STEP)
            elif isinstance(value, list | tuple | dict):
                meter.items(value)
            elif isinstance(value, Sized) and not isinstance(value, Undefined):
                meter.spend(len(value))
            elif isinstance(value, Iterator):
                value = iter(Steps(meter, value))
            if name == "tojson":
                self._check_json(value, *args, **kwargs)
            if name == "join":
                value = self._joinable(value, args, kwargs)
            if name == "string":
                return meter.value(self._as_text(value))
            if passed is _PassArg.context:
                args = (value, *args)
                return meter.value(function(context, *args, **kwargs))
            if passed is _PassArg.eval_context:
                return meter.value(function(context.eval_ctx, value, *args, **kwargs))
            if passed is _PassArg.environment:
                return meter.value(function(self, value, *args, **kwargs))
            return meter.value(function(value, *args, **kwargs))

        counted.jinja_pass_arg = _PassArg.context  # type: ignore[attr-defined]
        return counted

    def _check_json(self, value: object, *args: object, **kwargs: object) -> None:
        """Before a value is written as JSON: its indentation is that of the deepest part at worst."""
        indent = kwargs.get("indent", args[1] if len(args) > 1 else None)
        if isinstance(indent, str):
            indent = len(indent)
        if isinstance(indent, int | float) and indent and isinstance(value, list | tuple | dict):
            self.meter.text(self.meter.items(value) * int(indent))

    def _joinable(
        self, value: object, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> list[object]:
        """What `join` is to put together, once it is known that it is not too much."""
        if not isinstance(value, Iterable):
            raise TypeError(f"{type(value).__name__} has no parts to join")
        parts = list(value)
        between = args[0] if args else kwargs.get("d", "")
        if not args[1:] and "attribute" not in kwargs:
            length = sum(len(self._as_text(each)) for each in parts)
            self.meter.text(length + len(str(between)) * len(parts))
        else:
            self.meter.text(len(str(between)) * len(parts))
        return parts


def _in_context(function: Callable[[T], object]) -> Callable[[object, T], object]:
    """A filter that takes the context, and does without it."""

    def filter(context: object, value: T) -> object:
        return function(value)

    filter.jinja_pass_arg = _PassArg.context  # type: ignore[attr-defined]
    return filter
