"""What follows from types and conditions before anything runs: which values a place of the text can see."""
