"""The standard library of SGL, written in SGL, as package data."""
