"""What the rooms of the Python front end share: source text with places, findings, what a function sees."""
