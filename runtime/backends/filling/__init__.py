"""Models elsewhere as fillers: how a hole is asked, how its answer is read, and what is checked of it."""
