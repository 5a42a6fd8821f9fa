"""Catalogue entries of the checker: types, values and holes (E0215, E03xx)."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0215",
        "a refinement behind a union that is meant of its last arm",
        "What stands behind a union holds for all of it: a refinement narrows every arm of its kind, texts "
        "or numbers. Where that leaves nothing of an arm, or narrows one with such a refinement of its own, "
        "parentheses say which arm is meant.",
        'pub type code = "none" | str matching /[0-9]{4}/\n',
        'pub type code = "none" | (str matching /[0-9]{4}/)\n',
    ),
    Entry(
        "E0301",
        "a value of another type is due",
        "Integers become decimals and decimals floats by themselves; nothing else is converted silently.",
        'pub pure fn f() -> int:\n    return "seven"\n',
        "pub pure fn f() -> int:\n    return 7\n",
    ),
    Entry(
        "E0302",
        "the value is outside its type",
        "A constant is given where its type has a range, length, pattern or list of values that it does "
        "not meet.",
        'pub record Item:\n    currency: "EUR" | "USD" = "GBP"\n',
        'pub record Item:\n    currency: "EUR" | "USD" = "EUR"\n',
    ),
    Entry(
        "E0303",
        "a type without values",
        "No text can be written for the type: its constraints contradict each other, or every value would "
        "contain "
        "another one without end.",
        "pub record Chain:\n    next: Chain\n",
        "pub record Chain:\n    next: Chain?\n",
    ),
    Entry(
        "E0304",
        "contradictory bounds",
        "The lower bound is above the upper one, or nothing lies between them.",
        "pub type share = int in 100..0\n",
        "pub type share = int in 0..100\n",
    ),
    Entry(
        "E0305",
        "a condition that no mask can keep",
        "The automaton of a condition would be too large: lengths of texts are compared with 4,096 at most "
        "inside of an `or` or `not`.",
        'pub fn f() -> str:\n    | ?{w: str max 9000 chars where len(w) == 5000 or w == "a"}\n    return w\n',
        'pub fn f() -> str:\n    | ?{w: str max 9000 chars where len(w) == 500 or w == "a"}\n    return w\n',
    ),
    Entry(
        "E0306",
        "the refinement does not fit the type",
        "`in` and `multiple of` refine numbers; `min`, `max`, `matching`, `until` and `not containing` "
        "refine texts; "
        "keys of maps are texts.",
        "pub type age = int max 3 chars\n",
        "pub type age = int in 0..150\n",
    ),
    Entry(
        "E0307",
        "a pattern that cannot be used",
        "Patterns are regular: a reference to a group, or a look around, only where it can be told by an "
        "automaton (docs/patterns.md). The whole value matches, without `^` and `$`.",
        "pub type code = str matching /([a-z]/\n",
        "pub type code = str matching /([a-z])/\n",
    ),
    Entry(
        "E0308",
        "arms that overlap",
        "A text that two arms of `A | B` share could not be read back: which arm was meant? The witness is "
        "such a "
        "text.",
        "pub type size = int in 0..10 | (int in 10..20)\n",
        "pub type size = int in 0..9 | (int in 10..20)\n",
    ),
    Entry(
        "E0309",
        "defined by itself",
        "An alias or constant cannot be its own definition. Records and unions may contain themselves.",
        "pub type a = b\ntype b = a\n",
        "pub type a = b\ntype b = int\n",
    ),
    Entry(
        "E0310",
        "a variant's field named `type`",
        "The text of a variant begins with the key `type`, which holds the variant's name.",
        "pub union Shape:\n    Circle:\n        type: int\n",
        "pub union Shape:\n    Circle:\n        kind: int\n",
    ),
    Entry(
        "E0311",
        "a parameter without a default after one with",
        "Parameters with defaults come last, so that arguments by place are clear.",
        "pub pure fn f(a: int = 1, b: int) -> int:\n    return a + b\n",
        "pub pure fn f(b: int, a: int = 1) -> int:\n    return a + b\n",
    ),
    Entry(
        "E0312",
        "a value without a text",
        "Ranges, branches, scored options and errors cannot be inserted into text as they are.",
        """\
pub fn f() -> str:
    | Yes or no? ?{sure: select ["yes", "no"]}
    | So: ${sure}. ?{why: str max 40 chars}
    return why
