"""Parsed JSON as Python data, for annotations."""

from __future__ import annotations

from decimal import Decimal

JsonData = bool | int | float | Decimal | str | None | list["JsonData"] | dict[str, "JsonData"]
"""What a JSON parser gives; numbers with a point or an exponent are decimals where they have to be exact."""

JsonObject = dict[str, JsonData]
"""A parsed JSON object: keys in the order of the text."""
