"""The memory of keys and values: blocks, the tree of prefixes, eviction, the tier on disk."""
