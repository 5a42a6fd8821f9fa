"""Patterns of `match`: what they mean, what they bind, and whether all cases are there."""
