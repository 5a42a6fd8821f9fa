"""Open files, snapshots of their programs, and what stands at an offset."""
