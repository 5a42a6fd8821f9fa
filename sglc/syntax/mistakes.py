"""Common mistakes, told apart by what stands where: the message for a token that cannot stand there.

The parser knows only that a token does not fit. What a person needs to know is which of a few dozen
well-known slips it was, so these are looked for by example, the most telling first.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from sglc.diagnostics.suggest import nearest
from sglc.syntax.automaton import HARD, Run
from sglc.syntax.tokens import Replacements, Tokens

BLOCK_WORDS = frozenset(
    "fn pure part aside record enum union grammar test if elif else for while match case try except fuzz "
    "forget par system user assistant tool using".split()
)
STATEMENT_WORDS = frozenset(
    "let var if for while match return break continue raise try ensure check yield adopt include part aside "
    "forget think par using mock fuzz expect golden replay system user assistant tool".split()
)
DECLARATION_WORDS = frozenset(
    "pub fn pure record enum union type error const grammar extern test use import".split()
)
FOLLOWERS = {"else": "an `if`", "elif": "an `if`", "except": "a `try`", "case": "a `match`"}
OPTION_WORDS = (
    "max min matching until not in multiple where as temp top_p top_k min_p seed using n decode by".split()
)

_FOREIGN_START = {
    "def": ("`fn` begins a function", "fn"),
    "function": ("`fn` begins a function", "fn"),
    "func": ("`fn` begins a function", "fn"),
    "class": ("`record` begins a type with fields", "record"),
    "struct": ("`record` begins a type with fields", "record"),
    "from": ("`use` imports names", "use"),
    "switch": ("`match` tells cases apart", "match"),
    "catch": ("`except` handles errors", "except"),
    "throw": ("`raise` raises an error", "raise"),
    "default": ("`case _` takes everything else", "case _"),
    "elsif": ("`elif` tests another condition", "elif"),
    "elseif": ("`elif` tests another condition", "elif"),
    "assert": ("`ensure` states a condition, `expect` does so in tests", "ensure"),
    "pass": ("there is no empty statement", ""),
    "print": ("a program prints nothing; prompt text stands on pipe lines", "|"),
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong at offsets `start` to `end`. `repair` is a token to take as if it were there."""

    code: str
    message: str
    start: int
    end: int
    label: str = ""
    reason: str = ""
    hint: str = ""
    repair: str = ""
    edits: Replacements = ()


class Line:
    """The logical line that a faulty token stands on."""

    def __init__(self, text: str, tokens: Tokens, first: int, index: int) -> None:
        self.text, self.tokens, self.first, self.index = text, tokens, first, index
        self.kind = tokens.kinds[index]
        self.start, self.end = tokens.starts[index], tokens.ends[index]
        self.word = self.at(first)
        end = index
        while tokens.kinds[end] not in ("_NEWLINE", "$END"):
            end += 1
        self.last = end

    def at(self, index: int) -> str:
        return self.text[self.tokens.starts[index] : self.tokens.ends[index]]

    @property
    def token(self) -> str:
        return self.at(self.index)

    def kinds(self) -> list[str]:
        return self.tokens.kinds[self.first : self.last]


def line_mistake(run: Run, line: Line, module_level: bool) -> Mistake:
    """What is wrong with a token of a line of code."""
    for rule in (
        _foreign,
        _misplaced,
        _role,
        _colon,
        _equals,
        _hole,
        _pipe,
        _misspelt,
        _prose,
        _foreign_inside,
        _reserved,
    ):
        found = rule(run, line, module_level)
        if found is not None:
            return found
    return unexpected(run, line)


def _foreign(run: Run, line: Line, module_level: bool) -> Mistake | None:
    word = line.word
    near = line.index - line.first <= 2
    if word == "else" and line.at(line.first + 1) == "if":
        start, end = line.tokens.starts[line.first], line.tokens.ends[line.first + 1]
        return Mistake(
            "E0113",
            "`else if` is written `elif`",
            start,
            end,
            hint="write `elif …:`",
            edits=((start, end, "elif"),),
        )
    if word in _FOREIGN_START and near and line.at(line.first + 1) not in ("=", ".", ":"):
        message, meant = _FOREIGN_START[word]
        start, end = line.tokens.starts[line.first], line.tokens.ends[line.first]
        hint = f"write `{meant}`" if meant else "leave the block out, or `return`"
        return Mistake("E0113", message, start, end, label="from another language", hint=hint)
    if line.token == "{" and line.word in BLOCK_WORDS:
        return Mistake(
            "E0113", "blocks are indented, not put in braces", line.start, line.end,
            label="a colon is due here", hint="end the line with `:` and indent what follows",
        )  # fmt: skip
    if line.token == ";":
        return Mistake(
            "E0113", "a line is one statement", line.start, line.end, hint="put the rest on its own line"
        )
    return None


