"""Ambiguous continuations merged into a graph-structured stack, FIRST sets, completions."""
