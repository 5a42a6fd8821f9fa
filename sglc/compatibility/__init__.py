"""Whether a program can take the place of an earlier one: what its functions take, give and raise."""
