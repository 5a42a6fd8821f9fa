"""Constraints expanded ahead of time, as files."""
