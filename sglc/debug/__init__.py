"""Debugging programs: expressions at a stop, and what a prompt and a terminal show of the stop engine."""
