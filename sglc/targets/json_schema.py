"""The declared types of a program as one JSON Schema 2020-12: a definition each, `##` as description.

record Crew:  ## One member.          {"$schema": "…/2020-12/schema",
    name: str max 20 chars      →      "$defs": {"Crew": {"description": "One member.", …}}}
"""

from __future__ import annotations

from sglc.targets.core.target import Subject, Written
from sglc.targets.core.type_parts import losses_of, with_parameters
from sglc.types.notation.json_schema import definitions, unsaid
from sglc.types.text.plain_json import write_json
from sglc.types.type import TypeTable


def write(subject: Subject) -> Written:
    """A schema with all declared types in `$defs`, in the order of the program."""
    return with_parameters(write_types(subject.checked.table), subject.checked.opened)


def write_types(table: TypeTable) -> Written:
    """The same of a table of types."""
    schema = definitions(tuple(table), table)
    return Written(write_json(schema, indent=2) + "\n", losses_of(table, unsaid))
