"""Advice on checked programs that takes the intermediate representation to see: W0220, W0227."""
