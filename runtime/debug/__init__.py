"""The stop engine: where a run stops, what can be seen there, and how it goes on, back or otherwise."""
