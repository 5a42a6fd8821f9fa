"""Analyses of the intermediate representation: a module in, a table out, nothing rewritten."""
