"""Grammars that are hard for mask engines, each in a size of choice, with texts that say what is legal."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

C_LIKE = r"""start: declaration*
declaration: type declarator (";" | block | "=" initial ("," declarator ["=" initial])* ";")
    | "typedef" type declarator ";" | "struct" NAME "{" field* "}" ";"
    | "enum" NAME "{" [NAME ("," NAME)*] "}" ";"
field: type declarator (":" NUMBER)? ";"
type: ("const" | "static" | "unsigned" | "signed" | "volatile")* base "*"*
base: "int" | "char" | "long" | "short" | "float" | "double" | "void" | "struct" NAME | NAME
declarator: NAME ("[" [expr] "]" | "(" [parameter ("," parameter)*] ")")*
parameter: type NAME? ("[" "]")*
initial: assignment | "{" [initial ("," initial)* ","?] "}"
block: "{" statement* "}"
statement: block | ";" | expr ";" | type declarator ["=" initial] ("," declarator ["=" initial])* ";"
    | "if" "(" expr ")" statement ["else" statement] | "while" "(" expr ")" statement
    | "do" statement "while" "(" expr ")" ";" | "for" "(" [expr] ";" [expr] ";" [expr] ")" statement
    | "switch" "(" expr ")" block | "case" expr ":" | "default" ":" | NAME ":" | "goto" NAME ";"
    | "break" ";" | "continue" ";" | "return" [expr] ";"
expr: assignment ("," assignment)*
assignment: ternary | unary ASSIGN assignment
ternary: or ["?" expr ":" ternary]
or: and ("||" and)*
and: bit_or ("&&" bit_or)*
bit_or: bit_xor ("|" bit_xor)*
bit_xor: bit_and ("^" bit_and)*
bit_and: equality ("&" equality)*
equality: relation (("==" | "!=") relation)*
relation: shift (("<" | ">" | "<=" | ">=") shift)*
shift: sum (("<<" | ">>") sum)*
sum: product (("+" | "-") product)*
product: cast (("*" | "/" | "%") cast)*
cast: unary | "(" type ")" cast
unary: postfix | ("++" | "--" | "+" | "-" | "!" | "~" | "*" | "&") unary | "sizeof" (unary | "(" type ")")
postfix: primary ("[" expr "]" | "(" [assignment ("," assignment)*] ")" | "." NAME | "->" NAME | "++" | "--")*
primary: NAME | NUMBER | CHARACTER | TEXT+ | "(" expr ")"
ASSIGN: "=" | "+=" | "-=" | "*=" | "/=" | "%=" | "<<=" | ">>=" | "&=" | "^=" | "|="
NAME: /[A-Za-z_][A-Za-z0-9_]*/
NUMBER: /0[xX][0-9a-fA-F]+[uUlL]*|[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?[uUlLfF]*/
CHARACTER: /'([^'\\\n]|\\.)'/
TEXT: /"([^"\\\n]|\\.)*"/
COMMENT: /\/\*([^*]|\*+[^*\/])*\*+\// | /\/\/[^\n]*/
%ignore COMMENT
%ignore /[ \t\n]+/
"""
C_GOOD = """struct node { int value; struct node *next; char name[32]; };
/* walk a list ** until its end */
static int total(struct node *first, int most) {
    int found = 0, seen[4] = {0, 1, 2};
    for (i = 0; i < most && first->next != 0; i++) {
        if (first->value >= 0x1F || !first->name[0]) { found += first->value << 2; continue; }
        else first = first->next; // go on
        printf("%d\\n", (int) found * -3.5e2, 'c', sizeof(struct node));
    }
    return found ? found : ~most % 7;
}
"""
SQL = r"""start: (query ";")+
query: "select"i ["distinct"i] column ("," column)* ["from"i table join*] [where] [group] [order] [limit]
    | "insert"i "into"i NAME ["(" NAME ("," NAME)* ")"] "values"i row ("," row)*
    | "update"i NAME "set"i NAME "=" expr ("," NAME "=" expr)* ["where"i expr]
    | "delete"i "from"i NAME ["where"i expr]
where: "where"i expr
group: "group"i "by"i expr ("," expr)* ["having"i expr]
order: "order"i "by"i sorted ("," sorted)*
limit: "limit"i NUMBER ["offset"i NUMBER]
column: "*" | expr ["as"i NAME]
table: NAME ["as"i NAME] | "(" query ")" "as"i NAME
join: ["inner"i | "left"i ["outer"i] | "cross"i] "join"i table ["on"i expr]
sorted: expr ["asc"i | "desc"i]
row: "(" expr ("," expr)* ")"
expr: conjunction ("or"i conjunction)*
conjunction: negation ("and"i negation)*
negation: "not"i negation | comparison
comparison: sum [("=" | "<>" | "<=" | ">=" | "<" | ">" | "like"i) sum | "is"i ["not"i] "null"i
    | "between"i sum "and"i sum | ["not"i] "in"i "(" (query | expr ("," expr)*) ")"]
