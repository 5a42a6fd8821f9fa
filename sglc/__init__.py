"""Fixed entry point package of SGL: compiler, virtual machine and runtime."""

__version__ = "0.1.0"
