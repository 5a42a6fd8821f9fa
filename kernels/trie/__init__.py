"""Walks of the token trie."""
