"""What a run is made of: values, frames, seeds, events."""
