"""Kernels generated and compiled through llvmlite."""
