"""Declarations of TypeScript as types."""
