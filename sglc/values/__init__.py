"""What operations on values mean, and how values look as text: one semantics for compiler and machine."""
