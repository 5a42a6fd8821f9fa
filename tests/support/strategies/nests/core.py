"""What programs that nest are made with, and the table of their forms."""

from __future__ import annotations

FORMS = {}


def lines(n, line):
    return "".join(line(i) + "\n" for i in range(n))


def ind(n, body, head):
    """Blocks inside each other."""
    return lines(n, lambda i: "    " * (i + 1) + head(i)) + "    " * (n + 1) + body + "\n"


def form(program):
    FORMS[program.__name__] = program
    return program
