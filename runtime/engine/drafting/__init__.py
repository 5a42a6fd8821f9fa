"""Tokens that are likely to come next, for speculative decoding."""
