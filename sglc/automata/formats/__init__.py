"""The formats of JSON Schema as languages."""
