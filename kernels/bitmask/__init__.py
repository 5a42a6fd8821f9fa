"""Set operations, batches and sampling over packed mask rows, with their references."""
