"""Regular expressions of several dialects, from text to automaton or term."""
