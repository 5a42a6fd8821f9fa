"""From a type to the language of its texts, membership, and what conditions leave of it."""
