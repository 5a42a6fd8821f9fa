"""What all rooms of the engine share: errors, options, counts, costs."""
