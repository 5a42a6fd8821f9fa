"""JSON Schemas of exactly the values of a type, in the dialects that backends enforce."""
