"""Catalogue entries of what the code of a checked program shows."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

_RULES = """\
        | Answer in the language of the customer, in full sentences, and never in more than three of them.
        | Do not promise money, dates or replacements. Name the desk that will write again instead.
        | If the customer is angry, begin with an apology, say what happens next, and who does it by when.
"""
_MAIL = """\
        | <mail>
        | ${mail}
        | </mail>
"""


def _program(*lines: str) -> str:
    """The function with these lines in its first message."""
    return (
        "fn answer(mail: str) -> str:\n    user:\n"
        + "".join(lines)
        + '    assistant: | ?{tone: "calm" | "warm"}\n    return tone\n'
    )


ENTRIES: tuple[Entry, ...] = (
    Entry(
        "W0220",
        "constant text behind text that varies",
        "What a model has read of a prompt is used again by the next call, up to the first difference. Text "
        "that is the same in every call costs it nothing where it stands before all that varies (parameters, "
        "results of other calls); behind that each call reads it again. Told from 256 characters on, of what "
        "stands before the first hole. Where lines can move up within their message, or a message before "
        "another, an edit is offered. It changes what the model reads, so it is made only by `sglc check "
        "--fix --accept W0220`. Text that speaks of text `above` is left alone.",
        _program(_MAIL, _RULES),
        _program(_RULES, _MAIL),
    ),
    Entry(
        "W0227",
        "a hole that nothing reads",
        "A function gives a result, and its last holes are no part of it: nothing reads them, and nothing is "
        "asked behind them in their conversation. The model draws them all the same, for they are text, of "
        "budgets and of traces. A hole in front of others is not told of, for the model reads what it wrote. "
        "A name that begins with `_` is meant so.",
        "fn rate(text: str) -> int:\n    user: | Rate ${text}.\n    assistant:\n"
        "        | ?{mark: int in 1..5}\n        | ?{why: str max 80 chars}\n    return mark\n",
        "fn rate(text: str) -> int:\n    user: | Rate ${text}.\n    assistant:\n"
        "        | ?{why: str max 80 chars}\n        | ?{mark: int in 1..5}\n    return mark\n",
    ),
    Entry(
        "E0443",
        "a value that is not trusted where it could command",
        "Values that come from outside are data: parameters marked `untrusted`, what a function of Python "
        "gives "
        "that reads or writes, and messages of its errors. What is made of them is no better. In the "
        "system's message "
        "they would speak as the program, as arguments of a `write` they would decide what is done. The "
        "way is shown. "
        "`trust(x)` says that x was checked.",
        "pub fn f(mail: untrusted str) -> int:\n    system: | The mail is ${mail}.\n    user: | A number?\n"
        "    assistant: | ?{n: int}\n    return n\n",
        "pub fn f(mail: untrusted str) -> int:\n    system: | A mail follows.\n    user: | ${mail}\n"
        "    assistant: | ?{n: int}\n    return n\n",
    ),
    Entry(
        "E0441",
        "a write that would be done again",
        "A retry goes back to its hole and takes the way from there anew, a fork takes its body once a "
        "branch. What is written outside of the program on that way is written each time. Call it "
        "behind the condition or the fork. Or name a key: of calls with equal keys only the first is "
        "made in a run, and the others get its result.",
        'extern py "shop:order" fn order(item: str) -> int effects write\n\npub fn f() -> str:\n'
        "    | ?{item: str max 20 chars}\n    let number = order(item)\n"
        '    ensure number > 0 else "sold out"\n        retry 2 resample\n    return item\n',
        'extern py "shop:order" fn order(item: str) -> int effects write key item\n\npub fn f() -> str:\n'
        "    | ?{item: str max 20 chars}\n    let number = order(item)\n"
        '    ensure number > 0 else "sold out"\n        retry 2 resample\n    return item\n',
    ),
    Entry(
        "W0249",
        "a choice without an answer for other texts",
        "Text that comes from outside may say anything. Where it stands before a hole of three or more "
        "answers, none of which is `other` or its like, the mask makes the model say something untrue of "
        "a text that none of them fits, and the program cannot tell. The example is the shortest text that "
        "may come.",
        "pub fn f(mail: untrusted str) -> str:\n    user: | ${mail}\n"
        '    assistant: | ?{desk: "orders" | "repairs" | "sales"}\n    return desk\n',
        "pub fn f(mail: untrusted str) -> str:\n    user: | ${mail}\n"
        '    assistant: | ?{desk: "orders" | "repairs" | "sales" | "other"}\n    return desk\n',
    ),
)
