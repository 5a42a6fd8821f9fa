"""Parsing tables from grammars in Lark's notation, kept between runs, and a parser of small languages."""
