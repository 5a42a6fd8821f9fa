"""The pushdown automaton: hash-consed continuations, threads, configurations."""
