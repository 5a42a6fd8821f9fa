"""The metaschemas of the standard, for references to them: which values each keyword of a draft may have.

They are kept in `metaschemas.json`, by their URIs. Drafts 2019-09 and 2020-12 are one schema for each
vocabulary and one that joins them, bound together by their recursive (dynamic) references. What the standard
says of one value in several ways is written out where it is used; titles and defaults are left out.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sglc.automata.json.data import JsonObject

FILE = Path(__file__).with_name("metaschemas.json")


def metaschema(uri: str) -> JsonObject | None:
    """The schema that describes a dialect, or one of its vocabularies; None if the URI is none of theirs."""
    return _table().get(uri)


@cache
def _table() -> dict[str, JsonObject]:
    table: dict[str, JsonObject] = json.loads(FILE.read_text(encoding="ascii"))
    return table
