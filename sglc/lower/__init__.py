"""From a checked syntax tree to the intermediate representation."""
