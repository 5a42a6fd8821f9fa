from typing import Literal

from typing_extensions import TypeAliasType

import sglc

result = TypeAliasType("result", Literal["int", "float", "str", "bool", "list[int]", "list[str]"])
PARAMETER = "[a-z][a-z_]{0,12}: (int|float|str|bool|list)"
PARAMETERS = f"{PARAMETER}(, {PARAMETER}){{0,3}}"


@sglc.sgl_function
def header(s, task: str = "count how often a letter occurs in a word") -> str:
    s += s.system("You write Python. You answer with code only.")
    s += s.user(
        "Write the header and the docstring of a function that does this: tell whether a number is even"
    )
    s += s.assistant(
        'def is_even(number: int) -> bool:\n    """Return whether the number can be divided by two."""'
    )
    s += s.user("Write the header and the docstring of a function that does this: " + task)
    with s.assistant():
        s += "def " + s.gen("name", regex="[a-z][a-z_]{1,30}") + "("
        s += s.gen("arguments", regex=PARAMETERS) + ") -> " + s.gen("returns", type=result) + ":\n"
        s += '    """' + s.gen("summary", min_chars=10, max_chars=80, not_containing='"') + '"""'
    return f'def {s["name"]}({s["arguments"]}) -> {s["returns"]}:\n    """{s["summary"]}"""'
