"""The parts of a constraint, a module for each kind."""
