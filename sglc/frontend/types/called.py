"""Functions of Python that a program calls: each is declared as `extern py`, and called as it is."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from decimal import Decimal

from sglc.callables.extern_spec import is_target
from sglc.frontend.core.source import NoSource, function_node
from sglc.frontend.core.written import Promises, promises_of
from sglc.frontend.types.annotations import Annotations
from sglc.frontend.types.classes import hints_of
from sglc.frontend.types.constraints import NoType
from sglc.frontend.types.declared import Declared
from sglc.source import Span
from sglc.syntax.tree import ast

_STARS = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


class CalledFunctions:
    """The functions of Python of one program, each declared once."""

    def __init__(self, declared: Declared, annotations: Annotations) -> None:
        self._declared = declared
        self._annotations = annotations
        self.declarations: list[ast.ExternDeclaration] = []
        self.functions: dict[str, Callable[..., object]] = {}
        """By their targets, `module:function`."""
        self.hints: dict[str, dict[str, object]] = {}
        """Annotations of their parameters, by their targets."""

    def named(self, function: Callable[..., object], span: Span) -> str:
        """The name that a function is declared by; `span` is where it is called. Raises NoType where its
        annotations do not say what passes."""
        known = self._declared.name_of(function)
        if known is not None:
            return known
        place = _place(function, span)
        hints = hints_of(function, self._declared.around)
        parameters = tuple(
            self._parameter(each, hints, place) for each in inspect.signature(function).parameters.values()
        )
        if "return" not in hints:
            raise NoType(
                "its result has no annotation", "write `-> …` behind its parameters, `-> None` for none"
            )
        gives = hints.pop("return")
        result = None if gives in (None, type(None)) else self._annotations.of(gives, place)
        promises = promises_of(function)
        target = self._target(function)
        name = self._declared.enter(function, function.__name__)
        self.functions[target], self.hints[target] = function, hints
        self.declarations.append(
            ast.ExternDeclaration(
                target,
                place,
                ast.Name(name, place),
                parameters,
                result,
                promises.effects,
                None if promises.key is None else ast.Name(promises.key, place),
                _limit(promises, place),
                tuple(self._error(each, place) for each in promises.raises),
                False,
                inspect.cleandoc(function.__doc__ or ""),
                place,
            )
        )
        return name

    def _parameter(self, one: inspect.Parameter, hints: dict[str, object], span: Span) -> ast.Parameter:
        if one.kind in _STARS or one.kind is inspect.Parameter.KEYWORD_ONLY:
            raise NoType(
                f"its parameter `{one.name}` is not passed in order",
                "write a function around it whose parameters are passed in order",
            )
        if one.name not in hints:
            raise NoType(f"its parameter `{one.name}` has no annotation", f"write `{one.name}: …`")
        type = self._annotations.of(hints[one.name], span)
        value = None
        if one.default is not inspect.Parameter.empty:
            self._declared.declare_classes(one.default, self._annotations, span)
            value = self._declared.expression(one.default, span)
        return ast.Parameter(ast.Name(one.name, span), False, type, value, span)

    def _error(self, error: type, span: Span) -> ast.Name:
        return ast.Name(self._declared.error(error, self._annotations, span), span)

    def _target(self, function: Callable[..., object]) -> str:
        """`module:function`, changed where it is no such name or another function has it."""
        wanted = f"{function.__module__}:{function.__name__.lstrip('_')}"
        if not is_target(wanted):
            wanted = "program:function"
        target, count = wanted, 2
        while target in self.functions:
            target, count = f"{wanted}_{count}", count + 1
        return target


def is_own(target: str, function: Callable[..., object]) -> bool:
    """Whether an import of the target, in another process too, gives the function."""
    module, _, name = target.partition(":")
    return module != "__main__" and getattr(sys.modules.get(module), name, None) is function


def _place(function: object, otherwise: Span) -> Span:
    """The first line of a function; where it has no source, the place of its call."""
    try:
        file, node = function_node(function)
    except NoSource:
        return otherwise
    return file.header(node)


def _limit(promises: Promises, span: Span) -> tuple[ast.Number, ast.Name] | None:
    if promises.timeout is None:
        return None
    return ast.Number(Decimal(repr(promises.timeout)), span), ast.Name("s", span)
