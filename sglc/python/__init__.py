"""Values of the language as Python objects: classes of declared types, conversions, streams, errors."""
