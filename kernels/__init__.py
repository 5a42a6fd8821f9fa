"""Mask kernels: a normative numpy reference and its compiled counterparts."""
