"""What is known of a hole before it is filled: its texts, bounds, samples, and what stands in hovers."""
