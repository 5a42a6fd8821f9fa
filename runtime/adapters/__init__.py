"""Adapters: the mask engine inside other engines, by a bitmask or as a logits processor."""
