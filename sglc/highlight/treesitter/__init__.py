"""The grammar of tree-sitter, made from `grammar/sgl.lark`, with its scanner and queries."""