""",
        """\
pub fn f() -> str:
    | Yes or no? ?{sure: select ["yes", "no"]}
    | So: ${sure.top}. ?{why: str max 40 chars}
    return why
""",
    ),
    Entry(
        "E0313",
        "two types where one is due",
        "Items of a list, values of a map, both sides of `a if c else b` and all yields of a fork have one "
        "type.",
        'pub pure fn f() -> int:\n    return len([1, "two"])\n',
        'pub pure fn f() -> int:\n    return len(["one", "two"])\n',
    ),
    Entry(
        "E0314",
        "a pattern in the wrong place",
        "`/…/` stands after `matches` and `matching` only.",
        "pub pure fn f(x: str, y: str) -> bool:\n    return x matches y\n",
        "pub pure fn f(x: str) -> bool:\n    return x matches /[a-z]+/\n",
    ),
    Entry(
        "E0315",
        "not a value",
        "Functions and methods have values only when called, types and errors have none.",
        "pub pure fn one() -> int:\n    return 1\n\npub pure fn f() -> int:\n    return one + 1\n",
        "pub pure fn one() -> int:\n    return 1\n\npub pure fn f() -> int:\n    return one() + 1\n",
    ),
    Entry(
        "E0316",
        "a field of what may be null",
        "A value of type `T?` may be null. A condition that excludes it (`if x != null`, a `case null` "
        "before) makes "
        "it a plain `T` inside its block.",
        """\
record Owner:
    name: str

pub pure fn f(owner: Owner?) -> str:
    return owner.name
""",
        """\
record Owner:
    name: str

pub pure fn f(owner: Owner?) -> str:
    if owner == null: return "nobody"
    return owner.name
