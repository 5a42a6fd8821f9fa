"""The names of a module and of a function: what they are declared as and where they are in sight."""
