"""Prompt lines and statements."""

from __future__ import annotations

from sglc.immutable import node
from sglc.source import Span
from sglc.syntax.tree.expressions import (
    Argument,
    Call,
    Choose,
    Expression,
    Gen,
    ModelClause,
    Name,
    Select,
)
from sglc.syntax.tree.patterns import Pattern
from sglc.syntax.tree.types import TypeExpression


@node
class Text:
    """Literal characters of a pipe line, escapes already resolved."""

    text: str
    span: Span


@node
class Insert:
    """`${expr}`."""

    value: Expression
    span: Span


@node
class Hole:
    """`?{name: Type options}`, `?{name: choose […] …}`, `?{name: select … by …}`."""

    name: Name
    content: Gen | Choose | Select
    span: Span


TextPart = Text | Insert | Hole


@node
class PipeLine:
    """`| text`. `glued` is True when it ends in `\\`: the next pipe line follows without a newline."""

    parts: tuple[TextPart, ...]
    glued: bool
    span: Span


@node
class Include:
    """`include "file.md"`: the file's text as one literal."""

    path: str
    span: Span


@node
class Role:
    """`system:`, `user:`, `assistant:`, `tool:` blocks.

    `tools` and `limit` are those of `assistant with tools […] limit n calls`.
    """

    role: str
    body: tuple[Statement, ...]
    tools: tuple[Expression, ...]
    limit: Expression | None
    span: Span
    keyword: Span
    """The word itself, for messages about the role."""


@node
class Let:
    """`let x: T = e` or `var x = e`."""

    name: Name
    mutable: bool
    type: TypeExpression | None
    value: Expression
    span: Span


@node
class Assign:
    """`target = e` and `target += e`; operator is `=`, `+=`, `-=`, `*=` or `/=`."""

    target: Expression
    operator: str
    value: Expression
    span: Span


@node
class Evaluate:
    """An expression as a statement."""

    value: Expression
    span: Span


@node
class If:
    """`if/elif/else`: branches in order; `otherwise` is empty when there is no else."""

    branches: tuple[tuple[Expression, tuple[Statement, ...]], ...]
    otherwise: tuple[Statement, ...]
    span: Span


@node
class For:
    variable: Name
    iterable: Expression
    body: tuple[Statement, ...]
    span: Span


@node
class While:
    """`while condition limit n:`; more than n rounds raise `Budget`."""

    condition: Expression
    limit: Expression | None
    body: tuple[Statement, ...]
    span: Span


@node
class Case:
    pattern: Pattern
    guard: Expression | None
    body: tuple[Statement, ...]
    span: Span


@node
class Match:
    subject: Expression
    cases: tuple[Case, ...]
    span: Span


@node
class Return:
    value: Expression | None
    span: Span


@node
class Break:
    span: Span


@node
class Continue:
    span: Span


@node
class Raise:
    """`raise E(args)`; `error` is None for a bare `raise` inside `except`."""

    error: Name | None
    arguments: tuple[Argument, ...]
    span: Span


@node
class Except:
    """`except A, B as e:`; no names catch every error of the language."""

    errors: tuple[Name, ...]
    binding: Name | None
    body: tuple[Statement, ...]
    span: Span


@node
class Try:
    body: tuple[Statement, ...]
    handlers: tuple[Except, ...]
    span: Span


@node
class Retry:
    """`retry n resample` or `retry n repair`."""

    count: Expression
    strategy: str
    span: Span


@node
class Ensure:
    """`ensure cond else "why"` (hard) or `check cond` (recorded), with an optional policy.

    `each` is the variable and list of `ensure each c in cs: cond`. `fallback` is the final
    `else raise E(…)` of the policy.
    """

    hard: bool
    each: tuple[Name, Expression] | None
    condition: Expression
    message: Expression | None
    retry: Retry | None
    fallback: Raise | None
    span: Span


@node
class Yield:
    value: Expression
    span: Span


@node
class Adopt:
    value: Expression
    span: Span


@node
class Part:
    """`part f(x)` as a statement: splices the text of part f into the current message.

    `kind` is "part" or "aside".
    """

    kind: str
    call: Call
    binding: Name | None
    span: Span


@node
class Forget:
    body: tuple[Statement, ...]
    span: Span


@node
class Think:
    """`think OPTIONS`: a line that the model writes for itself, of which the program keeps nothing."""

    content: Gen
    span: Span


@node
class Parallel:
    """`par:`."""

    body: tuple[Statement, ...]
    span: Span


@node
class Using:
    """`using big:` as a block."""

    models: ModelClause
    body: tuple[Statement, ...]
    span: Span


@node
class StreamFor:
    """`for p in stream f(x) as value:`; `whole` is the name of the result, None where it has none."""

    variable: Name
    call: Call
    whole: Name | None
    body: tuple[Statement, ...]
    span: Span


# Statements of test blocks.


@node
class Mock:
    """`mock f.hole = value [always]`; without a hole, `mock f = value`: what an `extern py` gives."""

    function: Name
    hole: Name | None
    value: Expression
    always: bool
    span: Span


@node
class Fuzz:
    """`fuzz f(x) times n:`; inside the body `it` is the result."""

    call: Call
    times: Expression
    body: tuple[Statement, ...]
    span: Span


@node
class Expect:
    """`expect cond`."""

    condition: Expression
    span: Span


@node
class ExpectRaises:
    """`expect raises E: call`."""

    error: Name
    call: Expression
    span: Span


@node
class Golden:
    """`golden f(x)`."""

    call: Call
    span: Span


@node
class Replay:
    """`replay "trace"`."""

    path: str
    span: Span


Statement = (
    PipeLine | Include | Role | Let | Assign | Evaluate | If | For | While | Match | Return | Break
    | Continue | Raise | Try | Ensure | Yield | Adopt | Part | Forget | Think | Parallel | Using
    | StreamFor | Mock | Fuzz | Expect | ExpectRaises | Golden | Replay
)  # fmt: skip