sum: product (("+" | "-" | "||") product)*
product: primary (("*" | "/" | "%") primary)*
primary: NUMBER | TEXT | "null"i | "true"i | "false"i | name | "(" expr ")"
    | NAME "(" ["distinct"i] ("*" | expr ("," expr)*) ")"
    | "exists"i "(" query ")" | "case"i ("when"i expr "then"i expr)+ ["else"i expr] "end"i
name: NAME ["." NAME]
NAME: /[a-zA-Z_][a-zA-Z0-9_]*/
NUMBER: /[0-9]+(\.[0-9]+)?/
TEXT: /'([^']|'')*'/
%ignore /[ \t\n]+/
%ignore /--[^\n]*\n/
"""
SQL_GOOD = """SELECT u.name, Count(*) AS total FROM users AS u LEFT JOIN orders AS o ON u.id = o.user_id
where o.total >= 12.50 and not (u.name like 'O''Brien%' or u.age between 18 and 65) -- adults
Group By u.name having count(*) > 3 order by total desc, u.name limit 10 offset 20;
"""


@dataclass(frozen=True)
class GrammarCase:
    """A grammar in Lark's notation, in which terminals match as they can, with legal and illegal texts."""

    name: str
    text: str
    legal: tuple[str, ...]
    illegal: tuple[str, ...]


def deep_brackets(kinds: int, depth: int) -> GrammarCase:
    """Brackets of many kinds around each other, each closed by its own number."""
    arms = " | ".join(f'"<{n}" part* "/{n}>"' for n in range(kinds))
    numbers = [n * 7 % kinds for n in range(depth)]
    text = "".join(f"<{n}" for n in numbers) + "x" + "".join(f"/{n}>" for n in reversed(numbers))
    wrong = "".join(f"<{n}" for n in numbers) + f"x/{(numbers[-1] + 1) % kinds}>"
    return GrammarCase("deep brackets of many kinds", f'start: part\npart: "x" | {arms}\n', (text,), (wrong,))


def long_prefixes(arms: int, length: int) -> GrammarCase:
    """Alternatives that are the same for long, as rules of many parts, and differ at the end."""
    shared = " ".join(f'"{chr(97 + n % 26)}" w?' for n in range(length))
    lines = [f'r{n}: {shared} "{n}" ";"' for n in range(arms)]
    choice = " | ".join(f"r{n}" for n in range(arms))
    begin = "".join(chr(97 + n % 26) for n in range(length))
    return GrammarCase(
        "alternatives with a long common beginning",
        f"start: ({choice})+\n" + "\n".join(lines) + "\nw: /[0-9]/\n",
        (f"{begin}{arms - 1};{begin}{arms // 2};",),
        (f"{begin}{arms};", f"{begin};"),
    )


def ambiguous_twice(size: int) -> GrammarCase:
    """A pile that can be cut anywhere, of operands that are themselves piles of another kind."""
    text = 'start: s\ns: s s | s o s | p\np: p p | q | "(" s ")"\nq: "a" | "aa" | "a" q | q "a"\n'
    return GrammarCase(
        "ambiguous piles of ambiguous piles",
        text + 'o: "+" | "+" o | o "+"\n',
        ("a" * size + "+++(aaa" * 5 + "a" + ")" * 5 + "a" * size,),
        ("a" * size + "+)",),
    )


def overlapping_terminals(count: int) -> GrammarCase:
    """Terminals that match each other's beginnings, one after the other, in any order."""
    lines = [f"T{n}: /[a-{chr(98 + n % 24)}]{{1,{n % 9 + 2}}}{chr(97 + n % 26)}?/" for n in range(count)]
    names = " | ".join(f"T{n} T{(n * 5 + 1) % count}" for n in range(count))
    return GrammarCase(
        "terminals that overlap",
        f'start: pair ("." pair)*\npair: {names}\n' + "\n".join(lines) + "\n",
        (".".join(["abcabcab", "aaaa", "abca"] * 6),),
        ("aaa..a", "AB"),
    )


def nullable_chain(length: int) -> GrammarCase:
    """A sequence of parts each of which may be empty, in a circle."""
    lines = [f'n{n}: ("{chr(97 + n % 26)}{n}" | e{n % 7})? n{n % 3 + 3 * (n % 5)}x?' for n in range(length)]
    empties = [f"e{n}: e{(n + 1) % 7}? | e{(n + 3) % 7} e{(n + 2) % 7}? |" for n in range(7)]
    shorts = [f'n{n}x: ("-" e{n % 7})*' for n in range(15)]
    chain = " ".join(f"n{n}" for n in range(length))
    text = "\n".join([f"start: ({chain})+", *lines, *empties, *shorts]) + "\n"
    parts = [f"{chr(97 + n % 26)}{n}" for n in range(0, length, 3)]
    return GrammarCase("chain of empty parts", text, ("-".join(parts) + "--" + "".join(parts),), ("_",))


