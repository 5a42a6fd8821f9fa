"""From source text to a typed syntax tree with spans."""
