"""Compiles a JSON Schema to the language of its texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sglc.automata.dfa.operations import TooLarge
from sglc.automata.number.number_set import NumberError
from sglc.automata.term import Language
from sglc.schema.algebra.algebra import Algebra
from sglc.schema.algebra.forms import NotRegular
from sglc.schema.core.errors import SchemaTooLarge
from sglc.schema.core.options import SchemaOptions
from sglc.schema.emit.layout import keys_unsupported
from sglc.schema.emit.terms import Lowering
from sglc.schema.reading.parse import read_schema

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonData

_DEFAULT = SchemaOptions()


def compile_schema(schema: JsonData, options: SchemaOptions = _DEFAULT) -> Language:
    """The JSON texts, in the spelling of the options, whose value satisfies a parsed schema: exactly those.

    Raises SchemaError (malformed, or a reference that leads nowhere), UnsupportedSchema (a keyword whose
    meaning cannot be kept), Unsatisfiable (no value at all), SchemaTooLarge (beyond the limits); all are
    SchemaFaults with a path.
    """
    try:
        graph, root = read_schema(schema, options)
        algebra = Algebra(graph, options.limits)
        try:
            return Lowering(algebra, options).language(algebra.literals.of(root))
        except NotRegular as fault:
            raise keys_unsupported(algebra, fault.keys) from None
    except (TooLarge, NumberError) as fault:
        raise SchemaTooLarge(str(fault), "#") from None
    except RecursionError:
        raise SchemaTooLarge("the schema is nested too deep", "#") from None
