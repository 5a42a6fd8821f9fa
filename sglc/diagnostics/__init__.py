"""Diagnostics as values, their catalogue and their rendering."""
