"""From a term to the parts of a constraint."""
