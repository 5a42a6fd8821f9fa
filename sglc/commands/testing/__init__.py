"""How `sglc test` chooses tests and tells how they came out."""
