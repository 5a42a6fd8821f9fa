"""How `sglc view` makes the page of recorded runs."""
