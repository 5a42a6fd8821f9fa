"""The page of the cookbook: what each program shows, with the program itself.

`make docs` writes it to `docs/cookbook.md`.
"""

from __future__ import annotations

from checkout import EXAMPLES

FOLDER = EXAMPLES / "cookbook"

TASKS: dict[str, tuple[str, str]] = {
    "email_order": (
        "Extract an order from an e-mail",
        "The record is the schema that the model is shown, and the mask that holds it to it. An optional "
        "field (`reply_to?`) may be left out; the worked examples show both cases, which keeps a small model "
        "from inventing one.",
    ),
    "ticket_topic": (
        'Classify, with "other"',
        "`select` scores all options and draws none, so the program sees how sure the model was. What is "
        "`other`, or unsure, gets a few words instead of a wrong label.",
    ),
    "sql_question": (
        "SQL from a question",
        "A grammar with a parameter: tables and columns are those of the run. Whatever the model writes "
        "parses, and reads nothing else.",
    ),
    "evidence": (
        "Quotes with evidence",
        "`span of text` is a piece of the text, word for word, so a quote cannot be made up. The quote comes "
        "before what is made of it, and `where` keeps the second one from being the first again.",
    ),
    "vote": (
        "Self-consistency vote",
        "`fork` runs several lines of thought side by side from the same conversation, each with its own "
        "seed. The winner is counted by the program.",
    ),
    "thoughts": (
        "Tree of thoughts",
        "Each level forks, a function rates each step in a conversation of its own, and `adopt` goes on with "
        "the best branch.",
    ),
    "revise": (
        "Critique and revise",
        "The critic is another function: it sees the text, not how it came about. The loop has a bound, and "
        "ends early where the critic is content.",
    ),
    "summary": (
        "Summarise a long text (map-reduce)",
        "Chunks are cut by pure code, which tests can check. The calls for the chunks do not need each "
        "other, so they go through the model together.",
    ),
    "form": (
        "Fill in a form, with retries",
        "Two conditions over several fields, with two policies: a slip is shown to the model, which writes "
        "again (`retry 2 repair`); what only the guest can decide is an error of the program's own.",
    ),
    "clean_rows": (
        "Clean data",
        "What is in order already never reaches the model. The rest becomes one shape, with a country from a "
        "list and `unknown` as a way out.",
    ),
    "translate": (
        "Translate with a glossary",
        "The program knows which terms a sentence has, and checks them in the translation. A sentence that "
        "fails again and again is given back as it is, and says so.",
    ),
    "call_arguments": (
        "Arguments of function calls",
        "A union is a list of actions with their arguments; `match` carries them out, and does not compile "
        "while one is missing. One action is `Nothing`, with a reason.",
    ),
    "test_data": (
        "Make up test data",
        "Conditions on values of the run are in the mask: no login twice, seats as the plan has them. "
        "Nothing is drawn in vain.",
    ),
    "log_triage": (
        "Triage a log",
        "A pattern files routine lines; the model reads the others, cause before level. The program sorts.",
    ),
    "grade": (
        "Grade by a rubric",
        "Each criterion has a conversation of its own: quote, reason, points, in this order. The sum is "
        "arithmetic, and arithmetic is the program's.",
    ),
}
"""What each program of the folder is about: a heading, and what to look at."""

HEAD = """\
# Cookbook

Fifteen tasks, each one program that runs as it stands, with tests that need no model. The programs lie in
[examples/cookbook](../examples/cookbook):

```console
$ sglc run examples/cookbook/form.sgl
$ sglc run examples/cookbook/form.sgl --model ~/models/Qwen3-4B-Q4_K_M.gguf
$ sglc test examples/cookbook
```

The answers have the declared shape with any model. Whether they are right is up to the model: the small one
that `sglc` fetches by itself is good for trying things out, and little more.

This page is written from the programs by `make docs`; a test compares them.
"""


def page() -> str:
    """The page: a list of all tasks, and a section for each with its program."""
    links = [f"- [{title}](#{_anchor(title)})" for title, _ in TASKS.values()]
    parts = [HEAD, "\n".join(links) + "\n"]
    for name, (title, text) in TASKS.items():
        program = (FOLDER / f"{name}.sgl").read_text(encoding="utf-8")
        parts.append(f"## {title}\n\n{text}\n\n`examples/cookbook/{name}.sgl`:\n\n```sgl\n{program}```\n")
    return "\n".join(parts)


def _anchor(title: str) -> str:
    kept = "".join(char for char in title.lower() if char.isalnum() or char in " -")
    return kept.replace(" ", "-")
