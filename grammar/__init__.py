"""The grammar of SGL, `sgl.lark`, as package data."""
