from typing import Literal

import sglc

result = Literal["int", "float", "str", "bool", "list[int]", "list[str]"]


@sglc.fn
def header(task: str = "count how often a letter occurs in a word") -> str:
    r'''
    system: | You write Python. You answer with code only.
    user: | Write the header and the docstring of a function that does this: tell whether a number is even
    assistant:
        | def is_even(number: int) -> bool:
        |     """Return whether the number can be divided by two."""
    user: | Write the header and the docstring of a function that does this: ${task}
    assistant:
        | def ?{name: str matching /[a-z][a-z_]{1,30}/}(?{arguments: str matching /[a-z][a-z_]{0,12}: (int|float|str|bool|list)(, [a-z][a-z_]{0,12}: (int|float|str|bool|list)){0,3}/}) -> ?{returns: result}:
        |     """?{summary: str min 10 chars max 80 chars not containing "\""}"""
    return "def ${name}(${arguments}) -> ${returns}:\n    \"\"\"${summary}\"\"\""
    '''  # noqa: E501
