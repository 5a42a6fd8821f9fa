"""Holes as other engines can be asked for them, and what is lost on the way."""
