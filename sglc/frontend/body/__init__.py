"""From the statements and expressions of a Python function to those of the language."""