""",
    ),
    Entry(
        "E0317",
        "a place that is not there",
        "Places are counted from 0; negative ones from the end. The place in a tuple must be a constant.",
        "pub pure fn f(pair: (int, str)) -> str:\n    return pair[2]\n",
        "pub pure fn f(pair: (int, str)) -> str:\n    return pair[1]\n",
    ),
    Entry(
        "E0318",
        "no items to take",
        "Lists, tuples, maps and texts have items.",
        "pub pure fn f(n: int) -> int:\n    return n[0]\n",
        "pub pure fn f(n: [int]) -> int:\n    return n[0]\n",
    ),
    Entry(
        "E0319",
        "operands that do not go together",
        "Arithmetic and order take numbers, `+` also two texts or two lists, `in` a list, map, text or "
        "range.",
        'pub pure fn f(n: int) -> str:\n    return "n = " + n\n',
        'pub pure fn f(n: int) -> str:\n    return "n = ${n}"\n',
    ),
    Entry(
        "E0320",
        "a condition that is no bool",
        "Only `true` and `false` count as conditions: empty lists and zero are not false.",
        "pub pure fn f(xs: [int]) -> int:\n    return 1 if xs else 0\n",
        "pub pure fn f(xs: [int]) -> int:\n    return 1 if len(xs) > 0 else 0\n",
    ),
    Entry(
        "E0321",
        "arithmetic without a result",
        "The divisor is the constant 0, a negative power of an integer is taken, or the result is no number: "
        "a power that is not real, more than 1,000 digits, a float beyond 1.8e308.",
        "pub pure fn f(n: int) -> decimal:\n    return n / 0\n",
        "pub pure fn f(n: int) -> decimal:\n    return n / 2\n",
    ),
    Entry(
        "E0322",
        "never equal",
        "The two sides have no value in common, so the comparison always gives the same answer.",
        'pub pure fn f(answer: "yes" | "no") -> bool:\n    return answer == "Yes"\n',
        'pub pure fn f(answer: "yes" | "no") -> bool:\n    return answer == "yes"\n',
    ),
    Entry(
        "E0323",
        "not a thing to go over",
        "Loops and comprehensions go over lists, ranges and the keys of maps.",
        "pub pure fn f(n: int) -> [int]:\n    return [i * i for i in n]\n",
        "pub pure fn f(n: int) -> [int]:\n    return [i * i for i in 0..<n]\n",
    ),
    Entry(
        "E0324",
        "unknown schema style",
        "`schema(T)` may be written as `json`, `typescript` or `prose`.",
        'pub fn f() -> str:\n    | ${schema(int, as = "jsn")} ?{n: int}\n    return str(n)\n',
        'pub fn f() -> str:\n    | ${schema(int, as = "json")} ?{n: int}\n    return str(n)\n',
    ),
    Entry(
        "E0325",
        "not known at compile time",
        "Defaults, constants, budgets, limits and numbers of retries are made of literals, constants and "
        "enum members.",
        'const LONG = len("abc")\n\npub pure fn f() -> int:\n    return LONG\n',
        "const LONG = 3\n\npub pure fn f() -> int:\n    return LONG\n",
    ),
    Entry(
        "E0326",
        "an unclear type",
        "An empty list or null alone does not say what else the variable will hold.",
        "pub pure fn f() -> int:\n    var xs = []\n    return len(xs)\n",
        'pub pure fn f() -> int:\n    var xs: [str] = []\n    xs = xs + ["a"]\n    return len(xs)\n',
    ),
    Entry(
        "E0327",
        "not to be called",
        "Functions, built-in functions, methods, records and variants can be called.",
        "pub pure fn f(n: int) -> int:\n    return n(2)\n",
        "pub pure fn f(n: int) -> int:\n    return n * 2\n",
    ),
    Entry(
        "E0328",
        "the arguments do not fit",
        "Arguments go to parameters by place, then by name; each parameter without a default needs one.",
        "pure fn area(width: int, height: int) -> int:\n    return width * height\n\n"
        "pub pure fn f() -> int:\n    return area(2, hight = 3, height = 3)\n",
        "pure fn area(width: int, height: int) -> int:\n    return width * height\n\n"
        "pub pure fn f() -> int:\n    return area(2, height = 3)\n",
    ),
    Entry(
        "E0329",
        "no order",
        "Numbers, texts and tuples of them can be compared; records need `by = …`.",
        "record City:\n    name: str\n    people: int\n\npub pure fn f(xs: [City]) -> str:\n    return "
        "xs.max().name\n",
        "record City:\n    name: str\n    people: int\n\n"
        "pub pure fn f(xs: [City]) -> str:\n    return xs.max(by = people).name\n",
    ),
    Entry(
        "E0330",
        "an option that cannot be",
        "Options of holes have ranges: `temp` 0..10, `top_p` and `min_p` 0..1, `top_k` and token budgets "
        "from 1. `select` draws nothing, so it has none of them and no `seed`. A fork takes `seed` only, and "
        "no option stands twice.",
        "pub fn f() -> str:\n    | ?{x: str max 20 chars temp 0.8 top_p 1.5}\n    return x\n",
        "pub fn f() -> str:\n    | ?{x: str max 20 chars temp 0.8 top_p 0.95}\n    return x\n",
    ),
    Entry(
        "E0331",
        "an unbounded hole",
        "Every hole must come to an end: by a longest value (`max 80 chars`, `[T; ..4]`), a stop text "
        "(`until`), or a "
        "token budget (`max 60 tok`), which closes the value along its shortest completion.",
        "pub fn f() -> str:\n    | ?{story: str}\n    return story\n",
        "pub fn f() -> str:\n    | ?{story: str max 400 chars}\n    return story\n",
    ),
    Entry(
        "E0332",
        "a budget that cannot be met",
        "Even the shortest value needs more tokens than the budget allows. A token is counted as sixteen "
        "bytes here, "
        "more than it holds on average.",
        "pub fn f() -> str:\n    | ?{x: str min 100 chars max 200 chars max 2 tok}\n    return x\n",
        "pub fn f() -> str:\n    | ?{x: str min 100 chars max 200 chars max 80 tok}\n    return x\n",
    ),
    Entry(
        "E0360",
        "a model where none is asked, or no blend",
        "`using` says which model fills holes, so it stands where holes may. `by kl`, `weight 0.7` and `at "
        "least 0.3` say how two models share a hole, which `using blend(base, teacher)` names. A written "
        "weight is the share of the teacher at every token, a rule finds one for each token: there is one or "
        "the other.",
        "pub fn f() -> int:\n    | ?{n: int using big weight 0.5}\n    return n\n",
        "pub fn f() -> int:\n    | ?{n: int using blend(main, big) weight 0.5}\n    return n\n",
    ),
    Entry(
        "E0361",
        "a blend of two models that scores options",
        "`select` weighs each option by the probability that one model gives to all of it. Two models "
        "together are a distribution of the next token, which `gen` and `choose` draw from.",
        'pub fn f() -> str using blend(main, big):\n    | ?{x: select ["yes", "no"]}\n    return x.top\n',
        'pub fn f() -> str using blend(main, big):\n    | ?{x: choose ["yes", "no"]}\n    return x\n',
    ),
    Entry(
        "E0370",
        "an unknown form",
        "Values are written as `json`, `yaml`, `xml`, `csv` or `lines`.",
        "pub type names = [str max 9 chars; ..4] as yml\n",
        "pub type names = [str max 9 chars; ..4] as yaml\n",
    ),
    Entry(
        "E0377",
        "a type that has not the form",
        "Each form has places for some values only. CSV is a list of flat records or tuples, lines are a "
        "list of scalars, XML has no maps, and nothing but JSON holds any JSON value or a text in a grammar. "
        "Where texts have no quotes, arms of a union may share one.",
        "pub record Row:\n    tags: [str max 9 chars; ..4]\n\npub type table = [Row; ..9] as csv\n",
        "pub record Row:\n    tag: str max 9 chars\n\npub type table = [Row; ..9] as csv\n",
    ),
    Entry(
        "W0248",
        "a form inside another type",
        "A form is that of a whole text: of a hole, of `${x}`, of `schema(T)`. A part of a list, map, tuple "
        "or union is written as the value around it is, whatever form its own type has. A field of a record "
        "may have one: it is that of `${r.field}`.",
        "pub type pairs = [[int; 2] as lines; ..4]\n",
        "pub type pairs = [[int; 2]; ..4] as yaml\n",
    ),
    Entry(
        "W0231",
        "a contrast of two models without a least probability",
        "A weight above 1 prefers what the teacher finds likelier than the base does. A token that the base "
        "hardly ever writes then wins however unlikely it is for the teacher. `min_p` leaves out what is "
        "less likely than a share of the teacher's first choice.",
        "pub fn f() -> int:\n    | ?{n: int using blend(main, big) weight 1.5}\n    return n\n",
        "pub fn f() -> int:\n    | ?{n: int using blend(main, big) weight 1.5 min_p 0.1}\n    return n\n",
    ),
    Entry(
        "E0333",
        "an unclear end of a hole",
        "The text that follows the hole can also be a part of its value, so the end of the value would not "
        "be clear. "
        "The witness is such a value.",
        "pub fn f() -> str:\n    | <?{tag: str matching /[a-z>]{1,9}/}>\n    return tag\n",
        "pub fn f() -> str:\n    | <?{tag: str matching /[a-z]{1,9}/}>\n    return tag\n",
    ),
    Entry(
        "E0334",
        "options that cannot be chosen from",
        "`choose` and `select` take a list of different, non-empty options, an enum, a bool, a small range "
        "or a union of "
        "literals.",
        'pub fn f() -> str:\n    | ?{x: choose ["a", "b", "a"]}\n    return x\n',
        'pub fn f() -> str:\n    | ?{x: choose ["a", "b", "c"]}\n    return x\n',
    ),
    Entry(
        "E0335",
        "a pattern that never matches",
        "The subject of the `match` never has such a value.",
        """\
