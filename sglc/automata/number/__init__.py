"""Sets of numbers as automata over their digits."""
