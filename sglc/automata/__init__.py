"""Descriptions of byte languages: character automata and terms over them."""
