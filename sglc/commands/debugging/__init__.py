"""How `sglc debug` runs: what is to be debugged, at a prompt, in a terminal, or for an editor."""
