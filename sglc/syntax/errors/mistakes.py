"""Common mistakes, told apart by what stands where: the message for a token that cannot stand there.

The parser knows only that a token does not fit. What a person needs to know is which of a few dozen
well-known slips it was, so these are looked for by example, the most telling first. Each rule takes the run,
the line and whether it stands at the level of declarations.
"""

from __future__ import annotations

import re

from sglc.diagnostics.suggest import nearest
from sglc.lalr.machine import Run
from sglc.syntax.errors.bound_mistakes import bound_mistake, pattern_mistake
from sglc.syntax.errors.bracket_mistakes import (
    braced_list,
    generator,
    missing_comma,
    named_argument,
    sign_of_another,
)
from sglc.syntax.errors.clause_mistakes import clause_mistake
from sglc.syntax.errors.core.faulty_line import (
    BLOCK_WORDS,
    DECLARATION_WORDS,
    FOLLOWERS,
    STATEMENT_WORDS,
    Line,
    Mistake,
    line_extent,
)
from sglc.syntax.errors.core.reporter import Replacements
from sglc.syntax.errors.declaration_mistakes import declaration_mistake
from sglc.syntax.errors.foreign.lines import foreign
from sglc.syntax.errors.option_mistakes import option_mistake
from sglc.syntax.errors.pattern_mistakes import is_taken_apart
from sglc.syntax.errors.pattern_mistakes import pattern_mistake as case_mistake
from sglc.syntax.errors.statement_mistakes import statement_mistake
from sglc.syntax.errors.text_mistakes import hole, pipe, prose, role, role_name
from sglc.syntax.errors.unexpected import unexpected
from sglc.syntax.lexer.keywords import HARD, ROLES


def line_mistake(run: Run, line: Line, module_level: bool) -> Mistake:
    """What is wrong with a token of a line of code."""
    for rule in (
        _arm,
        role,
        clause_mistake,
        statement_mistake,
        role_name,
        case_mistake,
        foreign,
        declaration_mistake,
        _bound,
        _misplaced,
        _colon,
        _equals,
        _bracket,
        hole,
        pipe,
        _loop,
        _misspelt,
        _raised,
        prose,
        _comma,
        reserved,
    ):
        found = rule(run, line, module_level)
        if found is not None:
            return found
    return unexpected(run, line)


def _bound(run: Run, line: Line, module_level: bool) -> Mistake | None:
    return option_mistake(run, line) or bound_mistake(run, line) or pattern_mistake(run, line)