def _misplaced(run: Run, line: Line, module_level: bool) -> Mistake | None:
    word = line.word
    if (
        word in DECLARATION_WORDS
        and not module_level
        and line.index <= line.first + 1
        and line.at(line.first + 1) not in ("=", "(", ".", "[", "+=")
    ):
        start, end = line.tokens.starts[line.first], line.tokens.ends[line.first]
        return Mistake(
            "E0122", f"`{word}` inside a function", start, end, label="declarations stand at the left margin"
        )
    if line.index != line.first:
        return None
    if word in FOLLOWERS:
        return Mistake(
            "E0122", f"`{word}` follows no {FOLLOWERS[word].split()[1]}", line.start, line.end,
            label=f"belongs to {FOLLOWERS[word]} at the same indentation",
        )  # fmt: skip
    if line.kind == "PIPE":
        where = "outside a function" if module_level else "inside a declaration"
        return Mistake(
            "E0122", f"prompt text {where}", line.start, line.start + 1, hint="pipe lines stand in functions"
        )
    if module_level:
        following = line.at(line.first + 1)
        named = following if word in ("let", "var") else word if following == "=" else ""
        if word in STATEMENT_WORDS or following in ("=", "(", ".", "+=", "["):
            return Mistake(
                "E0122", "code outside a function", line.start, line.end,
                reason="a file holds declarations; what runs stands in functions and tests",
                hint=f"write `const {named} = …`" if named.isidentifier() else "put it into a `fn`",
            )  # fmt: skip
    return None


