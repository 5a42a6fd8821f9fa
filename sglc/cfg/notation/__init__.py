"""Notations of grammars, read and printed: Lark, EBNF, BNF, GBNF."""
