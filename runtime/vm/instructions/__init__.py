"""What each instruction of the bytecode does."""
