"""Lines as other languages write them: their comments, words, types and operators."""
