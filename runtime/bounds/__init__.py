"""How few and how many tokens a hole can take, found before it is filled."""
