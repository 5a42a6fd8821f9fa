"""What is coloured how: classes of words, where these are keywords, the rules that all grammars follow."""