def hidden_left_recursion(levels: int) -> GrammarCase:
    """Each level begins with something that may be empty, then another level, around a circle."""
    lines = [
        f'h{n}: o{n % 4} h{(n + 1) % levels} "{chr(97 + n % 26)}" | h{(n * 3 + 2) % levels} "." h{n} | "{n};"'
        for n in range(levels)
    ]
    options = [f'o{n}: ("<" o{(n + 1) % 4} ">")?' for n in range(4)]
    text = "\n".join(["start: h0", *lines, *options]) + "\n"
    return GrammarCase(
        "hidden left recursion around a cycle",
        text,
        ("0;", "<>1;a", "<<>>" + "1;a", "2;." * 12 + "0;"),
        ("0;a<", ".0;"),
    )


def words_in_recursion(words: int) -> GrammarCase:
    """One of very many names wherever an operand may stand."""
    chance = random.Random(9)
    names = sorted({"".join(chance.choices("abcdef_", k=chance.randint(3, 12))) for _ in range(words)})
    choice = " | ".join(f'"{name}"' for name in names)
    text = f'start: e\ne: e "+" e | "(" e ")" | NAME "(" e ("," e)* ")" | NAME\nNAME: {choice}\n'
    a, b, c = names[1], names[len(names) // 2], names[-1]
    return GrammarCase(
        "one of many names inside of recursion",
        text,
        (f"{a}({b},{c}+{a}({b}))+(({c}))+" * 6 + a,),
        (f"{a}({b}", f"{a}!{b}"),
    )


def large_counts(size: int) -> GrammarCase:
    """Counts of counted parts, of parts that can be read in two ways."""
    text = (
        f'start: line~1..{size}\nline: (cell ",")~3..{size} cell ";"\n'
        f'cell: /[0-9]{{1,{size}}}/ | /[0-9]+/ "." /[0-9]{{2,{size}}}/\n'
    )
    row = ",".join(str(n * 7919 % 1000) for n in range(min(size, 40))) + ",1.25;"
    return GrammarCase("large counts of counts", text, (row * 4,), ("1,2;", "1,2,3,4.5;"))


def operators(levels: int, each: int) -> GrammarCase:
    """Levels of operators, left- and right-recursive in turn, that begin alike."""
    lines = []
    for level in range(levels):
        names = " | ".join(f'"{chr(97 + level % 26)}{"=" * n}"' for n in range(each))
        inner = f"l{level + 1}"
        side = f"l{level} o{level} {inner}" if level % 2 else f"{inner} o{level} l{level}"
        lines += [f"l{level}: {side} | {inner}", f"o{level}: {names}"]
    text = "\n".join(["start: l0", *lines, f'l{levels}: /[0-9]+/ | "(" l0 ")" | "-" l{levels}']) + "\n"
    used = "".join(f"{n}{chr(97 + n % min(levels, 26))}{'=' * (n % each)}" for n in range(60)) + "7"
    return GrammarCase("many levels of operators", text, (used, "((--1))"), ("1a", "a1", "1)"))


def statements(kinds: int) -> GrammarCase:
    """Statements whose keywords are names too, with blanks anywhere, told by what comes far behind."""
    lines = [f's{n}: "do" NAME ("," NAME)* "end{n}"' for n in range(kinds)]
    choice = " | ".join(f"s{n}" for n in range(kinds))
    text = f"start: ({choice})*\n" + "\n".join(lines) + "\nNAME: /[a-z]+/\n%ignore /[ \\n]+/\n"
    body = " , ".join(["name", "doing", "enda", "x"] * (1 + kinds // 100))
    return GrammarCase(
        "statements told by their last word",
        text,
        (f"do {body} end{kinds // 2}\n  do x end{kinds - 1} doxend0",),
        (f"do {body} end{kinds}", "do , end0"),
    )


HARD: dict[str, Callable[[], GrammarCase]] = {
    "deep": lambda: deep_brackets(400, 300),
    "prefixes": lambda: long_prefixes(300, 60),
    "ambiguous": lambda: ambiguous_twice(60),
    "terminals": lambda: overlapping_terminals(40),
    "nullable": lambda: nullable_chain(40),
    "hidden": lambda: hidden_left_recursion(40),
    "words": lambda: words_in_recursion(20_000),
    "counts": lambda: large_counts(300),
    "operators": lambda: operators(26, 8),
    "statements": lambda: statements(500),
}
SMALL: dict[str, Callable[[], GrammarCase]] = {
    "deep": lambda: deep_brackets(3, 4),
    "prefixes": lambda: long_prefixes(4, 3),
    "ambiguous": lambda: ambiguous_twice(3),
    "terminals": lambda: overlapping_terminals(6),
    "nullable": lambda: nullable_chain(6),
    "hidden": lambda: hidden_left_recursion(3),
    "words": lambda: words_in_recursion(12),
    "counts": lambda: large_counts(4),
    "operators": lambda: operators(3, 2),
    "statements": lambda: statements(3),
}
"""The same, cut down to what can be tried out."""


def hard_grammars() -> Iterator[GrammarCase]:
    for make in HARD.values():
        yield make()
