"""Catalogue entries of the checker: functions, conversations and tests (E04xx), warnings (W02xx)."""

from __future__ import annotations

from sglc.diagnostics.catalogue.entry import Entry

_ASK = "fn ask(s: str) -> str:\n    user: | ${s}\n    assistant: | ?{a: str max 9 chars}\n    return a\n\n"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "E0401",
        "a part is no function",
        "A `part` writes into the caller's message and stands after the word `part`; a `fn` has its own "
        "conversation "
        "and is called by its name.",
        'part intro(name: str):\n    | Hello ${name}.\n\npub fn f() -> str:\n    intro("Ada")\n'
        "    | ?{x: str max 20 chars}\n    return x\n",
        'part intro(name: str):\n    | Hello ${name}.\n\npub fn f() -> str:\n    part intro("Ada")\n'
        "    | ?{x: str max 20 chars}\n    return x\n",
    ),
    Entry(
        "E0402",
        "a pure function that asks a model",
        "A `pure fn` depends on its arguments only: it calls pure functions and built-in ones.",
        "fn ask() -> int:\n    | ?{n: int}\n    return n\n\npub pure fn f() -> int:\n    return ask() + 1\n",
        "fn ask() -> int:\n    | ?{n: int}\n    return n\n\npub fn f() -> int:\n    return ask() + 1\n",
    ),
    Entry(
        "E0403",
        "nothing to raise again",
        "`raise` without an error stands inside `except` and raises the error that this arm caught again.",
        "pub fn f():\n    raise\n",
        'pub fn f():\n    raise Failure("no luck")\n',
    ),
    Entry(
        "E0404",
        "a hole where no model is asked",
        "Holes and forks stand in functions and parts that have a conversation.",
        "pub pure fn f() -> int:\n    let n = gen int in 0..9\n    return n\n",
        "pub fn f() -> int:\n    let n = gen int in 0..9\n    return n\n",
    ),
    Entry(
        "E0405",
        "a hole outside the assistant's text",
        "In a conversation only the assistant's messages are generated.",
        "pub fn f() -> int:\n    user: | A number: ?{n: int}\n    return n\n",
        "pub fn f() -> int:\n    user: | A number, please.\n    assistant: | ?{n: int}\n    return n\n",
    ),
    Entry(
        "E0406",
        "prompt text without a conversation",
        "Pipe lines, roles and parts stand in functions and parts, not in pure functions and tests.",
        "pub pure fn f() -> int:\n    | Hello.\n    return 1\n",
        "pub pure fn f() -> int:\n    return 1\n",
    ),
    Entry(
        "E0407",
        "text outside the roles",
        "In a function with role blocks all text belongs to one of them.",
        "pub fn f() -> int:\n    | Answer briefly.\n    user: | A number?\n    assistant: | ?{n: int}\n    "
        "return n\n",
        "pub fn f() -> int:\n    system: | Answer briefly.\n    user: | A number?\n    assistant: | ?{n: "
        "int}\n"
        "    return n\n",
    ),
    Entry(
        "E0408",
        "a role in the wrong place",
        "Roles are `system`, `user` and `assistant`; they do not nest and do not stand in parts.",
        "pub fn f() -> int:\n    user:\n        | A number?\n        assistant: | ?{n: int}\n    return n\n",
        "pub fn f() -> int:\n    user:\n        | A number?\n    assistant: | ?{n: int}\n    return n\n",
    ),
    Entry(
        "E0409",
        "a loop without an end",
        "`while condition limit n:` ends after n rounds at the latest; more raise `Budget`.",
        "pub pure fn f() -> int:\n    var n = 9\n    while n > 3:\n        n -= 1\n    return n\n",
        "pub pure fn f() -> int:\n    var n = 9\n    while n > 3 limit 10:\n        n -= 1\n    return n\n",
    ),
    Entry(
        "E0410",
        "a return that cannot be",
        "A test returns nothing; a branch of a fork gives its value by `yield`.",
        'test "one":\n    return 1\n',
        'test "one":\n    expect 1 == 1\n',
    ),
    Entry(
        "E0411",
        "outside any loop",
        "`break` and `continue` belong to the nearest `for` or `while`. A fork is no loop.",
        "pub pure fn f(n: int) -> int:\n    if n > 1: break\n    return n\n",
        "pub pure fn f(n: int) -> int:\n    if n > 1: return 1\n    return n\n",
    ),
    Entry(
        "E0412",
        "a policy that cannot be",
        "`retry n resample` draws the hole again without the rejected values, `retry n repair` shows the "
        "model what was "
        "wrong and needs roles; n is 1 to 100. Only `ensure` fails, so only it ends with `else raise`.",
        """\
pub fn f() -> int:
    | ?{n: int in 0..9}
    ensure n > 4 else "too small"
        retry 2 repair
    return n
""",
        """\
pub fn f() -> int:
    | ?{n: int in 0..9}
    ensure n > 4 else "too small"
        retry 2 resample
    return n
""",
    ),
    Entry(
        "E0413",
        "no hole to draw again",
        "The condition of an `ensure` or `check` with `retry` mentions the hole to be drawn again, which "
        "stands in the "
        "same block or one around it, without a loop, fork or `try` between.",
        """\
pub fn f(top: int) -> int:
    | ?{n: int in 0..9}
    ensure top > 4 else "too small"
        retry 2 resample
    return n
""",
        """\
pub fn f(top: int) -> int:
    | ?{n: int in 0..9}
    ensure n < top else "too large"
        retry 2 resample
    return n
""",
    ),
    Entry(
        "E0414",
        "no branch",
        "`yield` stands in the body of a fork, `adopt` takes one of its branches.",
        """\
pub fn f() -> int:
    let branches = fork i in 0..<2 seed i:
        | ?{n: int in 0..9}
        yield n
    adopt branches
    return 1
""",
        """\
pub fn f() -> int:
    let branches = fork i in 0..<2 seed i:
        | ?{n: int in 0..9}
        yield n
    adopt branches.max(by = value)
    return 1
""",
    ),
    Entry(
        "E0415",
        "only in tests",
        "`mock`, `fuzz` and `expect` stand in `test` blocks.",
        "pub fn f() -> int:\n    | ?{n: int}\n    expect n > 0\n    return n\n",
        'pub fn f() -> int:\n    | ?{n: int}\n    ensure n > 0 else "not above zero"\n    return n\n',
    ),
    Entry(
        "E0416",
        "a budget where no model is asked",
        "`within n tok` bounds the tokens of a `fn`; a part spends its caller's, a pure function none.",
        "pub pure fn f() -> int within 10 tok:\n    return 1\n",
        "pub pure fn f() -> int:\n    return 1\n",
    ),
    Entry(
        "E0417",
        "an end without a result",
        "Each way through a function with a result ends in `return` or `raise`.",
        "pub pure fn f(n: int) -> int:\n    if n > 0: return n\n",
        "pub pure fn f(n: int) -> int:\n    if n > 0: return n\n    return 0\n",
    ),
    Entry(
        "E0418",
        "an error that is not listed",
        "A header that has `raises` lists all declared errors that leave the function. Without it they are "
        "inferred. Built-in errors need not be listed.",
        "error Stuck(at: int)\nerror Small\n\npub pure fn f(n: int) -> int raises Small:\n    if n < 0: "
        "raise Small\n    if n > 9: raise Stuck(n)\n    return n\n",
        "error Stuck(at: int)\n\npub pure fn f(n: int) -> int raises Stuck:\n    if n > 9: raise "
        "Stuck(n)\n    return n\n",
    ),
    Entry(
        "E0419",
        "messages out of order",
        "The system message is one, and the first of the conversation.",
        "pub fn f() -> int:\n    user: | A number?\n    system: | Be brief.\n    assistant: | ?{n: int}\n  "
        "  return n\n",
        "pub fn f() -> int:\n    system: | Be brief.\n    user: | A number?\n    assistant: | ?{n: int}\n  "
        "  return n\n",
    ),
    Entry(
        "W0201",
        "a name that is never used",
        "A variable, parameter, import or private helper that nothing reads. A name that begins with `_` "
        "is meant so.",
        "pub pure fn f(n: int, m: int) -> int:\n    return n\n",
        "pub pure fn f(n: int, _m: int) -> int:\n    return n\n",
    ),
    Entry(
        "W0202",
        "a value that is not used",
        "A line that only computes a value has no effect. Values do not change: `xs.sort()` gives a new "
        "list. Calls are told of where nothing is done but computing, and where none is there for its "
        "errors, as `int(text)` and functions with `raise`, `ensure` or `check` may be.",
        "pub pure fn f(n: int) -> int:\n    n + 1\n    return n\n",
        "pub pure fn f(n: int) -> int:\n    return n + 1\n",
    ),
    Entry(
        "W0203",
        "never run",
        "The statement before always leaves the block.",
        "pub pure fn f(n: int) -> int:\n    return n\n    return 0\n",
        "pub pure fn f(n: int) -> int:\n    return n\n",
    ),
    Entry(
        "W0204",
        "an empty range",
        "`a..b` goes from a up to b and includes it, `a..<b` leaves b out. A range does not count down.",
        "pub pure fn f() -> [int]:\n    return [n for n in 5..1]\n",
        "pub pure fn f() -> [int]:\n    return [n for n in 1..5]\n",
    ),
    Entry(
        "W0205",
        "nothing marks the end of a hole",
        "A value or hole follows directly, so the model can end the value only by a newline, which is left "
        "out.",
        "pub fn f(unit: str) -> int:\n    | ?{n: int}${unit}\n    return n\n",
        "pub fn f(unit: str) -> int:\n    | ?{n: int} ${unit}\n    return n\n",
    ),
    Entry(
        "W0206",
        "an unfair comparison of options",
        "The mean over tokens makes the sure tail of a long option count for its start.",
        'pub fn f() -> str:\n    | ?{x: select ["no", "yes, as soon as possible"] by mean}\n    return '
        "x.top\n",
        'pub fn f() -> str:\n    | ?{x: select ["no", "yes, as soon as possible"] by greedy}\n    return '
        "x.top\n",
    ),
    Entry(
        "W0207",
        "a shape that is never shown",
        "A model writes a record or union better when `schema(T)` in the text before has shown it.",
        "record Point:\n    x: int\n    y: int\n\npub fn f() -> Point:\n    | A point: ?{point: Point}\n   "
        " return point\n",
        "record Point:\n    x: int\n    y: int\n\npub fn f() -> Point:\n    | A point like "
        "${schema(Point)}: ?{point: Point}\n"
        "    return point\n",
    ),
    Entry(
        "E0440",
        "an `extern py` that names no function",
        'It names a function of Python as `"module:function"`. `timeout` is a number of seconds, as in '
        "`timeout 2.5 s`, and `key` a parameter that tells one `write` from another.",
        'extern py "tools.double" fn double(n: int) -> int effects pure\n\n'
        "pub fn f() -> int:\n    return double(2)\n",
        'extern py "tools:double" fn double(n: int) -> int effects pure\n\n'
        "pub fn f() -> int:\n    return double(2)\n",
    ),
    Entry(
        "E0442",
        "a function that the model cannot call",
        "A tool is a `fn`, a `pure fn` or an `extern py` by its name, each parameter of a type with a "
        "bound, for "
        "the model writes the arguments. `answer` and `tool` are words of the calls themselves. The limit "
        "is 1 to 100 "
        "calls. Tools are called by the run's own model, outside of forks, and all messages of a function "
        "have the same ones: a `fn` of its own has others.",
        "pub pure fn shout(text: str) -> str:\n    return text.upper()\n\npub fn f() -> int:\n"
        "    user: | A number?\n    assistant with tools [shout] limit 2 calls: | ?{n: int}\n    return n\n",
        "pub pure fn shout(text: str max 80 chars) -> str:\n    return text.upper()\n\npub fn f() -> int:\n"
        "    user: | A number?\n    assistant with tools [shout] limit 2 calls: | ?{n: int}\n    return n\n",
    ),
    Entry(
        "W0208",
        "an error that is never raised",
        "The header lists, or a handler catches, a declared error that nothing there raises.",
        "error Stuck\n\npub pure fn f(n: int) -> int raises Stuck:\n    return n\n",
        "error Stuck\n\npub pure fn f(n: int) -> int raises Stuck:\n    if n < 0: raise Stuck\n    return "
        "n\n",
    ),
    Entry(
        "W0209",
        "a condition that always fails",
        "No value that can come here meets the condition of this `ensure` or `check`: it is the constant "
        "false, or the types of what it compares, and the conditions before it, leave no such value.",
        'pub pure fn f(n: int) -> int:\n    ensure 1 > 2 else "never"\n    return n\n',
        'pub pure fn f(n: int) -> int:\n    ensure n > 2 else "too small"\n    return n\n',
    ),
    Entry(
        "W0210",
        "two tests of one title",
        "Titles tell tests apart in reports.",
        'test "one":\n    expect 1 == 1\n\ntest "one":\n    expect 2 == 2\n',
        'test "one":\n    expect 1 == 1\n\ntest "two":\n    expect 2 == 2\n',
    ),
    Entry(
        "W0211",
        "the assistant speaks first",
        "Most chat templates expect a user's message before the first of the assistant.",
        "pub fn f() -> int:\n    assistant: | ?{n: int}\n    return n\n",
        "pub fn f() -> int:\n    user: | A number?\n    assistant: | ?{n: int}\n    return n\n",
    ),
    Entry(
        "W0212",
        "two messages of one role in a row",
        "They reach the model as two turns; one block makes one message.",
        "pub fn f() -> int:\n    user: | Good morning.\n    user: | A number?\n    assistant: | ?{n: "
        "int}\n    return n\n",
        "pub fn f() -> int:\n    user:\n        | Good morning.\n        | A number?\n    assistant: | "
        "?{n: int}\n    return n\n",
    ),
    Entry(
        "E0421",
        "statements under `par` that wait for each other",
        "`par` holds calls that run at the same time, and values that are computed of each. None may read "
        "what another one of the block sets, and text, holes and control flow have an order of their own.",
        _ASK + 'pub fn f() -> str:\n    par:\n        let a = ask("x")\n        let b = ask(a)\n'
        "    return b\n",
        _ASK + 'pub fn f() -> str:\n    par:\n        let a = ask("x")\n        let b = ask("y")\n'
        "    return a + b\n",
    ),
    Entry(
        "E0470",
        "a stream of what no `fn` returns",
        "`for p in stream f(x)` shows the result of a `fn` while its model writes it. A part writes into the "
        "conversation around it, a `pure fn` is asked nothing, and without a result there is nothing to see.",
        _ASK + "pure fn twice(s: str) -> str:\n    return s + s\n\npub fn f() -> int:\n    var n = 0\n"
        '    for p in stream twice(ask("x")):\n        n += len(p)\n    return n\n',
        _ASK + 'pub fn f() -> int:\n    var n = 0\n    for p in stream ask("x"):\n        n += len(p)\n'
        "    return n\n",
    ),
    Entry(
        "E0471",
        "a run that cannot be held against an earlier one",
        "`golden f(x)` keeps what the holes of a call are asked, so it takes a call of a function. `replay` "
        "takes the trace of a run, by a path that begins beside the program and does not leave that folder.",
        _ASK + 'test "same":\n    replay "../run.jsonl"\n',
        _ASK + 'test "same":\n    mock ask.a = "x"\n    golden ask("?")\n',
    ),
    Entry(
        "W0247",
        "a stream of which only the end is seen",
        "Parts are seen of a function that returns what one of its holes was filled with: every `return` in "
        "it names that hole. Of any other the loop has one round, with the whole value.",
        _ASK + "fn loud(s: str) -> str:\n    return ask(s).upper()\n\npub fn f() -> int:\n    var n = 0\n"
        '    for p in stream loud("x"):\n        n += len(p)\n    return n\n',
        _ASK + 'pub fn f() -> int:\n    var n = 0\n    for p in stream ask("x"):\n        n += len(p)\n'
        "    return n\n",
    ),
    Entry(
        "E0430",
        "a type parameter that is not known",
        "What stands for `T` in a call of `fn f[T](…)` follows from the arguments, or from the type that is "
        "expected of the result. It is one type that holds all of them, of plain values. Otherwise write it: "
        "`f[int](…)`.",
        "pure fn none[T]() -> [T]:\n    return []\n\npub pure fn f() -> int:\n    let xs = none()\n    "
        "return len(xs)\n",
        "pure fn none[T]() -> [T]:\n    return []\n\npub pure fn f() -> int:\n    let xs = none[int]()\n    "
        "return len(xs)\n",
    ),
    Entry(
        "E0431",
        "types of a call that do not fit",
        "`f[T](…)` has one type for each type parameter of the function: a name, a literal, or a list, tuple "
        "or map of these. Any other type gets a name by `type`.",
        "pure fn same[T](x: T) -> T:\n    return x\n\npub pure fn f() -> int:\n    return same[int, str]"
        "(1)\n",
        "pure fn same[T](x: T) -> T:\n    return x\n\npub pure fn f() -> int:\n    return same[int](1)\n",
    ),
    Entry(
        "E0433",
        "a function that is given as a value",
        "`x => …` says what a method of lists does with each item: `xs.map(x => x * 2)`. Functions are no "
        "values: they are not kept, and not passed to other functions.",
        "pure fn twice(x: int) -> int:\n    return 2 * x\n\npub pure fn f() -> int:\n    return twice(x => "
        "x)\n",
        "pub pure fn f(xs: [int]) -> [int]:\n    return xs.map(x => 2 * x)\n",
    ),
    Entry(
        "E0432",
        "a function that is called with too many types",
        "A function with type parameters is copied for each list of types that it is called with: a hundred "
        "times at most, and for types of at most 200 parts. One that calls itself with a type made of its "
        "own would never have enough.",
        "pure fn deep[T](x: T, n: int) -> int:\n    if n == 0: return 0\n    return deep([x], n - 1)\n\n"
        "pub pure fn f() -> int:\n    return deep(1, 3)\n",
        "pure fn deep[T](x: T, n: int) -> int:\n    if n == 0: return 0\n    return deep(x, n - 1)\n\n"
        "pub pure fn f() -> int:\n    return deep(1, 3)\n",
    ),
)
