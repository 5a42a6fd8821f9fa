"""The kernel language: plain functions with typed arguments, and its vector type."""
