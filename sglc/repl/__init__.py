"""A session at a prompt: what is typed is checked and run, and what it declares, binds and says stays."""
