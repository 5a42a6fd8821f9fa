"""What runs have told, kept for their readers: in order, and within bounds for all runs together."""
