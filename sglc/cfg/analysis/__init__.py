"""Analyses of the graph that the lexer needs."""
