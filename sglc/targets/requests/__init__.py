"""The messages and holes of functions, as lists that are known before the run."""
