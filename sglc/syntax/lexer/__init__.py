"""From text to tokens: lines and their indentation, words that are keywords in some places, literals."""
