"""The protocols of models elsewhere, a file for each: how they are asked and how their answers are read."""
