"""A program as protocol buffers: one description for text and descriptors, and numbers that last."""
