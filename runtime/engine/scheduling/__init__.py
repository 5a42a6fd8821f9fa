"""Which requests go into the next step."""
