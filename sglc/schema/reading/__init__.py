"""From JSON to the graph: dialects, references, keywords."""
