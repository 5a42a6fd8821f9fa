"""From the intermediate representation to bytecode."""
