"""Parts whose state holds configurations of other parts: lookahead, difference, uniqueness."""
