"""Holes and forks: what is asked of the model."""

from __future__ import annotations

import pprint
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from sglc.automata.regex.portable import for_python, looks_back_freely, portable_regex
from sglc.check.core.result import ConstantSymbol, DefaultArgument, HoleFacts, LocalSymbol
from sglc.syntax.tree import ast
from sglc.targets.core.type_parts import form_lost
from sglc.targets.projection.hole_forms import finite_values, is_raw, pattern_of, schema_of
from sglc.targets.python.context import Context, HoleNode, Text
from sglc.targets.python.expressions import Expressions
from sglc.types import condition as k
from sglc.types.dependent import given_types, given_values
from sglc.types.json_text import json_text
from sglc.types.type import Applied, form_of, without_form

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData

_SAMPLING = {"temp": "temperature", "top_p": "top_p", "top_k": "top_k", "min_p": "min_p", "seed": "seed"}


class Holes:
    """Writes what a model answers in one function; `block` writes the body of a fork."""

    def __init__(
        self, context: Context, expressions: Expressions, block: Callable[[tuple[ast.Statement, ...]], None]
    ) -> None:
        self.context = context
        self.program = context.program
        self.checked = context.checked
        self.expressions = expressions
        self.block = block
        self.within: int | None = None

    def text(self, node: HoleNode | ast.Fork) -> Text:
        """A hole or a fork, as an expression."""
        return self.fork(node) if isinstance(node, ast.Fork) else self.value(node)

    def value(self, node: HoleNode) -> Text:
        """What fills a hole."""
        facts = self.checked.holes[id(node)]
        name = f"{self.context.name}.{facts.name}"
        if facts.models is not None:
            self.program.lose(f"`using {facts.models.shown()}`", f"hole {name}", "the model of the caller")
        count = next((option.value for option in node.options if option.kind == "n"), None)
        settings = self.settings(node) + self.conditions(facts)
        if facts.decoding is not None and facts.decoding.strategy != "local":
            self.program.lose(f"`decode {facts.decoding}`", f"hole {name}", "what the server draws")
        if (point := self.context.points.get(id(node))) is not None:
            settings.append(f"point={point}")
        receiver = "c"
        if isinstance(node, ast.Gen) or (facts.type is not None and not isinstance(node, ast.Select)):
            code = f"fill({', '.join((self.hole(name, facts), *settings))})"
        else:
            if isinstance(node, ast.Select):
                instead = "an answer with all probability"
                self.program.lose("the scores of options", f"hole {name}", instead)
                settings = [each for each in settings if each.startswith("point=")]
            how = "select" if isinstance(node, ast.Select) else "choose"
            asked = f"Hole({json_text(name)}, Str(), stop={facts.stops!r})"
            code = f"{how}({', '.join((asked, self.options(node, facts), *settings))})"
        if count is not None:
            inner = self.context.names.fresh("c")
            again = "" if point is None else f", {point}"
            code = f"samples({self.expressions.code(count)}, lambda {inner}: {inner}.{code}{again})"
        code = f"{receiver}.{code}"
        return Text(f"c.keep({json_text(facts.name)}, {code})" if self.context.branch else code)

    def hole(self, name: str, facts: HoleFacts) -> str:
        """The object that says what is asked: a constant of the module, where it is the same in every run."""
        assert facts.type is not None
        table = self.program.table
        formed = form_of(facts.type, table)
        if formed is not None and (lost := form_lost(formed)) is not None:
            self.program.lose(lost[0], f"hole {name}", lost[1])
        type = without_form(facts.type, table)
        given = lambda number: self.given(facts, number)  # noqa: E731
        stops = f", stop={facts.stops!r}" if facts.stops and is_raw(type, table) else ""
        if any(isinstance(part, Applied) for part in given_types(type)):
            self.program.lose("the values of a type with parameters", f"hole {name}", "any of its values")
        if given_values(type):
            return f"Hole({json_text(name)}, {self.program.types.shown(type, given)}{stops})"
        form = ""
        if is_raw(type, table):
            pattern = pattern_of(type, table)
            form = "" if pattern is None else f",\n    regex={for_python(pattern)!r}"
        else:
            shown = pprint.pformat(_plain(schema_of(type, table)), width=100, sort_dicts=False).replace(
                "\n", "\n    "
            )
            form = f",\n    schema={shown}"
        here = self.program.names.fresh(name.upper().replace(".", "_"))
        kind = self.program.types.shown(type)
        self.program.holes.append(f"{here} = Hole({json_text(name)}, {kind}{form}{stops})\n")
        return here

    def given(self, facts: HoleFacts, number: int) -> str:
        """The expression of a value that the type or the condition of a hole is given."""
        found = facts.given[number]
        if isinstance(found, DefaultArgument):
            return self.program.types.literal(found.value)
        return self.expressions.code(found)

    def options(self, node: ast.Choose | ast.Select, facts: HoleFacts) -> str:
        """The options of a choice as a list."""
        if facts.type is not None:
            return self.program.types.literal(list(finite_values(facts.type, self.program.table)))
        symbol = self.checked.symbols.get(id(node.choices))
        if isinstance(node.choices, ast.TypeName) and isinstance(symbol, LocalSymbol | ConstantSymbol):
            return self.expressions.code(symbol)
        return self.expressions.code(node.choices)  # type: ignore[arg-type]

    def settings(self, node: HoleNode) -> list[str]:
        """The options that a request has."""
        found, most = [], [] if self.within is None else [str(self.within)]
        for option in node.options:
            unsaid = ("until", "where", "decode", "using", "by", "weight", "at_least")
            code = "" if option.kind in unsaid else self.expressions.code(option.value)
            if option.kind in _SAMPLING:
                found.append(f"{_SAMPLING[option.kind]}={code}")
            elif option.kind == "max_tokens":
                most.append(code)
        if most:
            found.insert(0, f"max_tokens={most[0] if len(most) == 1 else f'min({most[0]}, {most[1]})'}")
        return found

    # -- conditions ------------------------------------------------------------------------------------

    def conditions(self, facts: HoleFacts) -> list[str]:
        """What an answer is checked for beside its type."""
        found = []
        slot = facts.slot or "it"
        known = self.context.slots.get(slot)
        name = "it"
        parts = [] if facts.condition is None else [self.condition(facts.condition, name, facts)]
        if facts.where:
            self.context.slots[slot] = Text(name)
            parts += (self.expressions.condition(each.condition) for each in facts.where)
            del self.context.slots[slot]
            if known is not None:
                self.context.slots[slot] = known
        if parts:
            found.append(f"where=lambda {name}: {' and '.join(parts)}")
        judged = []
        for validator in facts.validators:
            call = self.expressions.call(validator.function, validator.arguments, "text, ", 1)
            judged.append(f'same({call.code}, "final")')
        if judged:
            found.append(f"judged=lambda text: {' and '.join(judged)}")
        return found

    def condition(self, condition: k.Condition, name: str, facts: HoleFacts) -> str:
        """A condition that the mask of the hole would keep."""

        def operand(each: k.Operand) -> str:
            if isinstance(each, k.Given):
                return self.given(facts, each.number)
            return self.program.types.literal(each.value)

        def about(subject: k.Subject) -> str:
            code = name
            for part in subject.path:
                code = f"attribute({code}, {json_text(part)})"
            return f"len({code})" if subject.length else code

        match condition:
            case k.Not(part):
                return f"(not {self.condition(part, name, facts)})"
            case k.All(parts):
                return f"({' and '.join(self.condition(part, name, facts) for part in parts)})"
            case k.Either(parts):
                return f"({' or '.join(self.condition(part, name, facts) for part in parts)})"
            case k.Flag(value):
                return f"truth({operand(value)})"
            case k.Compared(subject, "==", bound):
                return f"same({about(subject)}, {operand(bound)})"
            case k.Compared(subject, "!=", bound):
                return f"(not same({about(subject)}, {operand(bound)}))"
            case k.Compared(subject, operator, bound):
                return f"compare({json_text(operator)}, {about(subject)}, {operand(bound)})"
            case k.Divided(subject, step, rest):
                return f'same(calculate("%", {about(subject)}, {operand(step)}), {operand(rest)})'
            case k.Among(subject, values):
                return f"contains(items({operand(values)}), {about(subject)})"
            case k.TextAt(subject, place, text):
                how = {"start": "starts_with", "end": "ends_with", "inside": "contains"}[place]
                return f"truth(method({about(subject)}, {json_text(how)}, {operand(text)}))"
            case k.Matches(subject, pattern):
                if looks_back_freely(pattern):
                    self.context.lose("a pattern that Python cannot read")
                    return "False"
                return f"matches({about(subject)}, {for_python(portable_regex(pattern))!r})"

    # -- forks -----------------------------------------------------------------------------------------

    def fork(self, node: ast.Fork) -> Text:
        """A fork, whose body becomes a function in front of the statement."""
        context = self.context
        values, kind = self.expressions.iterated(node.iterable)
        body = context.names.fresh("branch")
        variable = context.variable(self.checked.slot_of(node), kind)
        context.add(f"def {body}(c: Conversation, {variable}: {kind or 'Any'}) -> Any:")
        loops, context.loops = context.loops, []
        context.branch += 1
        with context.inside():
            for option in node.options:
                if option.kind == "seed":
                    context.add(f"c.seed = {self.expressions.code(option.value)}")
            self.block(node.body)
        context.branch -= 1
        context.loops = loops
        context.add("")
        skip = ", skip=True" if node.skip else ""
        return Text(f"c.fork({values}, {body}{skip})")


def _plain(data: JsonData) -> JsonData:
    """A schema with the numbers that Python's JSON has."""
    if isinstance(data, dict):
        return {key: _plain(part) for key, part in data.items()}
    if isinstance(data, list):
        return [_plain(part) for part in data]
    if data is None or isinstance(data, str | bool | int | float):
        return data
    assert isinstance(data, Decimal)
    return int(data) if data == int(data) else float(data)