enum Mood: calm, furious

pub pure fn f(mood: Mood) -> int:
    match mood:
        case calm: return 0
        case furios: return 1
        case _: return 2
""",
        """\
enum Mood: calm, furious

pub pure fn f(mood: Mood) -> int:
    match mood:
        case calm: return 0
        case furious: return 1
""",
    ),
    Entry(
        "E0336",
        "a binding among alternatives",
        "`a | b` as a pattern binds no names: it would not be clear which alternative gave the value.",
        "pub pure fn f(n: int) -> int:\n    match n:\n        case 1 | other: return 0\n",
        "pub pure fn f(n: int) -> int:\n    match n:\n        case 1: return 0\n        case other: return "
        "other\n",
    ),
    Entry(
        "E0337",
        "a case that is never reached",
        "The cases or handlers before it take every value that it would.",
        "pub pure fn f(n: int) -> int:\n    match n:\n        case _: return 0\n        case 1: return 1\n",
        "pub pure fn f(n: int) -> int:\n    match n:\n        case 1: return 1\n        case _: return 0\n",
    ),
    Entry(
        "E0338",
        "a match that leaves values out",
        "Every value of the subject needs a case. The witness is one without.",
        """\
pub pure fn f(answer: "yes" | "no" | "maybe") -> int:
    match answer:
        case "yes": return 1
        case "no": return 0
    return 2
