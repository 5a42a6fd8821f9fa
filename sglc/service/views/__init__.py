"""Views of a whole file: classes of words, hints, symbols, folds, links, lenses and repairs."""
