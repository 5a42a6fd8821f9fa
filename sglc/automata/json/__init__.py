"""States of JSON objects and arrays: which members are open, which counts are met."""
