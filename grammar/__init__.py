"""Grammars: SGL's own (`sgl.lark`, package data), and context-free grammars as constraints."""
