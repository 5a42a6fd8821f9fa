"""What is coloured how: classes of words, where these are keywords, and the rules that all grammars follow."""
