"""How one hole is filled: seams of tokens, drawing under the mask, where a value ends."""