""",
        """\
pub pure fn f(answer: "yes" | "no" | "maybe") -> int:
    match answer:
        case "yes": return 1
        case "no": return 0
        case "maybe": return 2
""",
    ),
    Entry(
        "E0339",
        "cannot be assigned to",
        "Only a `var` changes, and the fields, places and keys of records, lists and maps in it.",
        "pub pure fn f() -> int:\n    let n = 1\n    n = 2\n    return n\n",
        "pub pure fn f() -> int:\n    var n = 1\n    n = 2\n    return n\n",
    ),
    Entry(
        "E0340",
        "assigned across a fork",
        "Branches of a fork run side by side, each with its own copy of the variables. A branch gives its "
        "value by "
        "`yield`.",
        """\
pub fn f() -> int:
    var total = 0
    let branches = fork i in 0..<2 seed i:
        | ?{n: int in 0..9}
        total = total + n
        yield n
    return total + len(branches)
""",
        """\
pub fn f() -> int:
    let branches = fork i in 0..<2 seed i:
        | ?{n: int in 0..9}
        yield n
    return sum([branch.value for branch in branches])
""",
    ),
    Entry(
        "E0343",
        "a minimum that no text can reach",
        "A mask allows only what can still be completed, and no text of a run has more than 16,777,216 "
        "characters, items or entries. A maximum may be larger.",
        "pub type book = str min 2147483646 chars\n",
        "pub type book = str min 20 chars max 2147483646 chars\n",
    ),
    Entry(
        "E0341",
        "cases that cannot be judged",
        "Whether the cases of a match leave out a value is found by splitting them part by part. Cases over "
        "many parts of a tuple or record, each of which looks at a few of them, can need exponentially many "
        "groups. So the work is bounded. A last case for any other value, `case _:`, answers the question.",
    ),
    Entry(
        "E0342",
        "a type that nests too deeply",
        "Types nest at most 100 levels, counted through the names in them: each list, map, tuple, `?`, `|`, "
        "field and alias is one. Values have the same limit. A record that contains itself counts once, "
        "however deep its values are.",
        f"pub type Half = {'[' * 50}int{'; 1]' * 50}\npub type Whole = {'[' * 50}Half{'; 1]' * 50}\n",
        "pub record Tree:\n    label: str\n    children: [Tree; ..3]\n",
    ),
    Entry(
        "E0420",
        "a schema text that would be too long",
        "`schema(T)` spells out every type where it is used, so types that use each other twice double the "
        "text at each level. The styles `json` and `typescript` name a type that is used more than once.",
        "record R0:\n    n: int in 0..9\n"
        + "".join(f"record R{i}:\n    a: R{i - 1}\n    b: R{i - 1}\n" for i in range(1, 15))
        + "pub fn f() -> R14:\n    | ${schema(R14)} ?{tree: R14}\n    return tree\n",
        "record Leaf:\n    n: int in 0..9\n\n"
        "pub fn f() -> Leaf:\n    | ${schema(Leaf)} ?{leaf: Leaf}\n    return leaf\n",
    ),
    Entry(
        "E0344",
        "a type that asks for too much work",
        "The automata of types and holes are made when a program is checked. Work is counted, not timed, so "
        "that a program is taken or refused alike on every machine; the message says what spends most of it. "
        "A step (`multiple of`) has at most 10,000 remainders: 20000 is refused, 0.00001 is not.",
        "pub type code = str "
        + " ".join(f"matching /.*{letter}.*/" for letter in "abcdefghijklmnopqrs")
        + " max 60 chars\n",
        "pub type code = str matching /[a-z]*/ max 60 chars\n",
    ),
)
