"""The walk of a grammar over the token trie, as a graph-structured stack."""
