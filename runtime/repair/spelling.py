"""How models spell values that no mask guides."""

from __future__ import annotations

from sglc.schema.core.options import SchemaOptions

FREE = SchemaOptions(order="any", spacing="flexible", spelling="any")
"""JSON in any order, spacing and spelling: each model writes it in its own way, all of them right. What is
not allowed of them would be a correction."""
