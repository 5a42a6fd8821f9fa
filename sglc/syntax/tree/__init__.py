"""Nodes of the syntax tree, by what they stand for. `sglc.syntax.tree.ast` has them all under one name."""
