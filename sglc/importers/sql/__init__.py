"""Tables of SQL as records."""
