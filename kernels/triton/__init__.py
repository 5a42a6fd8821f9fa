"""Mask kernels on the accelerator, in Triton, and their torch reference; imported by those who want them."""
