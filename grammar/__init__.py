"""The Lark grammar of SGL, as package data."""
