"""What the rooms of JSON Schema share: the graph, errors, options."""
