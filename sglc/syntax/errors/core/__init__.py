"""What findings of syntax errors share: the faulty line, the reporter, text that cannot be cut into tokens,
sound edits.
"""
