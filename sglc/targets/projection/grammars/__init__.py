"""Languages of holes as grammars of characters."""
