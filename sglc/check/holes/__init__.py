"""Holes: their types, their conditions, their options and where they end."""
