"""What every written module carries: values, types, functions and conversations of the language."""
