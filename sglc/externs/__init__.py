"""Functions of Python that programs call: which modules may be imported, from where, and how values pass."""
