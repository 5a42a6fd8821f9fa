"""Statements: text, variables, control flow, patterns and tests."""
