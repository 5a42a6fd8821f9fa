"""Optimisation passes over the intermediate representation."""
