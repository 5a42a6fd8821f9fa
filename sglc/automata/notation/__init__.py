"""Characters, automata and terms as people read them."""
