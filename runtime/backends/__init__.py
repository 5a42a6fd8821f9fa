"""Models elsewhere: what is asked of them, by which protocol, and what happens when they fail."""
