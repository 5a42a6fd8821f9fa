"""Executors: pieces of many sequences in, logits out, over keys and values kept in blocks."""