def _arm(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """A line under `match` that does not begin with `case`, and arms that end in an arrow."""
    if line.word == "case" and line.index > line.first:
        if not run.could_take(":") or line.token not in ("->", "=>"):
            return None
        return Mistake(
            "E0143",
            "a colon ends the pattern of a case",
            line.start,
            line.end,
            label="`:` is due here",
            hint="write `:`",
            edits=((line.ends(line.index - 1), line.end, ":"),),
            repair=":",
            skip=1,
        )
    if line.index != line.first or not run.could_take("case") or run.could_take("let"):
        return None
    if line.word in ("default", "else", "otherwise", "_"):
        return Mistake(
            "E0143",
            "`case _` takes everything else",
            line.start,
            line.end,
            label="an arm begins with `case`",
            hint="write `case _:`",
            edits=((line.start, line.end, "case _"),),
            repair="case",
        )
    if line.kind not in ("NAME", "STRING", "NUMBER", "true", "false", "null", "ROLE", "(", "-", ".."):
        return None
    return Mistake(
        "E0143",
        "an arm of a `match` begins with `case`",
        line.start,
        line.end,
        label="`case` is due here",
        hint=f"write `case {line.token}: …`",
        edits=_arms(line),
        repair="case",
    )


def _arms(line: Line) -> Replacements:
    """`case` before this arm and before those below it that lack it too."""
    tokens, edits, depth, at_start = line.tokens, [], 0, True
    for index in range(line.index, len(tokens.kinds)):
        kind = tokens.kinds[index]
        depth += (kind == "_INDENT") - (kind == "_DEDENT")
        if depth < 0 or kind == "$END":
            break
        if at_start and depth == 0 and kind not in ("case", "_DEDENT", "_NEWLINE"):
            if line.text[tokens.starts[index] : tokens.ends[index]] in ("default", "else", "otherwise", "_"):
                break
            edits.append((tokens.starts[index], tokens.starts[index], "case "))
        at_start = kind in ("_NEWLINE", "_INDENT", "_DEDENT")
    return tuple(edits)


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
            "E0122",
            f"`{word}` inside a function",
            start,
            end,
            label="declarations stand at the left margin",
            hint="write `let`" if word == "const" else f"move the `{word}` to the left margin",
            edits=((start, end, "let"),) if word == "const" else (),
        )
    if line.index != line.first:
        return None
    if word in FOLLOWERS:
        return Mistake(
            "E0122",
            f"`{word}` follows no {FOLLOWERS[word].split()[1]}",
            line.start,
            line.end,
            label=f"belongs to {FOLLOWERS[word]} at the same indentation",
        )
    if line.kind == "PIPE":
        where = "outside a function" if module_level else "inside a declaration"
        return Mistake(
            "E0122", f"prompt text {where}", line.start, line.start + 1, hint="pipe lines stand in functions"
        )
    if module_level and line.at(line.first + 2) == "TypeVar":
        return Mistake(
            "E0113",
            "type parameters stand behind the name of a function",
            *line.written,
            label="from another language",
            hint=f"leave the line out, and write `fn f[{word}](…)`",
        )
    if module_level:
        following = line.at(line.first + 1)
        named = following if word in ("let", "var") else word if following == "=" else ""
        if word in STATEMENT_WORDS or following in ("=", "(", ".", "+=", "["):
            return Mistake(
                "E0122",
                "code outside a function",
                line.start,
                line.end,
                reason="a file holds declarations; what runs stands in functions and tests",
                hint=f"write `const {named} = …`"
                if named.isidentifier()
                else "indent it if it belongs to the function above, or put it into a `fn`",
                edits=_constant(line, named),
            )
    return None


def _constant(line: Line, named: str) -> Replacements:
    """`const` in the place of `let`, or before a bare assignment of something plain."""
    if not named.isidentifier() or "(" in line.text[slice(*line.written)]:
        return ()
    start = line.starts(line.first)
    return (
        ((start, line.ends(line.first), "const"),)
        if line.word in ("let", "var")
        else ((start, start, "const "),)
    )


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
        "E0102",
        "a colon is missing",
        place - 1,
        place,
        label="the block begins after this",
        hint=f"write `{shown}:`",
        repair=":" if line.kind != "|" and run.can_take(":") else "",
        edits=((place, place, ":"),),
    )


