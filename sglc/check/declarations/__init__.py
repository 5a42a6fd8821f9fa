"""Declarations of a module: its names, its types, its errors and its functions."""
