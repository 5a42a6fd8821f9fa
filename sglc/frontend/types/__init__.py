"""Annotations, classes and values of Python as types, declarations and expressions of the language."""
