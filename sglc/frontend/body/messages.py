"""What is done with the conversation: messages, blocks under `with`, conditions, parts."""

from __future__ import annotations

import ast as python
from collections.abc import Callable

from sglc.frontend.body.context import Context
from sglc.frontend.body.expressions import Expressions
from sglc.frontend.body.text import ROLES, Texts, pipe_lines
from sglc.frontend.core.written import written
from sglc.syntax.tree import ast

Blocks = Callable[[list[python.stmt], bool], tuple[ast.Statement, ...]]
_WRITES = ("gen", "choose", "select", "include", "think")


class Messages:
    """Translates the statements of one function that are about its conversation."""

    def __init__(self, context: Context, expressions: Expressions, texts: Texts, blocks: Blocks) -> None:
        self.context = context
        self.expressions = expressions
        self.texts = texts
        self.blocks = blocks

    def is_message(self, node: python.expr) -> bool:
        """Whether an expression is a whole message: `user("…")`."""
        return isinstance(node, python.Call) and self.context.word(node) in ROLES

    def writes(self, node: python.AST) -> bool:
        """Whether a statement may write text into the message that is open around it."""
        if isinstance(node, python.Call):
            if self.is_message(node):
                return False
            if self.context.word(node) in _WRITES or self._is_part(node):
                return True
        if isinstance(node, python.With) and any(self.is_message(item.context_expr) for item in node.items):
            return False
        if isinstance(node, python.AugAssign) and self.context.is_state(node.target):
            return not self.is_message(node.value)
        return any(self.writes(child) for child in python.iter_child_nodes(node))

    def _is_part(self, node: python.Call) -> bool:
        return (
            bool(node.args)
            and self.context.is_state(node.args[0])
            and written(self.context.meaning(node.func)) is not None
        )

    # -- statements ----------------------------------------------------------------------------------

    def added(self, node: python.AugAssign) -> ast.Statement:
        """`s += user("…")`."""
        assert isinstance(node.value, python.Call)
        return self._message(node.value)

    def _message(self, call: python.Call) -> ast.Statement:
        context, span = self.context, self.context.span(call)
        tools, limit = self._tools(call)
        if len(call.args) != 1:
            raise context.refuse(
                "E0505",
                f"`{context.word(call)}` takes one text",
                call,
                label="one text is due",
                hint="join texts by `+`; as the head of a block it takes none: `with s.user():`",
            )
        pieces = self.texts.pieces(call.args[0])
        body = pipe_lines(pieces, context.span(call.args[0]), False)
        return ast.Role(context.word(call), tuple(body), tools, limit, span, context.span(call.func))

    def _tools(self, call: python.Call) -> tuple[tuple[ast.Expression, ...], ast.Expression | None]:
        """The functions that a message may call, and how often: `assistant(tools=[f, g], limit=4)`."""
        context = self.context
        given = {each.arg or "**": each.value for each in call.keywords}
        wrong = [each for each in call.keywords if each.arg not in ("tools", "limit")]
        if given and (context.word(call) != "assistant" or wrong or "tools" not in given):
            raise context.refuse(
                "E0505",
                "messages of the assistant take `tools=` and `limit=`, others only their text",
                wrong[0].value if wrong else next(iter(given.values())),
                label="not taken here",
                hint="write `s.assistant(tools=[f, g], limit=4)`",
            )
        if not given:
            return (), None
        limit = self.expressions.of(given["limit"]) if "limit" in given else None
        return self._functions(given["tools"]), limit

    def _functions(self, node: python.expr) -> tuple[ast.Expression, ...]:
        """The functions of a list, which is written out or of the module."""
        context = self.context
        found: list[tuple[python.expr, object]]
        if isinstance(node, python.List | python.Tuple):
            found = [(each, context.meaning(each)) for each in node.elts]
        else:
            listed = context.meaning(node)
            found = [(node, each) for each in listed] if isinstance(listed, list | tuple) else []
        if not found:
            raise context.refuse(
                "E0505",
                "`tools` takes a list of functions",
                node,
                label="no list with functions",
                hint="write `tools=[f, g]`",
            )
        function = self.expressions.calls.function
        return tuple(ast.Reference(function(each, value), context.span(each)) for each, value in found)

    def statement(self, call: python.Call, later: bool) -> ast.Statement | None:
        """What a call of the conversation's own becomes; None for any other call."""
        context, span = self.context, self.context.span(call)
        part = self.expressions.calls.part(call)
        if part is not None:
            return ast.Part("part", part, None, span)
        word = context.word(call)
        if word in ROLES:
            return self._message(call)
        match word:
            case "think":
                gen = self.texts.holes.content(call, "gen")[1]
                assert isinstance(gen, ast.Gen)
                return ast.Think(ast.Gen(self._thought(gen), gen.options, span), span)
            case "include":
                return ast.Include(self.texts.holes.constant_text(self._only(call), "a path"), span)
            case "adopt":
                return ast.Adopt(self.expressions.of(self._only(call)), span)
            case "finish":
                value = self.expressions.of(call.args[0]) if call.args else ast.Null(span)
                return ast.Yield(value, span)
            case "ensure" | "check":
                return self._condition(call, word == "ensure")
            case "gen" | "choose" | "select":
                raise context.refuse(
                    "E0508",
                    f"`{word}` writes into the conversation where it is added",
                    call,
                    label="not added",
                    hint="write `s += …` around it, or keep its value: `x = …`",
                )
            case "fork":
                raise context.refuse(
                    "E0508",
                    "the loop behind a fork says what its branches do",
                    call,
                    label="no branches",
                    hint="write `tries = s.fork(3)` and then `for t in tries:`",
                )
        return None

    def _thought(self, gen: ast.Gen) -> ast.TypeExpression:
        """`lines`, as far as a blank line or what `stop` says."""
        lines = ast.TypeLines(gen.span)
        stops = gen.type.refinements if isinstance(gen.type, ast.TypeRefined) else ()
        return ast.TypeRefined(lines, stops or (ast.Until("\n\n", gen.span),), gen.span)

    def _only(self, call: python.Call) -> python.expr:
        if len(call.args) != 1 or call.keywords:
            raise self.context.refuse(
                "E0505", f"`{self.context.word(call)}` takes one value", call, label="one value is due"
            )
        return call.args[0]

    def _condition(self, call: python.Call, hard: bool) -> ast.Statement:
        """`s.ensure(condition, "why", retry=2, strategy="repair")`."""
        context, span = self.context, self.context.span(call)
        given = dict(zip(("condition", "message"), call.args, strict=False))
        given |= {keyword.arg or "": keyword.value for keyword in call.keywords}
        unknown = given.keys() - {"condition", "message", "retry", "strategy"}
        if unknown or "condition" not in given or len(call.args) > 2:
            raise context.refuse(
                "E0505",
                "a condition has a message, a number of retries and a strategy",
                call,
                label="other arguments",
                hint='write `s.ensure(n > 3, "too small", retry=2, strategy="repair")`',
            )
        retry = None
        if "retry" in given:
            holes = self.texts.holes
            strategy = (
                holes.constant_text(given["strategy"], "a strategy") if "strategy" in given else "resample"
            )
            if strategy not in ("resample", "repair"):
                raise context.refuse(
                    "E0505",
                    f"there is no strategy `{strategy}`",
                    given["strategy"],
                    hint="write `resample` or `repair`",
                )
            retry = ast.Retry(self.expressions.of(given["retry"]), strategy, context.span(given["retry"]))
        message = self.expressions.of(given["message"]) if "message" in given else None
        return ast.Ensure(hard, None, self.expressions.of(given["condition"]), message, retry, None, span)

    # -- blocks --------------------------------------------------------------------------------------

    def block(self, node: python.With, later: bool) -> ast.Statement:
        """A block under `with`: a message, or `forget`, `par`, `using`."""
        context, span = self.context, self.context.span(node)
        call = node.items[0].context_expr
        word = context.word(call) if isinstance(call, python.Call) else ""
        if (
            not isinstance(call, python.Call)
            or len(node.items) > 1
            or word not in (*ROLES, "forget", "par", "using")
        ):
            raise context.refuse(
                "E0501",
                "`with` of an object of Python has no counterpart in the language",
                call,
                label="not translated",
                hint="blocks are `with s.user():`, `s.assistant()`, `s.system()`, `s.forget()`, `s.par()` "
                "and "
                '`s.using("model")`; open files before and pass what they hold',
            )
        named = call.keywords if word != "assistant" else []
        if node.items[0].optional_vars is not None or (call.args and word != "using") or named:
            raise context.refuse(
                "E0505",
                f"`with {context.span(call.func).text}():` takes nothing",
                call,
                label="takes nothing",
            )
        if word in ROLES:
            tools, limit = self._tools(call)
            body = self.blocks(node.body, False)
            return ast.Role(word, body, tools, limit, span, context.span(call.func))
        inside = later and word != "forget"
        if word == "forget":
            return ast.Forget(self.blocks(node.body, inside), span)
        if word == "par":
            return ast.Parallel(self.blocks(node.body, later), span)
        models = self.texts.holes.models(self._only(call))
        return ast.Using(models, self.blocks(node.body, later), span)
