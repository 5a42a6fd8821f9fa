"""Deterministic automata: construction, product, minimisation, serialised form."""
