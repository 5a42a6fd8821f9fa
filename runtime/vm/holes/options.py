"""What a hole is given besides its type: options to choose from, bounds, how to sample."""

from __future__ import annotations

from decimal import Decimal

from sglc.bytecode.code import HoleSpec
from sglc.runtime.decoding.blend import BlendRule
from sglc.runtime.engine.sampling.options import Sampling
from sglc.runtime.errors import SglError
from sglc.runtime.vm.state.values import as_value, failure
from sglc.types.decoding import FEW_TEXTS
from sglc.types.model_use import Rule
from sglc.types.type import (
    AliasType,
    Alternatives,
    Bool,
    Constant,
    EnumType,
    InForm,
    Int,
    Named,
    Null,
    Optional,
    Type,
    TypeTable,
)
from sglc.types.values import EnumValue, Value
from sglc.values.kinds import kind

OPTIONS_LIMIT = 100_000
"""Most options of one choice."""
SCORED_LIMIT = FEW_TEXTS
"""Most options that `select` and `choose` score."""


def finite_values(type: Type, table: TypeTable) -> list[object]:
    """All values of a finite type, in order of declaration."""
    match type:
        case Bool():
            return [True, False]
        case Null():
            return [None]
        case Constant(value=value):
            return [value]
        case Int(minimum=int(low), maximum=int(high), multiple_of=step) if high - low <= SCORED_LIMIT:
            return [n for n in range(low, high + 1) if not step or n % step == 0]
        case InForm(item=item):
            return finite_values(item, table)
        case Optional(item=item):
            return [*finite_values(item, table), None]
        case Alternatives(arms=arms):
            return [value for arm in arms for value in finite_values(arm, table)]
        case Named(name=name):
            declared = table.get(name)
            if isinstance(declared, EnumType):
                return [EnumValue(name, member) for member in declared.members]
            if isinstance(declared, AliasType):
                return finite_values(declared.type, table)
    raise failure("the options of a `select` are finitely many")


class Options:
    """The values of a hole's options, by name."""

    def __init__(self, spec: HoleSpec, values: list[object]) -> None:
        self._values = dict(zip(spec.options, values, strict=True))

    def given(self) -> list[Value]:
        """The values that the hole's type and condition depend on, by number."""
        return [as_value(value) for name, value in self._values.items() if name.startswith("given")]

    def asked(self) -> list[object]:
        """Arguments of the hole's validators."""
        return [value for name, value in self._values.items() if name.startswith("asked")]

    def candidates(self, table: TypeTable) -> list[object] | None:
        """The options to choose from; None where the type tells them.

        Raises Failure for what is no list, or has more than OPTIONS_LIMIT, and Unsatisfiable for none.
        """
        found = self._values.get("options")
        if found is None:
            return None
        if not isinstance(found, list | tuple | range | dict):
            raise failure(f"the options of a choice are a list, not {kind(found)}")
        if not found:
            raise SglError("Unsatisfiable", "there are no options to choose from")
        if len(found) > OPTIONS_LIMIT:
            raise failure(f"a choice has at most {OPTIONS_LIMIT} options")
        return list(found)

    def whole(self, name: str) -> int | None:
        """An option that is an integer, such as `max_tokens`; None where it is not given. Raises Failure."""
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            raise failure(f"option `{name}` is an integer")
        return value

    def number(self, name: str) -> float | None:
        """An option that is a number, such as `temp`; None where it is not given. Raises Failure."""
        value = self._values.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise failure(f"option `{name}` is a number")
        try:
            return float(value)
        except (OverflowError, ValueError):
            raise failure(f"option `{name}` is too large") from None

    def blend(self, rule: Rule) -> BlendRule:
        """How two models share each token. Raises Failure."""
        try:
            return BlendRule(rule, self.number("weight"), self.number("at_least") or 0.0)
        except ValueError as fault:
            raise failure(str(fault)) from None

    def sampling(self) -> Sampling:
        """How tokens are drawn. Without a temperature it is 0, which is greedy. Raises Failure."""
        temperature = self.number("temp") or 0.0
        try:
            return Sampling(
                temperature=temperature,
                top_k=self.whole("top_k"),
                top_p=self.number("top_p"),
                min_p=self.number("min_p"),
            )
        except ValueError as fault:
            raise failure(str(fault)) from None
