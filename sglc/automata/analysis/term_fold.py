"""What an analysis finds of a term from what it finds of its parts, however deep terms and rules nest."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

from sglc.automata.term import Term

Found = TypeVar("Found")
Asking = Generator[Term, Found, Found]
"""What is found of one term: yields the terms that it takes, is sent what is found of them."""


def folded(root: Term, ask: Callable[[Term], Asking[Found]], circular: Found) -> Found:
    """What is found of a term and of all those that it asks for, each once.

    A part is asked for only when it is yielded, so that an analysis which knows enough makes no rule in vain.
    Terms that are asked for must be kept by the language: they are told apart by their identity. `circular`
    is what is found of a term while it is being asked for.
    """
    known: dict[int, Found] = {}
    begun = {id(root)}
    stack = [(root, ask(root))]
    answer: Found | None = None
    while stack:
        term, asking = stack[-1]
        try:
            part = asking.send(answer)  # type: ignore[arg-type]  # None starts it
        except StopIteration as ended:
            stack.pop()
            answer = known[id(term)] = ended.value
            continue
        if id(part) in known:
            answer = known[id(part)]
        elif id(part) in begun:
            answer = circular
        else:
            begun.add(id(part))
            stack.append((part, ask(part)))
            answer = None
    return answer  # type: ignore[return-value]  # the root's
