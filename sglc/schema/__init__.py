"""JSON Schema (drafts 4 to 2020-12) to a language of JSON texts: exact, or refused by name and place."""
