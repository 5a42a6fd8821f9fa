"""Commands on many workers: options, what is refused, rows and served functions that go to them."""
