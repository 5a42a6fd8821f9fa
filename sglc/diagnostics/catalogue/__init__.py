"""What every diagnostic code means, by subject."""
