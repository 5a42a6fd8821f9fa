"""Terminals as automata: longest match, and what happens where two match."""
