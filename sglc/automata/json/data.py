"""Parsed JSON as Python data, for annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

JsonData = bool | int | float | Decimal | str | None | Sequence["JsonData"] | Mapping[str, "JsonData"]
"""What a JSON parser gives, lists and dicts among it; decimals stand for numbers that have to be exact."""

JsonObject = dict[str, JsonData]
"""A parsed JSON object: keys in the order of the text."""
