"""Targets: a program's types and holes, written in other languages and notations."""
