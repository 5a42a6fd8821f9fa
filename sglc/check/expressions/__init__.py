"""Types and constant values of expressions."""
