"""From logits and a mask to the next token."""
