"""Types as text: for messages, for models, as JSON Schema and TypeScript."""
