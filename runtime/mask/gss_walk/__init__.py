"""Tables for the compiled walk of grammars, and its calls."""
