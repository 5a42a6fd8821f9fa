"""Other forms of values than JSON: YAML, XML, CSV and lines, each with one text for each value."""
