"""A program as one Python module that asks any model by a function of its caller."""
