"""Who fills holes and scores texts: what programs ask, and the local model that answers."""
