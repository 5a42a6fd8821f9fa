"""Statements of Python as statements of the language."""

from __future__ import annotations

import ast as python
from collections.abc import Callable
from typing import Any

from sglc.frontend.body import refusals
from sglc.frontend.body.bindings import Choice, choice_of, plain_name
from sglc.frontend.body.context import Context, Untranslatable
from sglc.frontend.body.errors import Errors
from sglc.frontend.body.expressions import Expressions
from sglc.frontend.body.forks import Forks
from sglc.frontend.body.messages import Messages
from sglc.frontend.body.patterns import Patterns
from sglc.frontend.body.text import Piece, Texts, pipe_lines
from sglc.source import Span
from sglc.syntax.tree import ast
from sglc.syntax.tree.spans import moved

_AUGMENTED: dict[type[python.operator], str] = {
    python.Add: "+=",
    python.Sub: "-=",
    python.Mult: "*=",
    python.Div: "/=",
}
Body = tuple[ast.Statement, ...]


class Statements:
    """Translates the statements of one function."""

    def __init__(self, context: Context, expressions: Expressions, texts: Texts) -> None:
        self.context = context
        self.expressions = expressions
        self.texts = texts
        self.patterns = Patterns(context)
        self.errors = Errors(context, expressions)
        self.messages = Messages(context, expressions, texts, self.block)
        self.forks = Forks(context, expressions, self.messages.writes, self.block)

    def block(self, body: list[python.stmt], follows: bool) -> Body:
        """Statements in turn; `follows` tells whether more text of the message may come behind them."""
        made: list[ast.Statement] = []
        place = 0
        while place < len(body):
            end = self._end_of_text(body, place)
            later = follows or any(self.messages.writes(each) for each in body[end:])
            with self.context.reporting():
                if self._is_text(body[place]):
                    made += self._text(body[place:end], later)
                elif self.forks.begins(body[place]):
                    end += 1
                    made.append(self.forks.named(body[place], body[end - 1 : end], later))
                else:
                    made += self.statement(body[place], later)
            place = end
        return tuple(made)

    # -- text ----------------------------------------------------------------------------------------

    def _is_text(self, node: python.stmt) -> bool:
        return (
            isinstance(node, python.AugAssign)
            and self.context.is_state(node.target)
            and not self.messages.is_message(node.value)
        )

    def _end_of_text(self, body: list[python.stmt], place: int) -> int:
        """Behind a statement, or behind all that write text without another one between them."""
        end = place + 1
        if self._is_text(body[place]):
            while end < len(body) and self._is_text(body[end]):
                end += 1
        return end

    def _text(self, run: list[python.stmt], later: bool) -> list[ast.Statement]:
        pieces: list[Piece] = []
        for node in run:
            with self.context.reporting():
                pieces += self._added(node)
        span = self.context.span(run[0]).to(self.context.span(run[-1]))
        lines: list[ast.Statement] = [*pipe_lines(pieces, span, later)]
        for piece in pieces:
            if isinstance(piece, ast.Hole) and piece.name.text in self.context.lists:
                lines.append(self._kept(piece.name))
        return lines

    def _added(self, node: python.stmt) -> list[Piece]:
        """What one `s += …` writes."""
        assert isinstance(node, python.AugAssign)
        if not isinstance(node.op, python.Add):
            raise self.context.refuse(
                "E0508", "text is added by `+=`", node, label="another operator", hint="write `s += …`"
            )
        return self.texts.pieces(node.value)

    def _kept(self, name: ast.Name) -> ast.Statement:
        """`steps = steps + [step]` behind a hole in a loop whose values are read later."""
        span = name.span
        kept = self.context.lists[name.text]
        one = ast.ListDisplay((ast.Reference(name.text, span),), span)
        return ast.Assign(
            ast.Reference(kept, span), "=", ast.Binary("+", ast.Reference(kept, span), one, span), span
        )

    def _lists_before(self, loop: python.For) -> list[ast.Statement]:
        """The empty lists that a loop fills with the values of its holes."""
        made: list[ast.Statement] = []
        for name, kept in self.context.lists.items():
            use = self.context.holes[name]
            if use.loop is not loop:
                continue
            span = self.context.span(use.node)
            _, content = self.texts.holes.content(use.node, use.word)
            item = moved(_plain_type(content, span), lambda inner: inner)
            type = ast.TypeList(item, None, None, span)
            made.append(ast.Let(ast.Name(kept, span), True, type, ast.ListDisplay((), span), span))
        return made

    # -- dispatch ------------------------------------------------------------------------------------

    def statement(self, node: python.stmt, later: bool) -> list[ast.Statement]:
        """What one statement becomes. Raises Untranslatable."""
        found = _TRANSLATED.get(type(node))
        if found is None:
            raise refusals.statement(self.context, node)
        return found(self, node, later)

    def _expression(self, node: python.Expr, later: bool) -> list[ast.Statement]:
        value = node.value
        if isinstance(value, python.Constant) and (value.value is Ellipsis or isinstance(value.value, str)):
            return []
        if isinstance(value, python.Call):
            found = self.messages.statement(value, later)
            if found is not None:
                return [found]
            if id(node) in self.context.bindings:
                return [self._appended(node, value)]
        return [ast.Evaluate(self.expressions.of(value), self.context.span(node))]

    def _appended(self, node: python.Expr, call: python.Call) -> ast.Statement:
        """`xs.append(x)` as `xs = xs + [x]`."""
        span = self.context.span(node)
        assert isinstance(call.func, python.Attribute)
        if len(call.args) != 1 or call.keywords:
            raise self.context.refuse("E0505", f"`{call.func.attr}` takes one value", call)
        target, added = self.expressions.of(call.func.value), self.expressions.of(call.args[0])
        if call.func.attr == "append":
            added = ast.ListDisplay((added,), added.span)
        again = self.expressions.of(call.func.value)
        return ast.Assign(target, "=", ast.Binary("+", again, added, span), span)

    # -- variables -----------------------------------------------------------------------------------

    def _assign(self, node: python.Assign, later: bool) -> list[ast.Statement]:
        if len(node.targets) > 1:
            raise self.context.refuse(
                "E0501",
                "several variables in one assignment have no counterpart in the language",
                node,
                label="not translated",
                hint="write one line for each",
            )
        return self._bound(node.targets[0], None, node.value, node)

    def _annotated(self, node: python.AnnAssign, later: bool) -> list[ast.Statement]:
        if node.value is None:
            raise self.context.refuse(
                "E0501",
                "a variable needs a value",
                node,
                label="only a type",
                hint="write its first value behind it",
            )
        return self._bound(node.target, self.context.type(node.annotation), node.value, node)

    def _bound(
        self,
        target: python.expr,
        type: ast.TypeExpression | None,
        value: python.expr,
        node: python.stmt,
    ) -> list[ast.Statement]:
        context, span = self.context, self.context.span(node)
        if context.is_state(target):
            raise context.refuse(
                "E0508", "the conversation is added to by `+=`", node, label="assigned", hint="write `s += …`"
            )
        if isinstance(target, python.Tuple | python.List):
            return self._unpacked(target, value, node)
        if not isinstance(target, python.Name):
            return [ast.Assign(self.expressions.of(target), "=", self.expressions.of(value), span)]
        name = ast.Name(target.id, context.span(target))
        binding = context.bindings.get(id(target), "let")
        part = self.expressions.calls.part(value) if isinstance(value, python.Call) else None
        if part is not None:
            if binding == "assign":
                raise context.refuse(
                    "E0508",
                    "what a part gives back gets a name of its own",
                    value,
                    label="given to a variable that has a value",
                    hint="choose another name, and assign on the next line",
                )
            return [ast.Part("part", part, name, span)]
        if binding == "let" and self._is_its_hole(target, value):
            return []
        self._rename(target, value)
        made = self.expressions.of(value)
        if binding == "assign":
            return [ast.Assign(ast.Reference(target.id, name.span), "=", made, span)]
        return [ast.Let(name, binding == "var", type, made, span)]

    def _is_its_hole(self, target: python.Name, value: python.expr) -> bool:
        """Whether a variable is bound to the hole of its own name, which it then is: `age = s["age"]`."""
        if not isinstance(value, python.Subscript) or not self.context.is_state(value.value):
            return False
        use = self.context.holes.get(plain_name(value.slice) or "")
        alone = use is not None and use.word != "select" and use.loop is None
        return alone and plain_name(value.slice) == target.id and target.id not in self.context.renamed

    def _rename(self, target: python.Name, value: python.expr) -> None:
        """The hole of `age = s.gen("years")` is called like the variable."""
        for name, use in self.context.holes.items():
            if use.node is value and name != target.id:
                self.context.renamed[name] = target.id

    def _unpacked(
        self, target: python.Tuple | python.List, value: python.expr, node: python.stmt
    ) -> list[ast.Statement]:
        span = self.context.span(node)
        names = self._unpacked_names(target)
        whole = self._fresh("_".join(names))
        made: list[ast.Statement] = [
            ast.Let(ast.Name(whole, span), False, None, self.expressions.of(value), span)
        ]
        return [*made, *self._parts(target, whole)]

    def _unpacked_names(self, target: python.Tuple | python.List) -> list[str]:
        names = []
        for each in target.elts:
            if not isinstance(each, python.Name):
                raise self.context.refuse(
                    "E0501",
                    "only names can stand here",
                    each,
                    label="not translated",
                    hint="take the parts one by one, each on a line of its own",
                )
            names.append(each.id)
        return names

    def _parts(self, target: python.Tuple | python.List, whole: str) -> list[ast.Statement]:
        """The variables of `a, b = …`, each with its part."""
        made: list[ast.Statement] = []
        for place, each in enumerate(target.elts):
            assert isinstance(each, python.Name)
            if each.id == "_":
                continue
            span = self.context.span(each)
            part = ast.Index(ast.Reference(whole, span), ast.Number(place, span), span)
            binding = self.context.bindings.get(id(each), "let")
            if binding == "assign":
                made.append(ast.Assign(ast.Reference(each.id, span), "=", part, span))
            else:
                made.append(ast.Let(ast.Name(each.id, span), binding == "var", None, part, span))
        return made

    def _fresh(self, wanted: str) -> str:
        name = wanted
        while name in self.context.local or name in self.context.holes:
            name += "_"
        self.context.local.add(name)
        return name

    def _augmented(self, node: python.AugAssign, later: bool) -> list[ast.Statement]:
        span = self.context.span(node)
        if self.context.is_state(node.target):
            return [self.messages.added(node)]
        target, value = self.expressions.of(node.target), self.expressions.of(node.value)
        operator = _AUGMENTED.get(type(node.op))
        if operator is not None:
            return [ast.Assign(target, operator, value, span)]
        whole = python.copy_location(python.BinOp(node.target, node.op, node.value), node)
        return [ast.Assign(target, "=", self.expressions.of(whole), span)]

    # -- control flow --------------------------------------------------------------------------------

    def _if(self, node: python.If, later: bool) -> list[ast.Statement]:
        choice = choice_of(node)
        if choice is not None and self.context.bindings.get(id(choice[0].target)) in ("let", "var"):
            return [self._chosen(node, choice)]
        branches = []
        rest: list[python.stmt] = [node]
        while len(rest) == 1 and isinstance(rest[0], python.If):
            one = rest[0]
            branches.append((self.expressions.of(one.test), self.block(one.body, later)))
            rest = one.orelse
        return [ast.If(tuple(branches), self.block(rest, later), self.context.span(node))]

    def _chosen(self, node: python.If, choice: list[Choice]) -> ast.Statement:
        """A variable that gets its first value in the branches of an `if`."""
        target, span = choice[0].target, self.context.span(node)
        value = self.expressions.of(choice[-1].value)
        for each in reversed(choice[:-1]):
            assert each.condition is not None
            condition = self.expressions.of(each.condition)
            value = ast.Conditional(self.expressions.of(each.value), condition, value, span)
        mutable = self.context.bindings[id(target)] == "var"
        return ast.Let(ast.Name(target.id, self.context.span(target)), mutable, None, value, span)

    def _for(self, node: python.For, later: bool) -> list[ast.Statement]:
        self._no_else(node)
        if self.forks.is_fork(node.iter):
            return [self.forks.alone(node, later)]
        span = self.context.span(node)
        made = self._lists_before(node)
        iterable = self.expressions.of(node.iter)
        again = later or any(self.messages.writes(each) for each in node.body)
        first: list[ast.Statement] = []
        if isinstance(node.target, python.Tuple | python.List):
            variable = self._fresh("_".join(self._unpacked_names(node.target)))
            first = self._parts(node.target, variable)
        elif isinstance(node.target, python.Name):
            variable = node.target.id
        else:
            raise self.context.refuse(
                "E0501", "a loop variable is a name", node.target, label="not translated"
            )
        self.context.loops.append(node)
        body = (*first, *self.block(node.body, again))
        self.context.loops.pop()
        name = ast.Name(variable, self.context.span(node.target))
        return [*made, ast.For(name, iterable, body, span)]

    def _while(self, node: python.While, later: bool) -> list[ast.Statement]:
        self._no_else(node)
        conditions = node.test.values if isinstance(node.test, python.BoolOp) else [node.test]
        limits = [each for each in conditions if self._is_limit(each)]
        others = [each for each in conditions if not self._is_limit(each)]
        span = self.context.span(node)
        if len(limits) != 1 or (isinstance(node.test, python.BoolOp) and isinstance(node.test.op, python.Or)):
            raise self.context.refuse(
                "E0501",
                "a `while` needs a limit",
                node.test,
                label="may go on for ever",
                hint="write `while condition and s.limit(10):`; more rounds raise `Budget`",
            )
        call = limits[0]
        assert isinstance(call, python.Call)
        if len(call.args) != 1 or call.keywords:
            raise self.context.refuse(
                "E0505", "`limit` takes a number of rounds", call, label="one number is due"
            )
        condition: ast.Expression = ast.Boolean(True, self.context.span(node.test))
        for number, each in enumerate(others):
            one = self.expressions.of(each)
            condition = one if not number else ast.Binary("and", condition, one, condition.span.to(one.span))
        again = later or any(self.messages.writes(each) for each in node.body)
        limit = self.expressions.of(call.args[0])
        return [ast.While(condition, limit, self.block(node.body, again), span)]

    def _is_limit(self, node: python.expr) -> bool:
        return isinstance(node, python.Call) and self.context.word(node) == "limit"

    def _no_else(self, node: python.For | python.While) -> None:
        if node.orelse:
            raise self.context.refuse(
                "E0501",
                "`else` of a loop has no counterpart in the language",
                node.orelse[0],
                label="not translated",
                hint="keep in a variable whether the loop was left",
            )

    def _match(self, node: python.Match, later: bool) -> list[ast.Statement]:
        subject = self.expressions.of(node.subject)
        cases = []
        for case in node.cases:
            pattern = self.patterns.of(case.pattern)
            guard = None if case.guard is None else self.expressions.of(case.guard)
            span = self.context.span(case.pattern).to(self.context.span(case.body[-1]))
            cases.append(ast.Case(pattern, guard, self.block(case.body, later), span))
        return [ast.Match(subject, tuple(cases), self.context.span(node))]

    def _return(self, node: python.Return, later: bool) -> list[ast.Statement]:
        value = None if node.value is None else self.expressions.of(node.value)
        if value is not None and self.context.node.returns is None:
            raise self.context.refuse(
                "E0510",
                f"`{self.context.node.name}` gives a value back and does not say of which type",
                node,
                label="a value without a type",
                hint=f"write `def {self.context.node.name}(…) -> T:`",
            )
        return [ast.Return(value, self.context.span(node))]

    def _try(self, node: python.Try, later: bool) -> list[ast.Statement]:
        if node.finalbody:
            raise self._refused_part(
                node, node.finalbody[0], "finally", "write it behind the `try`, and in each `except`"
            )
        if node.orelse:
            raise self._refused_part(node, node.orelse[0], "else", "write it at the end of the `try` block")
        body = self.block(node.body, later)
        handlers = tuple(
            ast.Except(
                self.errors.caught(handler),
                None if handler.name is None else self._bound_error(handler),
                self.block(handler.body, later),
                self.context.span(handler),
            )
            for handler in node.handlers
        )
        return [ast.Try(body, handlers, self.context.span(node))]

    def _bound_error(self, handler: python.ExceptHandler) -> ast.Name:
        assert handler.name is not None
        self.context.local.add(handler.name)
        return ast.Name(handler.name, self.context.span(handler))

    def _refused_part(self, node: python.Try, first: python.stmt, word: str, hint: str) -> Untranslatable:
        """The error of a part of `try`, at the line of its word."""
        source = self.context.file.source
        start = self.context.span(first).start
        at = source.text.rfind(word, self.context.span(node).start, start)
        place = Span(source, at, at + len(word)) if at >= 0 else self.context.span(first)
        message = f"`{word}` of a `try` has no counterpart in the language"
        return Untranslatable("E0501", message, place, label="not translated", hint=hint)

    def _assert(self, node: python.Assert, later: bool) -> list[ast.Statement]:
        message = None if node.msg is None else self.expressions.of(node.msg)
        condition = self.expressions.of(node.test)
        return [ast.Ensure(True, None, condition, message, None, None, self.context.span(node))]


