"""Nodes of the syntax tree, by what they stand for. `sglc.syntax.ast` has them all under one name."""
