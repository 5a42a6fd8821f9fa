"""What importers of types share: declarations, comments, faults."""
