"""Faults that `hostile.planted_faults` plants, by the side of the bytecode that they are on."""
