"""Names, types, constraints and budgets of a parsed program."""
