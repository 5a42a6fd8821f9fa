"""Type sources: declarations in other languages (SQL, TypeScript), read as types."""