def _equals(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if line.token != "=" or line.index <= line.first + 1:
        return None
    if line.word not in ("if", "elif", "while", "expect", "ensure", "check", "return", "case"):
        return None
    edits: Replacements = ((line.start, line.end, "=="),)
    hint = "write `==`"
    kinds = line.tokens.kinds
    if line.word in ("if", "elif", "while") and ":" not in kinds[line.index : line.last]:
        if kinds[line.last + 1 : line.last + 2] == ["_INDENT"]:
            place = line.ends(line.last - 1)
            edits, hint = (*edits, (place, place, ":")), "write `==`, and `:` at the end of the line"
    return Mistake(
        "E0110",
        "`=` assigns; `==` compares",
        line.start,
        line.end,
        hint=hint,
        repair="BINARY" if run.can_take("BINARY") else "",
        edits=edits,
    )


def _misspelt(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if line.index > line.first + 1 or not line.word.isalpha() or not line.word.islower():
        return None
    if line.tokens.kinds[line.first] != "NAME" or line.at(line.first + 1) in ("(", ".", "[", "=", ","):
        return None
    words = DECLARATION_WORDS | {"part", "aside"} if module_level else STATEMENT_WORDS | {"else", "elif"}
    meant = nearest(line.word, words)
    start, end = line.tokens.starts[line.first], line.tokens.ends[line.first]
    if meant is not None and not (line.index == line.first + 1 and line.kind == "NAME" and meant in ROLES):
        return Mistake(
            "E0111",
            f"no statement begins with `{line.word}`"
            if not module_level
            else f"no declaration begins with `{line.word}`",
            start,
            end,
            label="unknown word",
            hint=f"did you mean `{meant}`?",
            edits=((start, end, meant),) if line.tokens.kinds[line.index] != ":" else (),
        )
    return None


_THROUGH = re.compile(r"for \((?:(?:const|let|var) )?(\w+) (?:of|in) ([\w.]+)\) ?:")
_COUNTED = re.compile(
    r"for \((?:(?:int|let|var) )?(\w+) = (\w+); ?\1 (<=?) ?([\w.]+|len\([\w.]+\)); ?"
    r"(?:\1\+\+|\+\+\1|\1 \+= 1)\) ?:"
)


def _loop(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """`for i = 0 to n:` and `for (i = 0; …)`."""
    if line.word != "for" or is_taken_apart(line):
        return None
    first, index = line.first, line.index
    whole = (line.starts(first), line.ends(line.last - 1))
    if line.token == "(" and index == first + 1:
        counted = _COUNTED.fullmatch(line.text, *whole)
        if counted is not None:
            made = f"for {counted[1]} in {counted[2]}..{'<' if counted[3] == '<' else ''}{counted[4]}:"
            return Mistake(
                "E0113",
                "a loop goes through a range or a list",
                *whole,
                label="from another language",
                hint=f"write `{made}`",
                edits=((*whole, made),),
                covers=line_extent(line.text, *whole),
            )
        through = _THROUGH.fullmatch(line.text, *whole)
        if through is not None:
            made = f"for {through[1]} in {through[2]}:"
            return Mistake(
                "E0113",
                "a loop has no parentheses",
                *whole,
                label="from another language",
                hint=f"write `{made}`",
                edits=((*whole, made),),
                covers=line_extent(line.text, *whole),
            )
        return Mistake(
            "E0113",
            "a loop goes through a range or a list",
            *whole,
            label="from another language",
            hint="write `for i in 1..n:` or `for x in xs:`",
            covers=line_extent(line.text, *whole),
        )
    if index == first + 2 and (line.token == "=" or line.token in ("of", ":")):
        edits = [(line.start, line.end, "in" if line.text[line.start - 1] == " " else " in")]
        to = next((i for i in range(index, line.last) if line.at(i) == "to"), None)
        if to is not None:
            edits.append((line.ends(to - 1), line.starts(to + 1), ".."))
        clear = to is not None or line.token == "of"
        return Mistake(
            "E0113",
            "a loop goes through a range or a list",
            line.start,
            line.end,
            label="`in` is due here",
            hint=f"write `for {line.at(first + 1)} in 1..n:`",
            edits=tuple(edits) if clear else (),
        )
    return None


def _raised(run: Run, line: Line, module_level: bool) -> Mistake | None:
    if line.at(line.index - 1) == "raise" and line.kind == "STRING":
        return Mistake(
            "E0113",
            "what is raised is an error with a name",
            line.start,
            line.end,
            label="this is a text",
            hint=f"declare `error Name(why: str)` at the left margin and write `raise Name({line.token})`",
        )
    if line.word == "use" and line.token in ("*", ")") and line.at(line.index - 1) == "(":
        return Mistake(
            "E0113",
            "`use` names what it takes",
            line.start,
            line.end,
            label="everything is never taken",
            hint="write the names: `use module (one, two)`",
        )
    return None


def _bracket(run: Run, line: Line, module_level: bool) -> Mistake | None:
    return named_argument(run, line) or braced_list(run, line) or generator(line) or sign_of_another(line)


def _comma(run: Run, line: Line, module_level: bool) -> Mistake | None:
    return missing_comma(run, line)


def reserved(run: Run, line: Line, module_level: bool) -> Mistake | None:
    """A word of the language where a name is due."""
    word = line.token
    if word in HARD and run.could_take("NAME") and not run.could_take("NUMBER"):
        return Mistake(
            "E0136",
            f"`{word}` is a word of the language",
            line.start,
            line.end,
            label="a name is due here",
            hint=f"choose another name, such as `{word}_`",
        )
    return None
