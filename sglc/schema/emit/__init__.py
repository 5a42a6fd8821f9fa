"""From forms to layouts and terms."""
