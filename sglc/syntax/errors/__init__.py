"""Errors of syntax: `mistakes` and its kin tell by which slip a token does not fit, and `recover` goes on
parsing behind it.
"""
