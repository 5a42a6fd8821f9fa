"""How `sglc prompt` shows conversations: values for holes, drawing, JSON."""
