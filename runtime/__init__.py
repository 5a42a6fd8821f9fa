"""Everything that runs a compiled program: virtual machine, masks, engine, models."""