def _role(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if line.word in ("system", "user", "assistant", "tool") and line.index == line.first + 1:
        place = line.tokens.ends[line.first]
        if line.kind in ("|", "BINARY", "_NEWLINE", "NAME"):
            return Mistake(
                "E0102", "a colon is missing", line.tokens.starts[line.first], place,
                label="a role begins a block", hint=f"write `{line.word}:`", edits=((place, place, ":"),),
            )  # fmt: skip
    return None


def _colon(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if not run.could_take(":") or line.index == line.first or line.word not in BLOCK_WORDS | {"pub"}:
        return None
    place = line.tokens.ends[line.index - 1]
    begins = line.kind in ("_NEWLINE", "|", "return", "break", "continue", "raise", "let", "var")
    if not begins:
        return None
    written = line.text[line.tokens.starts[line.first] : place]
    shown = written if len(written) <= 40 and "\n" not in written else f"{line.word} …"
    return Mistake(
        "E0102", "a colon is missing", place - 1, place, label="the block begins after this",
        hint=f"write `{shown}:`", repair=":" if line.kind != "|" and run.can_take(":") else "",
        edits=((place, place, ":"),),
    )  # fmt: skip


def _equals(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if line.token != "=" or line.index <= line.first + 1:
        return None
    if line.word not in ("if", "elif", "while", "expect", "ensure", "check", "return", "case"):
        return None
    return Mistake(
        "E0110", "`=` assigns; `==` compares", line.start, line.end, hint="write `==`",
        repair="BINARY" if run.can_take("BINARY") else "", edits=((line.start, line.end, "=="),),
    )  # fmt: skip


def _hole(run: Run, line: Line, module_level: bool) -> Mistake | None:
    tokens, index = line.tokens, line.index
    for place in (index, index - 1):
        if place >= line.first and line.text.startswith("?{", tokens.starts[place]):
            return Mistake(
                "E0112", "a hole stands outside prompt text", tokens.starts[place], tokens.starts[place] + 2,
                label="this is code",
                hint="put it on a pipe line: `| ?{name: T}`, or write `let name = gen T`",
            )  # fmt: skip
    return None


def _pipe(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if line.token == "|":
        return Mistake(
            "E0101", "a pipe line begins its own line", line.start, line.end,
            label="text cannot begin here",
            hint="put `| text` on the next line, or after the colon of a block",
        )  # fmt: skip
    return None


def _misspelt(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if line.index > line.first + 1 or not line.word.isalpha() or not line.word.islower():
        return None
    if line.tokens.kinds[line.first] != "NAME" or line.at(line.first + 1) in ("(", ".", "[", "=", ","):
        return None
    words = DECLARATION_WORDS | {"part", "aside"} if module_level else STATEMENT_WORDS | {"else", "elif"}
    meant = nearest(line.word, words)
    start, end = line.tokens.starts[line.first], line.tokens.ends[line.first]
    if meant is not None:
        return Mistake(
            "E0111", f"no statement begins with `{line.word}`" if not module_level
            else f"no declaration begins with `{line.word}`",
            start, end, label="unknown word", hint=f"did you mean `{meant}`?",
        )  # fmt: skip
    return None


def _prose(run: Run, line: Line, module_level: bool) -> Mistake | None:
    kinds = line.kinds()
    words = sum(kind in ("NAME", "STRING", "NUMBER") or kind[0].islower() for kind in kinds)
    start, end = line.tokens.starts[line.first], line.tokens.ends[line.last - 1]
    if module_level:
        if line.index <= line.first + 1 and line.tokens.kinds[line.first] == "NAME":
            return Mistake(
                "E0111", f"no declaration begins with `{line.word}`", start, line.tokens.ends[line.first],
                label="unknown word",
                hint="a file holds use, const, type, record, enum, union, error, grammar, fn, part and test",
            )  # fmt: skip
        return None
    neighbours = sum(
        a in ("NAME", "ROLE") and (b in ("NAME", "ROLE") or b[0].islower()) for a, b in pairwise(kinds)
    )
    if words >= 3 and neighbours >= 1 and line.word not in STATEMENT_WORDS | {"each", "retry"}:
        return Mistake(
            "E0103", "this looks like prompt text without its pipe", start, end,
            reason="prompt text stands on lines that begin with `|`; everything else is code",
            hint=f"write `| {line.text[start:end]}`" if end - start <= 60 else "begin the line with `| `",
        )  # fmt: skip
    return None


def _foreign_inside(run: Run, line: Line, module_level: bool) -> Mistake | None:
    before = line.at(line.index - 1) if line.index > line.first else ""
    if before in ("lambda", "await", "async", "new") and line.index > line.first + 1:
        start, end = line.tokens.starts[line.index - 1], line.tokens.ends[line.index - 1]
        return Mistake("E0113", f"there is no `{before}`", start, end, label="from another language")
    if line.token in ("lambda", "await", "async", "new", "is", "then", "do") and line.kind == "NAME":
        what = {"is": "`==` compares", "then": "a colon ends the condition"}
        message = what.get(line.token, f"there is no `{line.token}` here")
        return Mistake("E0113", message, line.start, line.end, label="from another language")
    return None


def _reserved(run: Run, line: Line, module_level: bool) -> Mistake | None:
    word = line.token
    if word in HARD and run.could_take("NAME") and not run.could_take("NUMBER"):
        return Mistake(
            "E0136", f"`{word}` is a word of the language", line.start, line.end,
            label="a name is due here", hint=f"choose another name, such as `{word}_`",
        )  # fmt: skip
    return None


# -- inside ${…} and ?{…} ------------------------------------------------------------------------------


def inside_mistake(run: Run, text: str, start: str, place: tuple[int, int]) -> Mistake:
    """What is wrong inside an insert or hole that spans `place`, or in a fragment."""
    tokens = run.tokens
    line = Line(text, tokens, 0, run.index)
    if start == "hole":
        if tokens.kinds[0] == "$END":
            return Mistake(
                "E0134", "an empty hole", *place, label="needs a name and a type", hint="write `?{name: T}`"
            )
        if run.index == 0 or (run.index == 1 and run.could_take(":")):
            return Mistake(
                "E0134", "a hole needs a name and a type", *place, label="no `name:` before the type",
                hint=f"write `?{{name: {text[place[0] + 2 : place[1] - 1].strip(': ')}}}`"
                if place[1] - place[0] < 60 else "write `?{name: T}`",
            )  # fmt: skip
        if line.kind == "$END" and run.index == 2:
            return Mistake(
                "E0134", f"the hole `{line.word}` has no type", *place, hint=f"write `?{{{line.word}: T}}`"
            )
    if line.kind == "$END" and run.index == 0:
        return Mistake("E0101", "nothing is inserted", *place, label="an expression is due here")
    if start == "hole" and line.kind == "," and run.index > 2:
        return Mistake(
            "E0115",
            "options are not separated by commas",
            line.start,
            line.end,
            hint="leave the comma out",
            edits=((line.start, line.end, ""),),
        )
    option = _option(run, line)
    if option is not None:
        return option
    for rule in (_equals_inside, _reserved):
        found = rule(run, line, False)
        if found is not None:
            return found
    return unexpected(run, line)


def _equals_inside(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if line.token == "=" and run.could_take("BINARY"):
        return Mistake("E0110", "`=` assigns; `==` compares", line.start, line.end, hint="write `==`",
                       edits=((line.start, line.end, "=="),))  # fmt: skip
    return None


_FOREIGN_OPTIONS = {
    "temperature": "temp t", "max_tokens": "max n tok", "stop": 'until "…"', "regex": "matching /…/",
    "topp": "top_p p", "topk": "top_k k", "length": "max n chars",
}  # fmt: skip


def _option(run: Run, line: Line) -> Mistake | None:
    """A word after a type that is no option."""
    if not run.could_take("temp"):
        return None
    if line.kind in ("NAME", "ROLE") or (line.kind[0].islower() and line.token.isidentifier()):
        meant = nearest(line.token, [*OPTION_WORDS, *_FOREIGN_OPTIONS])
        foreign = _FOREIGN_OPTIONS.get(line.token) or _FOREIGN_OPTIONS.get(meant or "")
        hint = "options are max n tok, temp, top_p, top_k, min_p, seed, until, where, using, n, decode"
        if line.token in OPTION_WORDS:
            return None
        if foreign or meant:
            hint = f"write `{foreign}`" if foreign else f"did you mean `{meant}`?"
        return Mistake(
            "E0115",
            f"there is no option `{line.token}`",
            line.start,
            line.end,
            label="after a type",
            hint=hint,
        )
    return None


# -- anything else -------------------------------------------------------------------------------------

_SAID = {
    "NAME": "a name", "NUMBER": "a number", "STRING": "a text in quotes", "REGEX": "a regular expression",
    "PIPE": "a pipe line", "_NEWLINE": "the end of the line", "_INDENT": "an indented block",
    "PATH": "a path", "BINARY": "an operator", "INLINE_JSON": "JSON",
    "_DEDENT": "the end of the block", "$END": "the end",
}  # fmt: skip
_VALUE = {"NAME", "NUMBER", "STRING", "[", "(", "{"}
_VALUE_MORE = {
    "true",
    "false",
    "null",
    "REGEX",
    "-",
    "not",
    "gen",
    "choose",
    "select",
    "schema",
    "fork",
    "raise",
}
_TYPE_MORE = {"true", "false", "span", "one", "json", "-"}


def unexpected(run: Run, line: Line) -> Mistake:
    """What was found and what could have stood there instead."""
    found = {
        "_NEWLINE": "the end of the line",
        "$END": "the end",
        "_INDENT": "an indented line",
        "_DEDENT": "the end of the block",
        "STRING": "a text in quotes",
        "PIPE": "a pipe line",
        "REGEX": "a regular expression",
    }.get(line.kind) or f"`{line.token if len(line.token) <= 30 else line.token[:29] + '…'}`"
    due = due_here(run)
    start, end = line.start, line.end
    if start == end and line.index > 0 and line.kind in ("_NEWLINE", "$END"):
        end = start + 1 if line.kind == "$END" and start < len(line.text) else start
        start = max(end - 1, line.tokens.starts[line.index - 1]) if end == start else start
    return Mistake(
        "E0101",
        f"{found} cannot stand here" if line.kind != "_NEWLINE" else "the line ends too early",
        start,
        end,
        label="the value before it is complete"
        if run.could_take("BINARY")
        else f"{due} is due"
        if due
        else "",
    )


def due_here(run: Run) -> str:
    """The few things that could come next, in words; empty if there are many."""
    kinds = run.expected()
    words: list[str] = []
    if kinds >= _VALUE:
        typed = "span" in kinds
        words.append("a type" if typed else "a value")
        kinds -= _VALUE | (_TYPE_MORE if typed else _VALUE_MORE)
    marks = [
        kind for kind in ("NAME", ":", "=", "->", "(", ")", "]", "}", ",", "in", "as", "of") if kind in kinds
    ]
    rest = sorted(kinds - set(marks) - {"BINARY", "_NEWLINE", ".", "[", "AUGMENTED"})
    if not words and len(marks) + len(rest) <= 4:
        words += [_SAID.get(kind, f"`{kind}`") for kind in (*marks, *rest)]
        if not words and "_NEWLINE" in kinds:
            words.append(_SAID["_NEWLINE"])
    elif marks and len(words) + len(marks) <= 3:
        words += [_SAID.get(kind, f"`{kind}`") for kind in marks if kind not in ("(", ",")]
    if len(words) > 4:
        return ""
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1] if words else ""
