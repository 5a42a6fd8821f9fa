"""What all targets share: what they are given and give back, losses, places."""
