"""Branches of tokens over a model: append, fork, roll back, sample."""
