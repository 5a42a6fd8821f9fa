"""From a tokenizer to bytes of tokens, their trie and their equivalence classes."""
