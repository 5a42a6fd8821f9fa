"""Recorded runs that tests hold a program against: golden files, and traces that are run again."""
