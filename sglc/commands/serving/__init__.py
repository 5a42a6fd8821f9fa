"""What `sglc serve` has of its own."""
