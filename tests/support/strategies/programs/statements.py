"""Random statements of random programs, as lines of source text."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from strategies.programs.expressions import MOODS, WORDS, call, expression, items
from strategies.programs.scope import MOST_ITEMS, TYPES, Writer

Lines = list[str]
Statement = Callable[[Writer, int], Lines]


def statements(writer: Writer, depth: int, most: int = 3) -> Lines:
    """Up to so many statements, at least one; `depth` is how deep they may nest."""
    lines: Lines = []
    for _ in range(1 + writer.upto(most - 1)):
        lines += _statement(writer, depth)
    return lines


def _statement(writer: Writer, depth: int) -> Lines:
    writer.size += 1
    deeper = depth > 0 and writer.size < 40
    return writer.one_of(*_choices(writer, deeper))(writer, depth - 1)


def _choices(writer: Writer, deeper: bool) -> Iterator[Statement]:
    scope = writer.scope
    yield from (_let, _let, _let)
    if writer.callable(("fn",)):
        yield from (_asked, _asked, _asked, _asked_together, _asked_together)
    if scope.changing:
        yield _assign
    if scope.role:
        yield from (_text, _text)
        if any(part.writes in ("user", scope.role) for part in writer.callable(("part",))):
            yield _part
    if scope.role == "assistant" and writer.affords(1):
        yield from (_hole, _hole, _hole)
        if scope.holes:
            yield from (_ensure, _ensure)
    if scope.kind in ("fn", "fork") and not scope.role:
        yield from (_message, _message)
    if deeper:
        yield from (_if, _for, _collecting, _try)
        if scope.role:
            yield _forget
        if not scope.role:
            yield from (_match, _while)
        if scope.kind == "fn" and not scope.role and not scope.in_loop:
            yield _fork


def body(lines: Lines) -> Lines:
    """The lines of a block, indented."""
    return [f"    {line}" for line in lines]


def _block(writer: Writer, depth: int, most: int = 3) -> Lines:
    with writer.block():
        writer.scope.holes = []  # a retry goes back to holes of its own block only
        return body(statements(writer, depth, most))


# -- variables -------------------------------------------------------------------------------------


def _let(writer: Writer, depth: int) -> Lines:
    type = writer.one_of("int", "int", "str", "str", "ints", "strs", "bool", "card", "pair", "mood")
    value = expression(writer, type, 2)
    name = writer.fresh("v")
    writer.scope.variables[name] = type
    if writer.chance(25):
        writer.scope.changing.add(name)
        return [f"var {name}: {TYPES[type]} = {value}"]
    return [f"let {name}: {TYPES[type]} = {value}"]


def _asked(writer: Writer, depth: int) -> Lines:
    """A call of a function with a conversation of its own."""
    callee = writer.one_of(*writer.callable(("fn",)))
    name = writer.fresh("v")
    value = call(writer, callee, 1)
    writer.scope.variables[name] = callee.result
    return [f"let {name} = {value}"]


def _asked_together(writer: Writer, depth: int) -> Lines:
    """Several calls in one expression: a list, a text, or one for each item of a list."""
    callee = writer.one_of(*writer.callable(("fn",)))
    name = writer.fresh("v")
    kind = writer.one_of("list", "text", "each")
    if kind == "each" and writer.affords(callee.holes * MOST_ITEMS):
        type = writer.one_of("int", "str")
        over = items(writer, type, 1)
        variable = writer.fresh("x")
        with writer.block():
            writer.scope.variables[variable] = type
            with writer.repeated(MOST_ITEMS):
                condition = f" if {expression(writer, 'bool', 1)}" if writer.chance(30) else ""
                value = call(writer, callee, 1)
        return [f"let {name} = [{value} for {variable} in {over}{condition}]"]
    values = []
    while len(values) < 3 and writer.affords(callee.holes):
        values.append(call(writer, callee, 1))
    if kind != "text":
        return [f"let {name} = [{', '.join(values)}]"]
    writer.scope.variables[name] = "str"
    return [f'let {name} = "{" and ".join(f"${{{value}}}" for value in values)}"']


def _assign(writer: Writer, depth: int) -> Lines:
    name = writer.one_of(*sorted(writer.scope.changing))
    type = writer.scope.variables[name]
    if type == "card" and writer.chance(50):
        return [f"{name}.score = ({expression(writer, 'int', 1)} % 10)"]
    if type == "ints" and writer.chance(50):
        return [f"{name}[0] = {expression(writer, 'int', 1)}"]
    if type == "int" and writer.chance(50):
        return [f"{name} += {expression(writer, 'int', 1)}"]
    return [f"{name} = {expression(writer, type, 2)}"]


# -- text ------------------------------------------------------------------------------------------


def _message(writer: Writer, depth: int) -> Lines:
    role = writer.one_of("user", "assistant", "assistant")
    with writer.block(role):
        lines = body(statements(writer, depth))
        holes = {name: type for name, type in writer.scope.variables.items() if name.startswith("h_")}
    writer.scope.variables.update(holes)  # they stay in sight behind the message
    return [f"{role}:", *lines]


def _text(writer: Writer, depth: int) -> Lines:
    parts = [writer.one_of(*WORDS)]
    for _ in range(writer.upto(2)):
        type = writer.one_of(*TYPES)
        parts.append(f"${{{expression(writer, type, 1)}}}")
    return [f"| said {' '.join(part for part in parts if part)}"]


def _part(writer: Writer, depth: int) -> Lines:
    known = [part for part in writer.callable(("part",)) if part.writes in ("user", writer.scope.role)]
    part = writer.one_of(*known)
    writer.spend(part.holes)
    writer.forks = writer.forks or part.forks
    writer.raises = writer.raises or part.raises
    arguments = ", ".join(expression(writer, type, 1) for type in part.parameters)
    name = writer.fresh("v")
    writer.scope.variables[name] = part.result
    return [f"let {name} = {'aside' if writer.chance(30) else 'part'} {part.name}({arguments})"]


# -- holes -----------------------------------------------------------------------------------------


def _hole(writer: Writer, depth: int) -> Lines:
    name = writer.fresh("h")
    heat = writer.one_of("", " temp 1", " temp 1")
    number = f"{writer.upto(9)}"
    known = writer.scope.of("int")
    type, value = writer.one_of(
        (f"int in 0..9{heat}", "int"),
        (f"int in 0..99{heat}", "int"),
        (f"str max 5 chars{heat}", "str"),
        (f'str until "." max 4 tok{heat}', "str"),
        (f"bool{heat}", "bool"),
        (f"Mood{heat}", "mood"),
        (f"Card{heat}", "card"),
        (f"[int in 0..9; 1..3]{heat}", "ints"),
        (f"[str max 2 chars; 1..2] max 9 tok{heat}", "strs"),
        (f"(int in 0..9, str max 2 chars){heat}", "pair"),
        (f"int in 0..9 n 2{heat}", "ints"),
        (f"int in 0..9 where it != {known[-1] if known else number}{heat}", "int"),
        (f'choose ["a", "be"]{heat}', "str"),
    )
    writer.spend(1)
    writer.scope.variables[name] = value
    writer.scope.holes.append((name, value))
    dot = "." if "until" in type else ""
    lines = [f"| {writer.one_of('', 'is ')}?{{{name}: {type}}}{dot}"]
    if writer.chance(30):
        # What stands between a hole and its condition is done again with it.
        between = _asked(writer, depth) if writer.callable(("fn",)) and writer.chance(40) else []
        lines += [*between, *condition_of_hole(writer, name, value)]
    return lines


def _ensure(writer: Writer, depth: int) -> Lines:
    return condition_of_hole(writer, *writer.scope.holes[writer.upto(len(writer.scope.holes) - 1)])


def condition_of_hole(writer: Writer, name: str, type: str) -> Lines:
    """What the value of a hole of the open message must be, else it is an error or drawn again."""
    condition = {
        "int": f"{name} > {writer.upto(9)}",
        "str": f"len({name}) > {writer.upto(4)}",
        "bool": name,
        "mood": f"{name} != Mood.{writer.one_of(*MOODS)}",
        "card": f"{name}.score > {writer.upto(9)}",
        "ints": f"sum({name}) > {writer.upto(9)}",
        "strs": f"len({name}) > {1 + writer.upto(1)}",
        "pair": f"{name}[0] > {writer.upto(9)}",
    }[type]
    if writer.chance(30):
        return [f'check {condition} else "not so"']
    lines = [f'ensure {condition} else "no {writer.upto(9)}"']
    if writer.chance(70) and writer.affords(2):
        writer.spend(2)
        strategies = ("resample",) if writer.scope.kind == "part" else ("resample", "repair")
        lines.append(f"    retry 2 {writer.one_of(*strategies)}")
    return lines


# -- control flow ----------------------------------------------------------------------------------


def _if(writer: Writer, depth: int) -> Lines:
    lines = [f"if {expression(writer, 'bool', 2)}:"]
    with writer.block():
        writer.scope.holes = []
        lines += body(statements(writer, depth, 2))
        leaving = _leaving(writer)
    lines += body(leaving)
    if writer.chance(50):
        lines += ["else:", *_block(writer, depth, 2)]
    return lines


def _leaving(writer: Writer) -> Lines:
    """Maybe a statement that leaves a loop, the function or, by an error, more."""
    scope = writer.scope
    if scope.in_loop and not scope.role and writer.chance(30):
        return [writer.one_of("break", "continue")]
    if not scope.role and scope.kind == "fork" and writer.chance(15):
        return [f"yield {expression(writer, 'int', 1)}"]
    if writer.chance(15):
        writer.raises = True
        return [f"raise Odd({expression(writer, 'int', 1)})"]
    return []


def _for(writer: Writer, depth: int) -> Lines:
    type = writer.one_of("int", "str")
    over = items(writer, type, 1)
    variable = writer.fresh("x")
    with writer.block():
        writer.scope.variables[variable] = type
        writer.scope.holes = []
        with writer.repeated(MOST_ITEMS):
            lines = body(statements(writer, depth, 2))
    return [f"for {variable} in {over}:", *lines]


def _collecting(writer: Writer, depth: int) -> Lines:
    """A loop that appends to a list."""
    type, list_type = writer.one_of(("int", "ints"), ("str", "strs"))
    over = items(writer, type, 1)
    found, variable = writer.fresh("found"), writer.fresh("x")
    with writer.block():
        writer.scope.variables[variable] = type
        with writer.repeated(MOST_ITEMS):
            writer.scope.holes = []
            before = body(statements(writer, 0, 1)) if writer.chance(40) else []
            value = expression(writer, type, 2)
    writer.scope.variables[found] = list_type
    return [
        f"var {found}: {TYPES[list_type]} = []",
        f"for {variable} in {over}:",
        *before,
        f"    {found} = {found} + [{value}]",
    ]


def _while(writer: Writer, depth: int) -> Lines:
    left = writer.fresh("left")
    limit = 2 + writer.upto(2)
    writer.scope.variables[left] = "int"
    with writer.repeated(limit):
        lines = _block(writer, depth, 2)
    return [
        f"var {left} = {1 + writer.upto(3)}",
        f"while {left} > 0 limit {limit}:",
        f"    {left} -= 1",
        *lines,
    ]


def _match(writer: Writer, depth: int) -> Lines:
    lines = [f"match {expression(writer, 'mood', 1)}:"]
    for mood in MOODS:
        lines += [f"    case {mood}:", *body(_block(writer, depth, 1))]
    return lines


def _try(writer: Writer, depth: int) -> Lines:
    raised = writer.raises
    tried = _block(writer, depth)
    every = writer.chance(60)
    if every:
        writer.raises = raised
    name = writer.fresh("e")
    handled = _block(writer, 0, 1)
    if writer.chance(20):
        handled += ["    raise"]
        writer.raises = True
    if every:
        return ["try:", *tried, "except:", *handled]
    return ["try:", *tried, f"except Odd as {name}:", *handled, f"    let {name}_n = {name}.n"]


def _forget(writer: Writer, depth: int) -> Lines:
    return ["forget:", *_block(writer, depth, 2)]


def _fork(writer: Writer, depth: int) -> Lines:
    """Branches that fail are left out, so that no error of one depends on how fast the others are."""
    variable, tries = writer.fresh("i"), writer.fresh("tries")
    writer.forks = True
    scope = writer.scope
    before = scope.kind
    raised = writer.raises
    with writer.block():
        scope.kind = "fork"
        scope.variables[variable] = "int"
        scope.changing = set()
        with writer.repeated(2):
            writer.scope.in_loop = False
            lines = body(statements(writer, min(depth, 1)))
            value = expression(writer, "int", 1)
        scope.kind = before
    writer.raises = raised
    seed = writer.one_of("", f" seed {variable}")
    return [
        f"let {tries} = fork {variable} in 0..<2{seed} or skip:",
        *lines,
        f"    yield {value}",
        *([f"if len({tries}) > 0:", f"    adopt {tries}[0]"] if writer.chance(60) else []),
    ]
