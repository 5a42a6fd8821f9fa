"""Holes as grammars and patterns of other notations."""
