"""What functions may raise, which of them are pure, and which do nothing but compute: inferred from their
bodies before these are checked.

A body is read once. Every `raise` and every call in it becomes an event: which declared errors may leave
the function there, and which are caught around it. What calls raise is then the least fixed point over the
graph of calls, and a function is pure unless something in it, or in a function that it calls, is not. A pure
function is idle unless something in them is there to fail.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sglc.check.core.context import ModuleContext, Signature
from sglc.check.core.elements import OF_ELEMENTS
from sglc.check.core.result import Effects
from sglc.check.core.walk import parts
from sglc.check.names.builtins import ERRORS, READERS, SEEKERS
from sglc.diagnostics.diagnostic import Edit, Label
from sglc.immutable import value
from sglc.source import Span
from sglc.syntax.tree import ast

_ASKS = frozenset({
    ast.PipeLine, ast.Include, ast.Role, ast.Gen, ast.Choose, ast.Select, ast.Fork, ast.Part,
    ast.Forget, ast.Think, ast.Parallel, ast.Using, ast.StreamFor, ast.Adopt, ast.Yield,
})  # fmt: skip
"""What no pure function has: text, holes, and what goes with a conversation."""
_EVENTFUL = frozenset({ast.Try, ast.OrElse, ast.ExpectRaises, ast.Fork, ast.Raise, ast.Call})
"""Where errors leave, or are caught."""


@value
class _Event:
    """A place where errors may leave: `raised`, or those of `called`; `only` some, `without` others."""

    span: Span
    raised: str = ""
    called: str = ""
    only: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    def leaving(self, raises: Callable[[str], Iterator[str]]) -> Iterator[str]:
        """The errors, with those of each function as they are known."""
        for error in raises(self.called) if self.called else (self.raised,):
            if error not in self.without and (self.only is None or error in self.only):
                yield error


@value
class _Handled:
    """An `except` arm that names a declared error, and what the body of its `try` may raise."""

    error: str
    name: ast.Name
    events: tuple[_Event, ...]


@dataclass(slots=True)
class _Body:
    """What was read of one body."""

    module: ModuleContext
    events: list[_Event] = field(default_factory=list)
    calls: set[str] = field(default_factory=set)
    """All functions that it calls, by qualified name."""
    handled: list[_Handled] = field(default_factory=list)
    asks: bool = False
    fails: bool = False
    """Whether something in it may be there to fail: `raise`, `ensure`, `check`, or a call of READERS and
    SEEKERS."""

    def read(self, nodes: object) -> list[_Event]:
        """The events of nodes, from which what is caught there has been taken."""
        found: list[_Event] = []
        waiting: list[object] = [nodes]
        while waiting:
            node = waiting.pop()
            kind = node.__class__
            if kind is tuple:
                waiting += node[::-1]  # type: ignore[index]
                continue
            self.asks |= kind in _ASKS
            self.fails |= kind is ast.Raise or kind is ast.Ensure
            if kind not in _EVENTFUL:
                waiting += parts(node)[::-1]
                continue
            match node:
                case ast.Try():
                    found += self._try(node)
                case ast.OrElse():
                    self.read(node.value)  # every error is caught
                    waiting.append(node.fallback)
                case ast.ExpectRaises():
                    self.read(node.call)
                case ast.Fork(skip=True):
                    found += self.read((node.iterable, node.options))
                    self.read(node.body)  # a branch that fails is left out
                case ast.Raise(error=error):
                    name = None if error is None else self._error(error)
                    if name is not None:
                        found.append(_Event(node.span, raised=name))
                    elif error is None and self._caught:
                        found += self._caught[-1]
                    waiting += (argument.value for argument in reversed(node.arguments))
                case ast.Call():
                    found += self._call(node)
                    waiting += [argument.value for argument in reversed(node.arguments)] + [node.function]
                case _:  # a fork whose branches must not fail
                    waiting += reversed(parts(node))
        return found

    _caught: list[list[_Event]] = field(default_factory=list)
    """What the `except` arms around catch, innermost last: a bare `raise` raises it again."""

    def _try(self, node: ast.Try) -> list[_Event]:
        inside = self.read(node.body)
        found: list[_Event] = []
        caught: set[str] = set()
        everything = False
        for handler in node.handlers:
            names = [(name, self._error(name)) for name in handler.errors]
            for name, error in names:
                if error is not None and error not in caught and not everything:
                    self.handled.append(_Handled(error, name, tuple(inside)))
            here = frozenset(error for _, error in names if error is not None)
            left = _without(inside, frozenset(caught))
            self._caught.append(_only(left, here) if handler.errors else left)
            found += self.read(handler.body)
            self._caught.pop()
            caught |= here
            everything |= not handler.errors
        return _distinct([*(() if everything else _without(inside, frozenset(caught))), *found])

    def _call(self, node: ast.Call) -> list[_Event]:
        function = node.function
        named: list[ast.Expression] = [function.value if isinstance(function, ast.Index) else function]
        if isinstance(function, ast.Attribute) and function.name.text in OF_ELEMENTS:
            values = [argument.value for argument in node.arguments]
            named = [value.value if isinstance(value, ast.Index) else value for value in values]
        self.fails |= isinstance(function, ast.Attribute) and function.name.text in SEEKERS
        found = []
        for each in named:
            self.fails |= isinstance(each, ast.Reference) and each.name in READERS
            entity = self.module.names.get(each.name) if isinstance(each, ast.Reference) else None
            if entity is not None and entity.kind == "function":
                self.calls.add(entity.name)
                found.append(_Event(node.span, called=entity.name))
        return found

    def _error(self, name: ast.Name) -> str | None:
        """The declared error of a name."""
        entity = self.module.names.get(name.text)
        known = name.text not in ERRORS and entity is not None and entity.kind == "error"
        return entity.name if known and entity is not None else None


def _without(events: Sequence[_Event], names: frozenset[str]) -> list[_Event]:
    """What is left of events where some errors are caught."""
    return _distinct(replace(event, without=event.without | names) for event in events)


def _only(events: Sequence[_Event], names: frozenset[str]) -> list[_Event]:
    """What events have of some errors."""
    return _distinct(
        replace(event, only=names if event.only is None else event.only & names) for event in events
    )


def _distinct(events: Iterable[_Event]) -> list[_Event]:
    """Events that may happen, the first of equals: as many at most as there are names, whatever is nested."""
    found: dict[object, _Event] = {}
    for event in events:
        if event.raised:
            if event.raised in event.without or (event.only is not None and event.raised not in event.only):
                continue
            event = _Event(event.span, raised=event.raised)
        elif event.only is not None:
            event = replace(event, only=event.only - event.without, without=frozenset())
            if not event.only:
                continue
        found.setdefault((event.raised, event.called, event.only, event.without), event)
    return list(found.values())


def errors_leaving(module: ModuleContext, nodes: object) -> list[str]:
    """The declared errors that nodes outside of functions raise, once all functions are known."""
    signatures = module.program.signatures

    def raises(name: str) -> Iterator[str]:
        return (error for error in signatures[name].raises if error not in ERRORS)

    return list(dict.fromkeys(error for each in _Body(module).read(nodes) for error in each.leaving(raises)))


class FunctionEffects:
    """The effects of the functions of a module; those of the modules that it uses are known."""

    def __init__(self, module: ModuleContext) -> None:
        self.module = module
        self.program = module.program
        self.bodies: dict[str, _Body] = {}
        self.raises: dict[str, dict[str, Span]] = {}
        """Of each function: the declared errors that leave it, with the first place where each does."""
        for entity in module.own("function"):
            signature = self.program.signatures.get(entity.name)
            node = None if signature is None else signature.declaration
            if signature is not None and isinstance(node, ast.FunctionDeclaration):
                body = self.bodies[signature.name] = _Body(signature.module)
                header = (tuple(parameter.type for parameter in node.parameters), node.result)
                body.events = _distinct(body.read((header, node.body)))

    def infer(self) -> None:
        """Note what is inferred in signatures and modules, and hold headers and handlers against it."""
        callers: dict[str, list[str]] = {}
        for name, body in self.bodies.items():
            for called in body.calls:
                callers.setdefault(called, []).append(name)
        self._raises(callers)
        pure = self._pure(callers)
        idle = self._idle(pure, callers)
        for name, body in self.bodies.items():
            signature = self.program.signatures[name]
            node = signature.declaration
            assert isinstance(node, ast.FunctionDeclaration)
            written = signature.raises
            inferred = [error for error in self.raises[name] if error not in written]
            signature.raises = (*(e for e in written if e in ERRORS or e in self.raises[name]), *inferred)
            signature.kind = "pure" if name in pure else signature.kind
            signature.idle = name in idle
            effects = Effects(signature.raises, signature.kind == "pure")
            body.module.effects[id(node)] = effects
            if node.raises:
                self._missing(signature, node, inferred)
            if body.module.main:
                self._surplus(node, signature)
                self._handlers(body)

    def check_tests(self) -> None:
        """Handlers in tests."""
        for node in self.module.tree.declarations:
            if isinstance(node, ast.TestDeclaration):
                body = _Body(self.module)
                body.read(node.body)
                self._handlers(body)

    def _raises(self, callers: dict[str, list[str]]) -> None:
        """The least fixed point: a function is looked at again when one that it calls raises more."""
        self.raises = {name: {} for name in self.bodies}
        waiting, due = deque(self.bodies), set(self.bodies)
        while waiting:
            name = waiting.popleft()
            due.remove(name)
            known = self.raises[name]
            before = len(known)
            for event in self.bodies[name].events:
                for error in event.leaving(self._of):
                    known.setdefault(error, event.span)
            if len(known) > before:
                for caller in callers.get(name, ()):
                    if caller not in due:
                        due.add(caller)
                        waiting.append(caller)

    def _of(self, name: str) -> Iterator[str]:
        """Of a function of Python, what its header lists; of one of another module, what was inferred."""
        if name in self.raises:
            return iter(tuple(self.raises[name]))
        return (error for error in self.program.signatures[name].raises if error not in ERRORS)

    def _pure(self, callers: dict[str, list[str]]) -> set[str]:
        """The greatest fixed point: functions without text, holes and budgets that call no others."""
        signatures = self.program.signatures
        pure = {name for name, each in signatures.items() if each.kind == "pure"}
        for name, body in self.bodies.items():
            node = signatures[name].declaration
            if signatures[name].kind == "fn" and isinstance(node, ast.FunctionDeclaration) and not body.asks:
                if node.within is None and node.using is None:
                    pure.add(name)
        known = [name for name in (*self.bodies, *callers) if name in signatures]
        waiting = deque(name for name in dict.fromkeys(known) if name not in pure)
        while waiting:
            for caller in callers.get(waiting.popleft(), ()):
                if caller in pure and signatures[caller].kind != "pure":
                    pure.remove(caller)
                    waiting.append(caller)
        return pure

    def _idle(self, pure: set[str], callers: dict[str, list[str]]) -> set[str]:
        """The greatest fixed point: pure functions in which nothing fails on purpose, and their like."""
        signatures = self.program.signatures
        idle = {name for name, body in self.bodies.items() if name in pure and not body.fails}
        others = (name for name, each in signatures.items() if name not in self.bodies and not each.idle)
        waiting = deque([*(name for name in self.bodies if name not in idle), *others])
        while waiting:
            for caller in callers.get(waiting.popleft(), ()):
                if caller in idle:
                    idle.remove(caller)
                    waiting.append(caller)
        return idle

    def _missing(self, signature: Signature, node: ast.FunctionDeclaration, errors: Sequence[str]) -> None:
        """A header that lists errors lists all that leave the function."""
        short = [error.rsplit(".", 1)[-1] for error in errors]
        names = ", ".join([*(name.text for name in node.raises), *short])
        last = node.raises[-1].span
        for error, label in zip(errors, short, strict=True):
            self.program.report(
                "E0418",
                f"`{node.name.text}` does not say that it raises `{label}`",
                node.name.span,
                label=f"`{label}` can leave this function",
                reason="a header that lists errors lists all; without `raises` they are inferred",
                secondary=(Label(self.raises[signature.name][error], "raised here"),),
                hint=f"write `raises {names}` in its header, or catch it",
                edits=(Edit(Span(last.source, last.end, last.end), f", {', '.join(short)}"),),
            )

    def _surplus(self, node: ast.FunctionDeclaration, signature: Signature) -> None:
        for error in node.raises:
            entity = signature.module.names.get(error.text)
            if entity is not None and entity.kind == "error" and entity.name not in signature.raises:
                self.program.report(
                    "W0208",
                    f"`{node.name.text}` never raises `{error.text}`",
                    error.span,
                    label="never raised",
                    hint="remove it from the header",
                )

    def _handlers(self, body: _Body) -> None:
        for handled in body.handled:
            if not any(handled.error in event.leaving(self._of) for event in handled.events):
                self.program.report(
                    "W0208",
                    f"nothing here raises `{handled.name.text}`",
                    handled.name.span,
                    label="never caught",
                )