def _plain_type(content: Any, span: Span) -> ast.TypeExpression:
    """The type of the values of a hole, without what only says how they are written."""
    if isinstance(content, ast.Gen):
        type = content.type
        return type.base if isinstance(type, ast.TypeRefined) else type
    if isinstance(content.choices, ast.ListDisplay):
        return ast.TypeName("str", (), span)
    return content.choices if hasattr(content.choices, "arguments") else ast.TypeName("str", (), span)


_TRANSLATED: dict[type[python.stmt], Callable[[Statements, Any, bool], list[ast.Statement]]] = {
    python.Expr: Statements._expression,
    python.Assign: Statements._assign,
    python.AnnAssign: Statements._annotated,
    python.AugAssign: Statements._augmented,
    python.If: Statements._if,
    python.For: Statements._for,
    python.While: Statements._while,
    python.Match: Statements._match,
    python.Return: Statements._return,
    python.Try: Statements._try,
    python.Assert: Statements._assert,
    python.With: lambda self, node, later: [self.messages.block(node, later)],
    python.Raise: lambda self, node, later: [self.errors.raised(node)],
    python.Break: lambda self, node, later: [ast.Break(self.context.span(node))],
    python.Continue: lambda self, node, later: [ast.Continue(self.context.span(node))],
    python.Pass: lambda self, node, later: [],
}
"""Statements by their class; those that are not here are refused."""
