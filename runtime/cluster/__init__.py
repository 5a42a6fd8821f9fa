"""Many workers behind one front: processes or machines with an engine each, and who gets which call."""
