"""How `sglc run` runs: arguments, rows, what it tells meanwhile."""
