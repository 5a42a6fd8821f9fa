"""Catalogue entries of the checker: grammars, conditions, strategies (E034x, E035x, W0214 to W0233)."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0350",
        "a grammar that cannot be used",
        "Every name in a grammar is one of its rules, one rule is called `start`, every rule has a text, "
        "and its patterns are regular. The label says what is wrong, in the file that the grammar stands in.",
        'pub grammar Sum:\n    start: number ("+" numbr)*\n    number: /[0-9]{1,9}/\n',
        'pub grammar Sum:\n    start: number ("+" number)*\n    number: /[0-9]{1,9}/\n',
    ),
    Entry(
        "E0351",
        "a grammar inside JSON",
        "Parts of records, lists, maps and tuples are JSON strings, in which quotes, backslashes and control "
        "characters are spelled in another way. Where a terminal ends must not depend on such a character.",
        'pub grammar Quoted:\n    start: text+\n    text: /[a-z"]+/ | "\'"\n    skip / +/\n'
        "pub record Line:\n    text: Quoted\n",
        'pub grammar Quoted:\n    start: text+\n    text: /[a-z"]+/ | "\'"\n    skip / +/\n'
        "pub fn f() -> str:\n    | ?{text: Quoted max 40 tok}\n    return text\n",
    ),
    Entry(
        "E0352",
        "an imported grammar without a notation or name",
        "The ending of the file says how it is written: `.lark`, `.ebnf`, `.bnf` or `.gbnf`. The grammar is "
        "called what `as` says, else what the file is called. `import grammar std.sql` takes one of the "
        "library.",
        'import grammar "sql.txt" as Sql\n',
        'pub grammar Sql:\n    start: "SELECT " /[a-z]{1,9}/\n',
    ),
    Entry(
        "E0353",
        "values of a grammar that do not fit",
        "A parameter of a grammar is a text, which stands in a rule by its name, or has a list of texts, "
        "which stands there as `one of xs` or `one of record.field`. Lists and texts that are known when the "
        "program is compiled must leave the grammar a text.",
        'grammar Sum(names: [str]):\n    start: names ("+" /[0-9]+/)*\n'
        "pub fn f(names: [str]) -> str:\n    | ?{sum: Sum(names) max 40 tok}\n    return sum\n",
        'grammar Sum(names: [str]):\n    start: one of names ("+" /[0-9]+/)*\n'
        "pub fn f(names: [str]) -> str:\n    | ?{sum: Sum(names) max 40 tok}\n    return sum\n",
    ),
    Entry(
        "W0214",
        "a rule of a grammar that no text needs",
        "The rule `start` does not lead to it.",
        'pub grammar Sum:\n    start: number ("+" number)*\n    number: /[0-9]{1,9}/\n'
        "    word: /[a-z]{1,9}/\n",
        'pub grammar Sum:\n    start: number ("+" number)*\n    number: /[0-9]{1,9}/\n',
    ),
    Entry(
        "E0355",
        "a validator that cannot judge a hole",
        "A validator in `where` is a pure function of the text so far that returns `alive | dead | final`. "
        "It is asked after every token, so its first argument is the value of the hole itself and of type "
        "`str`; the others are computed once, before the hole.",
        "pure fn ok(prefix: str, most: int) -> alive | dead | final:\n"
        "    return dead if len(prefix) > most else final\n"
        'pub fn f() -> str:\n    | ?{w: str max 9 chars where ok("a", len(w))}\n    return w\n',
        "pure fn ok(prefix: str, most: int) -> alive | dead | final:\n"
        "    return dead if len(prefix) > most else final\n"
        "pub fn f() -> str:\n    | ?{w: str max 9 chars where ok(w, 4)}\n    return w\n",
    ),
    Entry(
        "E0371",
        "a condition on a part of a type that depends on values of the run",
        "A condition behind the whole type of a hole may compute anything. One on a part of it (the items of "
        "a list) may compare with values of the run, as its mask keeps that. Everything else becomes a "
        "function of the value alone.",
        "pub fn f(word: str) -> [str]:\n    | ?{xs: [str max 9 chars where it.lower() == word; 3]}\n"
        "    return xs\n",
        "pub fn f(word: str) -> [str]:\n    | ?{xs: [str max 9 chars; 3]}\n"
        '    ensure each x in xs: x.lower() == word else "another word"\n    return xs\n',
    ),
    Entry(
        "E0372",
        "a condition of a type that can raise an error",
        "The condition of a declared type is asked wherever a value becomes one of the type, where no error "
        "of the program is expected. It can only hold or not hold.",
        "error Odd(n: int)\n\npure fn even(n: int) -> bool raises Odd:\n    if n % 2 == 1: raise Odd(n)\n"
        "    return true\n\npub type T = int in 0..9 where even(it)\n",
        "pub type T = int in 0..9 where it % 2 == 0\n",
    ),
    Entry(
        "E0373",
        "a constant of a type with a computed condition",
        "A condition that calls functions is asked when the program runs. Constants and defaults are checked "
        "before.",
        "pure fn even(n: int) -> bool:\n    return n % 2 == 0\n\npub type T = int in 0..9 where even(it)\n\n"
        "pub const START: T = 4\n",
        "pub type T = int in 0..9 where it % 2 == 0\n\npub const START: T = 4\n",
    ),
    Entry(
        "E0374",
        "arms or keys that only the run can tell apart",
        "What `one of xs` and `span of x` may be is known when a hole is reached. As text that is not in "
        "quotes `5` may be an entry of `xs` or the number, and keys of a map have to be known before.",
        "pub fn f(xs: [str]) -> str | int:\n    | ?{x: one of xs | int}\n    return x\n",
        "pub fn f(xs: [str]) -> [str | int]:\n    | ?{x: [one of xs | int; 1]}\n    return x\n",
    ),
    Entry(
        "E0375",
        "a declaration that takes a value from elsewhere",
        "A declared type is made before the run. `span of`, `one of`, grammars and other types with "
        "parameters in it take their values from its own parameters, from fields of these, or are constants.",
        "pub record Quote(body: str):\n    text: span of body.lower()\n",
        "pub record Quote(body: str):\n    text: span of body\n",
    ),
    Entry(
        "W0215",
        "a condition that is checked when the value is complete",
        "Comparisons of the value, its length or a field with other values, patterns, known words, "
        "beginnings, parts and remainders, and `and`, `or`, `not` of these, become part of the mask when "
        "their values are known: the model can write nothing else. Other conditions of `where` are checked "
        "on the finished value, which is drawn again without it where it fails, and is then `Rejected`.",
        "pub fn f() -> str:\n    | ?{w: str max 9 chars where w.lower() == w}\n    return w\n",
        "pub fn f() -> str:\n    | ?{w: str max 9 chars where w matches /[^A-Z]*/}\n    return w\n",
    ),
    Entry(
        "W0216",
        "samples that are all the same",
        "`n k` draws k samples of a hole. Without a temperature every draw takes the likeliest token.",
        "pub fn f() -> [int]:\n    | ?{n: int n 3}\n    return n\n",
        "pub fn f() -> [int]:\n    | ?{n: int n 3 temp 0.8}\n    return n\n",
    ),
    Entry(
        "W0217",
        "a range that may go one too far",
        "`a..b` includes b, everywhere. What counts places or rounds from 0 leaves its end out: `0..<n` has "
        "n values. A range whose end is meant says so with `..=`, which is `..` and never warned of.",
        "pub pure fn f(xs: [int]) -> int:\n    var sum = 0\n    for i in 0..len(xs):\n"
        "        sum += xs[i] * i\n    return sum\n",
        "pub pure fn f(xs: [int]) -> int:\n    var sum = 0\n    for i in 0..<len(xs):\n"
        "        sum += xs[i] * i\n    return sum\n",
    ),
    Entry(
        "W0221",
        "a pattern that admits line breaks",
        "A hole of `str matching /…/` writes whatever the pattern admits, and `[^,]` admits a newline. Such "
        "a hole is not ended by a newline. `line` are the texts without control characters.",
        "pub fn f() -> str:\n    | ?{w: str matching /[^,]{1,9}/}\n    return w\n",
        "pub fn f() -> str:\n    | ?{w: line matching /[^,]{1,9}/}\n    return w\n",
    ),
    Entry(
        "E0347",
        "no decoding strategy",
        "`decode` names what decides which legal text a hole gets. `local` draws token by token under the "
        "mask; `exact` or `exact(tries = 200)` draws from the model's distribution given that the text is "
        "legal; `smc(8)` does the same with 8 particles side by side; `beam(4)` looks for the likeliest text "
        "with 4 beams. Walks lie in 1..10,000, particles in 1..256, beams in 1..64.",
        "pub fn f() -> int:\n    | ?{x: int in 1..99 temp 1.0 decode exakt}\n    return x\n",
        "pub fn f() -> int:\n    | ?{x: int in 1..99 temp 1.0 decode exact}\n    return x\n",
    ),
    Entry(
        "E0348",
        "what a decoding strategy cannot stand beside",
        "`exact` and `smc` draw, so they need a temperature, and they draw from the model's whole "
        "distribution, so they take no `top_k`, `top_p` or `min_p`. `beam` looks for the likeliest text, so "
        "it has none of these, no `seed`, and no `until`. `select` and `choose` score whole options. "
        "Particles and beams ask no validator.",
        "pub fn f() -> int:\n    | ?{x: int in 1..99 temp 0.8 decode beam(4)}\n    return x\n",
        "pub fn f() -> int:\n    | ?{x: int in 1..99 decode beam(4)}\n    return x\n",
    ),
    Entry(
        "E0345",
        "samples that cannot be distinct",
        "`n k distinct` draws k different values without replacement: each among those that are left, by the "
        "model's probability of each. All values are scored for it. So it stands at a type of at most 1,024 "
        "texts and at least k: an enum, literals, a small range, a list of options. It draws exactly, so a "
        "`gen` hole needs a temperature and takes no other strategy (E0348). `n k decode beam(m)` gives "
        "different texts of any type.",
        'pub fn f() -> [str]:\n    | ?{x: "red" | "green" | "blue" n 4 distinct temp 1.0}\n    return x\n',
        'pub fn f() -> [str]:\n    | ?{x: "red" | "green" | "blue" n 3 distinct temp 1.0}\n    return x\n',
    ),
    Entry(
        "W0229",
        "words that are drawn by their beginnings",
        "Under `decode local` each token is drawn for itself. Where one word begins with another, `no` and "
        "`no, never`, the first tokens decide between families of words, however unlikely their ends are.",
        'pub fn f() -> str:\n    | ?{x: "no" | "no, never" | "yes" temp 1.0}\n    return x\n',
        'pub fn f() -> str:\n    | ?{x: "no" | "no, never" | "yes" temp 1.0 decode exact}\n    return x\n',
    ),
    Entry(
        "W0232",
        "a part of a value in front of what its hole tells",
        "`x.weight` of a hole with `decode smc` is the weight of its text unless its value has a part "
        "of that name. Parts of values come first. So it is with `ess`, `ancestors`, `bound`, `walks`, "
        "`score`, `proved`, and with `p` and `logprob` of `choose`.",
        "record Parcel:\n    weight: int\n\n"
        "pub fn f() -> int:\n    | ${schema(Parcel)} ?{x: Parcel temp 1.0 decode smc(4)}\n"
        "    return x.weight\n",
        "record Parcel:\n    grams: int\n\n"
        "pub fn f() -> float:\n    | ${schema(Parcel)} ?{x: Parcel temp 1.0 decode smc(4)}\n"
        "    return x.weight\n",
    ),
    Entry(
        "W0233",
        "an option of draws where nothing is drawn",
        "Without a temperature, or at 0, a hole takes the likeliest token, and `choose` the likeliest "
        "option. `top_k`, `top_p`, `min_p` and `seed` then change nothing. Where two models share a hole, "
        "limits leave what they leave of the teacher, also without a temperature.",
        "pub fn f() -> int:\n    | ?{x: int in 1..99 top_p 0.9}\n    return x\n",
        "pub fn f() -> int:\n    | ?{x: int in 1..99 top_p 0.9 temp 0.8}\n    return x\n",
    ),
)
