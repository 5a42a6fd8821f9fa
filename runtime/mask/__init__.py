"""From a constraint and a vocabulary to exact token masks."""
