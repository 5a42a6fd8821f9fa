"""Help while a line is written: completion, signatures, and what is in sight at an offset."""
