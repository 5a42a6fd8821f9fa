"""Questions about terms: emptiness, ambiguity, membership, shortest words."""
