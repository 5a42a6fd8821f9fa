"""Ways to a legal text beside drawing it token by token: walks, particles and beams."""
