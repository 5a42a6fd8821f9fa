"""Lexemes as automata over bytes, made state by state when a walk gets there."""
