"""Context-free grammars: from their text to the language of their texts."""
