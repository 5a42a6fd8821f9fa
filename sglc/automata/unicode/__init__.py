"""Character properties of Unicode."""
