"""Classes of immutable data that are cheap to define and to make, for trees and operations.

    @value                          @node
    class Load:                     class TypeName:
        result: Temp                    name: str
        slot: Slot                      span: Span

Type checkers take both for frozen dataclasses and refuse assignments to their fields. At run time they are
dataclasses with slots that nothing guards: a frozen dataclass takes twice as long to define, which a short
run of the compiler feels, and sets each field by a call when an instance is made.

`dataclass` writes the text of each method of each class and has it compiled, which takes most of the time of
a definition. Methods of classes with equally many fields differ in names alone. So each is compiled once for
a number of fields, and is that code under other names elsewhere.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, fields
from functools import cache
from reprlib import recursive_repr
from types import CodeType, FunctionType
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class")


@dataclass_transform(frozen_default=True)
def value(cls: type[Class]) -> type[Class]:
    """An immutable dataclass; instances are equal, and hash alike, where their fields do."""
    made: Any = node(cls)
    compared = [each for each in fields(made) if each.compare]
    hashed = [each for each in compared if each.hash is not False]
    for name, parts in (("__eq__", compared), ("__hash__", hashed)):
        if vars(cls).get(name) is None:
            setattr(made, name, _method(made, name, [each.name for each in parts]))
    return made


@dataclass_transform(frozen_default=True, eq_default=False)
def node(cls: type[Class]) -> type[Class]:
    """An immutable dataclass; an instance is equal to itself alone."""
    if "__repr__" not in vars(cls):
        cls.__repr__ = _text_of  # type: ignore[method-assign]
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # else the signature, which takes longer to find than all the rest
    plain = not hasattr(cls, "__post_init__") and all(map(_is_plain, vars(cls).values()))
    made: Any = dataclass(slots=True, init=not plain, eq=False, repr=False)(cls)
    if plain:
        parts = fields(made)
        made.__init__ = _method(made, "__init__", [each.name for each in parts])
        made.__init__.__defaults__ = tuple(each.default for each in parts if each.default is not MISSING)
    return made


def _is_plain(default: object) -> bool:
    """Whether a field with this default is set to what an instance is made with, or to the default."""
    return not isinstance(default, Field) or (default.init and default.default_factory is MISSING)


_METHODS = {
    "__init__": ("def __init__(self{}): pass; {}", ", {}", "self.{0} = {0};"),
    "__hash__": ("def __hash__(self): return hash(({}))", "self.{},"),
    "__eq__": (
        "def __eq__(self, other):\n"
        "    if other.__class__ is not self.__class__: return NotImplemented\n"
        "    return ({}) == ({})",
        "self.{},",
        "other.{},",
    ),
}
"""Methods by name: the text, and what stands in each of its gaps for one field."""


def _method(cls: type[Any], name: str, parts: list[str]) -> FunctionType:
    """A method of a class, over the fields of these names."""
    code, placeholders = _code(name, len(parts))
    own = dict(zip(placeholders, parts, strict=True))
    named = code.replace(
        co_names=tuple(own.get(each, each) for each in code.co_names),
        co_varnames=tuple(own.get(each, each) for each in code.co_varnames),
        co_qualname=f"{cls.__qualname__}.{name}",
    )
    return FunctionType(named, globals(), name)


@cache
def _code(name: str, count: int) -> tuple[CodeType, tuple[str, ...]]:
    """The code of a method over so many fields, and the placeholders for their names in it."""
    placeholders = tuple(f"field{number}" for number in range(count))
    text, *gaps = _METHODS[name]
    filled = ("".join(gap.format(each) for each in placeholders) for gap in gaps)
    module = compile(text.format(*filled), f"<{name} of {count} fields>", "exec")
    (code,) = (each for each in module.co_consts if isinstance(each, CodeType))
    return code, placeholders


@recursive_repr()
def _text_of(one: Any) -> str:
    shown = [f"{each.name}={getattr(one, each.name)!r}" for each in fields(one) if each.repr]
    return f"{type(one).__qualname__}({', '.join(shown)})"
