"""How the row of one mask is found."""
