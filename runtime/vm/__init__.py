"""The bytecode virtual machine."""
