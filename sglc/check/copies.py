"""Copies of functions with type parameters: one for each list of types that they are called with.

A body is checked twice: once for all types, where a value of `T` can be compared, kept, passed on and written
as text, and once for each list of types, where its holes become those of real types. What the first check
refuses is told once; the second can only find what depends on the types, such as a hole without an end.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sglc.check.core.context import ModuleContext, ProgramState, Signature
from sglc.check.core.result import CheckedCopy
from sglc.check.names.type_parameters import opaque_name
from sglc.check.types.facts import TypeFacts
from sglc.check.types.kinds import show
from sglc.check.types.resolve import BUILTIN_TYPES
from sglc.check.wiring import Checkers, checkers_of
from sglc.diagnostics.diagnostic import Diagnostic, Label
from sglc.immutable import value
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.types.type import Named, RecordType, Type

MAX_COPIES = 100
"""So many lists of types one function may be called with: people write some ten, and a function that calls
itself with a type made of its own (`[T]`) would never have enough."""
MAX_TEXT = 1_000_000
"""The copies of a program have so many characters at most, twenty times those of the standard library: many
functions that copy each other grow with the product of their numbers."""
LONGEST_NAME = 80
"""A copy with a longer name has a number in place of its types."""


def for_all_types(
    module: ModuleContext, node: ast.FunctionDeclaration, name: str
) -> tuple[ModuleContext, tuple[str, ...]]:
    """The module as the body of a function sees it while it is checked for all types, and the qualified names
    of the function's type parameters."""
    given: dict[str, Type] = {}
    for parameter in node.type_parameters:
        label = parameter.text
        known = module.names.get(label)
        if label in given or known is not None or label in BUILTIN_TYPES:
            first = next((other.span for other in node.type_parameters if other.text == label), None)
            place = first if label in given else None if known is None else known.span
            module.report(
                "E0203" if label in given else "E0210",
                f"type parameter `{label}` is declared twice"
                if label in given
                else f"`{label}` is already {'declared' if known is not None else 'a built-in type'}",
                parameter.span,
                label="again" if label in given else "a second meaning",
                secondary=() if place is None else (Label(place, "first declared here"),),
                hint="choose another name",
            )
            if label in given:
                continue
        opaque = opaque_name(name, label)
        module.program.opaque.add(opaque)
        module.program.broken.add(opaque)
        module.program.table[opaque] = RecordType(opaque, ())
        given[label] = Named(opaque)
    return module.with_types(given), tuple(type.name for type in given.values() if isinstance(type, Named))


@value
class _Copy:
    """A copy that waits to be checked."""

    signature: Signature
    module: ModuleContext
    checkers: Checkers
    types: tuple[Type, ...]
    asked: Span


@dataclass(slots=True)
class Copies:
    """The copies of one program."""

    program: ProgramState
    facts: TypeFacts
    known: dict[tuple[str, tuple[Type, ...]], Signature] = field(default_factory=dict)
    made: dict[int, list[CheckedCopy]] = field(default_factory=dict)
    """By the identity of the declaration, as in `CheckedProgram`."""
    asked: int = 0
    """How often copies were asked for."""
    _counts: dict[str, int] = field(default_factory=dict)
    _text: int = 0
    _waiting: list[_Copy] = field(default_factory=list)

    def copy_of(self, generic: Signature, types: tuple[Type, ...], span: Span) -> Signature | None:
        """The copy for these types, first asked for at `span`; None, which is reported, beyond the limit."""
        self.asked += 1
        key = (generic.name, types)
        found = self.known.get(key)
        if found is not None:
            return found
        node = generic.declaration
        assert isinstance(node, ast.FunctionDeclaration)
        count = self._counts.get(generic.name, 0)
        length = node.span.end - node.span.start
        if count >= MAX_COPIES or self._text + length > MAX_TEXT:
            few = count < MAX_COPIES
            self.program.report(
                "E0432",
                f"`{node.name.text}` is called with too many types",
                span,
                label="one copy too many",
                reason=f"the copies of a program have at most {MAX_TEXT:,} characters"
                if few
                else f"a function is copied for each list of types, {MAX_COPIES} times at most",
                secondary=(Label(node.name.span, "declared here"),),
                hint="call it with fewer types; a function that calls itself with `[T]` never has enough",
            )
            return None
        self._counts[generic.name] = count + 1
        self._text += length
        given = dict(zip((name.text for name in node.type_parameters), types, strict=True))
        module = generic.module.with_types(given)
        checkers = checkers_of(module, self.facts)
        before = len(self.program.diagnostics)
        signature = checkers.signatures.signature(node, self._name(generic.name, types))
        signature.kind, signature.raises = generic.kind, generic.raises
        self.known[key] = self.program.signatures[signature.name] = signature
        copy = _Copy(signature, module, checkers, types, span)
        self._keep_new(copy, before)
        self._waiting.append(copy)
        return signature

    def check(self) -> None:
        """Check the bodies of all copies, also of those that these ask for."""
        while self._waiting:
            copy = self._waiting.pop(0)
            node = copy.signature.declaration
            assert isinstance(node, ast.FunctionDeclaration)
            before = len(self.program.diagnostics)
            copy.checkers.functions.check(copy.signature, node)
            self._keep_new(copy, before)
            self.made.setdefault(id(node), []).append(
                CheckedCopy(copy.signature.name, node, copy.module.checked())
            )

    def _keep_new(self, copy: _Copy, before: int) -> None:
        """Of what was found in a copy, keep the errors that are not known of its function."""
        every = self.program.diagnostics
        found = every[before:]
        del every[before:]
        if found:
            told = {(d.code, d.span) for d in every if d.severity == "error"}
            every += [
                _where(copy, each)
                for each in found
                if each.severity == "error" and (each.code, each.span) not in told
            ]

    def _name(self, generic: str, types: tuple[Type, ...]) -> str:
        name = f"{generic}[{', '.join(show(type) for type in types)}]"
        if len(name) <= LONGEST_NAME and name not in self.program.signatures:
            return name
        return f"{generic}[{self._counts[generic]}]"


def _where(copy: _Copy, found: Diagnostic) -> Diagnostic:
    """A finding with the call that it comes from."""
    node = copy.signature.declaration
    assert isinstance(node, ast.FunctionDeclaration)
    pairs = zip(node.type_parameters, copy.types, strict=True)
    types = ", ".join(f"`{name.text}` = `{_short(show(type))}`" for name, type in pairs)
    return replace(found, secondary=(*found.secondary, Label(copy.asked, f"called here with {types}")))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"
