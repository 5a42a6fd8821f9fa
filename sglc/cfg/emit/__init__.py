"""From graph and lexer to terms, and the analyses that need both."""
