"""Running a function without a model, as far as its conversations are certain without values of holes."""
