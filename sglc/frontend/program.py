"""A decorated function, with all that it names, as one module of the language."""

from __future__ import annotations

import ast as python
import inspect
from dataclasses import dataclass, field

from sglc.diagnostics.diagnostic import Diagnostic, has_errors
from sglc.frontend.body.context import Context, Untranslatable
from sglc.frontend.body.function import read_body, read_default
from sglc.frontend.core.findings import Findings
from sglc.frontend.core.outside import MISSING, Outside
from sglc.frontend.core.source import NOWHERE, FunctionNode, NoSource, PythonFile, function_node
from sglc.frontend.core.written import WrittenFunction, written
from sglc.frontend.docstring import read_docstring
from sglc.frontend.types.annotations import PLAIN, Annotations
from sglc.frontend.types.called import CalledFunctions
from sglc.frontend.types.classes import hints_of
from sglc.frontend.types.constraints import NoType
from sglc.frontend.types.declared import Declared
from sglc.source import Source, Span
from sglc.syntax.tree import ast

BUILT_IN = {*PLAIN.values(), "lines", "json"}
"""Names of types that nothing of the module takes the place of."""


@dataclass(slots=True, eq=False)
class ReadProgram:
    """What was read: the tree, what was found, and the Python side of its types."""

    source: Source
    tree: ast.Module
    diagnostics: list[Diagnostic]
    classes: dict[str, type] = field(default_factory=dict)
    """The user's classes by the names of the declared types."""
    hints: dict[str, object] = field(default_factory=dict)
    """Annotations of the main function: of its parameters, and under `return` of its result."""
    statements: list[Span] = field(default_factory=list)
    """Places of functions that are written in Python statements."""
    called: CalledFunctions | None = None
    """The functions of Python that it calls."""


def read_program(main: WrittenFunction) -> ReadProgram:
    """The program of a function. Nothing of it is run; what cannot be translated is found."""
    return _Reader().read(main)


ASKED = "Asked"
"""What a type is declared as that was given by itself."""


def read_type(annotation: object) -> ReadProgram:
    """A program that declares a type of Python as `Asked`. Raises NoType."""
    reader = _Reader()
    span = Span(NOWHERE, 0, 0)
    found = reader.annotations.of(annotation, span)
    if reader.declared.alias(object(), ASKED, found, span) != ASKED:
        raise NoType(f"a class is called `{ASKED}`", "give it another name")
    tree = ast.Module(NOWHERE, (*reader.declared.uses(), *reader.declared.declarations), "")
    return ReadProgram(NOWHERE, tree, [], reader.declared.classes)


class _Reader:
    def __init__(self) -> None:
        self.findings = Findings()
        self.declared = Declared(self.findings)
        self.main: WrittenFunction | None = None
        """What is called from outside of the program."""
        self.outside: Outside | None = None
        self.annotations = Annotations(self.declared, self._type_named)
        self.called = CalledFunctions(self.declared, self.annotations)
        self.waiting: list[tuple[WrittenFunction, str, bool]] = []
        self.names: dict[tuple[int, bool], str] = {}
        self.statements: list[Span] = []
        self.hints: dict[str, object] = {}

    def read(self, main: WrittenFunction) -> ReadProgram:
        self.main = main
        functions: list[ast.Declaration] = []
        source = Source(main.function.__code__.co_filename, "")
        self._enqueue(main, False)
        while self.waiting:
            one, name, part = self.waiting.pop(0)
            try:
                file, node = function_node(one.function)
            except NoSource as fault:
                self._no_source(one, str(fault))
                continue
            if one is main:
                source = file.source
            made = self._function(one, file, node, name, part)
            if made is not None:
                functions.append(made)
        outer = (*self.declared.declarations, *self.called.declarations)
        declarations = (*self.declared.uses(), *outer, *functions)
        faulty = has_errors(self.findings.diagnostics)
        tree = ast.Module(source, () if faulty else declarations, "")
        return ReadProgram(
            source,
            tree,
            self.findings.diagnostics,
            self.declared.classes,
            self.hints,
            self.statements,
            self.called,
        )

    def _no_source(self, one: WrittenFunction, why: str) -> None:
        self.findings.diagnostics.append(
            Diagnostic(
                "E0507",
                f"the source of `{one.function.__name__}` cannot be read",
                None,
                reason=why,
                hint="write the function into a file or a cell of a notebook: it is translated from its "
                "source",
            )
        )

    # -- what functions name -------------------------------------------------------------------------

    def _enqueue(self, one: WrittenFunction, part: bool) -> str:
        key = (id(one), part)
        if key not in self.names:
            self.names[key] = self.declared.enter(object(), one.function.__name__)
            self.waiting.append((one, self.names[key], part))
        return self.names[key]

    def _function_named(self, value: object, part: bool) -> str:
        found = written(value)
        assert found is not None
        return self._enqueue(found, part)

    def _type_named(self, name: str, span: Span) -> None:
        """Declare what a type that is written in the language names."""
        value = MISSING if self.outside is None else self.outside.look_up(name)
        if name in BUILT_IN:
            return
        if value is MISSING:
            self.declared.use(name, span)
        elif isinstance(value, type) or hasattr(value, "__origin__") or hasattr(value, "__value__"):
            found = self.annotations.of(value, span)
            if self.declared.name_of(value) is None:
                self.declared.alias(value, name, found, span)

    # -- one function --------------------------------------------------------------------------------

    def _function(
        self, one: WrittenFunction, file: PythonFile, node: FunctionNode, name: str, part: bool
    ) -> ast.FunctionDeclaration | None:
        self.outside = Outside(one)
        self.declared.around = one.around
        context = Context(
            file,
            node,
            self.outside,
            self.declared,
            self.annotations,
            self.findings,
            self._function_named,
            self.called,
        )
        with context.reporting():
            return self._declaration(one, context, name, part)
        return None

    def _declaration(
        self, one: WrittenFunction, context: Context, name: str, part: bool
    ) -> ast.FunctionDeclaration:
        node, header = context.node, context.file.header(context.node)
        if isinstance(node, python.AsyncFunctionDef):
            raise context.refuse(
                "E0501",
                "`async def` has no counterpart in the language",
                node,
                label="not translated",
                hint="write `def`; `await f.aio(…)` runs it in a coroutine",
            )
        try:
            hints = hints_of(one.function, one.around)
        except NoType as fault:
            raise Untranslatable("E0506", fault.what, header, label="no type", hint=fault.hint) from None
        arguments = self._arguments(one, context)
        parameters = tuple(self._parameter(context, each, default, hints) for each, default in arguments)
        result = None
        if node.returns is not None and hints.get("return") not in (None, type(None)):
            result = self._type(context, hints["return"], node.returns)
        if one is self.main:
            self.hints = hints
        if one.form == "docstring":
            body = read_docstring(context)
        else:
            self.statements.append(context.span(node))
            body = read_body(context, part)
        return ast.FunctionDeclaration(
            "part" if part else "pure" if one.pure else "fn",
            ast.Name(name, context.file.word(node, node.name)),
            (),
            parameters,
            result,
            None if one.within is None else ast.Number(one.within, header),
            _models(one, header),
            tuple(self._raised(context, each, header) for each in one.raises),
            body,
            one is self.main,
            self._doc(one, node),
            context.span(node),
        )

    def _doc(self, one: WrittenFunction, node: FunctionNode) -> str:
        if one.form == "docstring" or one.doc:
            return one.doc
        return inspect.cleandoc(python.get_docstring(node) or "")

    def _arguments(
        self, one: WrittenFunction, context: Context
    ) -> list[tuple[python.arg, python.expr | None]]:
        """The parameters with their defaults, without the conversation."""
        given = context.node.args
        if given.vararg is not None or given.kwarg is not None:
            star = given.vararg or given.kwarg
            assert star is not None
            raise context.refuse(
                "E0502",
                "`*` and `**` have no counterpart in the language",
                star,
                label="any number of arguments",
                hint="write a parameter for each, or one that is a list",
            )
        plain = [*given.posonlyargs, *given.args]
        missing = [None] * (len(plain) - len(given.defaults))
        pairs = [*zip(plain, [*missing, *given.defaults], strict=True)]
        pairs += zip(given.kwonlyargs, given.kw_defaults, strict=True)
        if one.form == "docstring" or one.pure:
            return pairs
        if not pairs:
            raise Untranslatable(
                "E0508",
                f"`{context.node.name}` has no parameter for the conversation",
                context.file.header(context.node),
                label="no parameters",
                hint=f"write `def {context.node.name}(s, …):`, or `pure=True` where no model is asked",
            )
        context.states.add(pairs[0][0].arg)
        return pairs[1:]

    def _parameter(
        self, context: Context, node: python.arg, default: python.expr | None, hints: dict[str, object]
    ) -> ast.Parameter:
        span = context.span(node)
        type: ast.TypeExpression = ast.TypeName("str", (), span)
        if node.arg in hints:
            type = self._type(context, hints[node.arg], node)
        value = None if default is None else read_default(context, default)
        metadata = getattr(hints.get(node.arg), "__metadata__", ())
        untrusted = any(hasattr(each, "__sgl_untrusted__") for each in metadata)
        name = ast.Name(node.arg, context.file.word(node, node.arg))
        return ast.Parameter(name, untrusted, type, value, span)

    def _type(self, context: Context, annotation: object, node: python.AST) -> ast.TypeExpression:
        try:
            return self.annotations.of(annotation, context.span(node))
        except NoType as fault:
            raise context.refuse("E0506", fault.what, node, label="no type", hint=fault.hint) from None

    def _raised(self, context: Context, error: object, span: Span) -> ast.Name:
        if not (isinstance(error, type) and issubclass(error, BaseException)):
            raise Untranslatable("E0505", "`raises` takes classes of errors", span, label="not a class")
        try:
            return ast.Name(self.declared.error(error, self.annotations, span), span)
        except NoType as fault:
            raise Untranslatable("E0506", fault.what, span, label="no type", hint=fault.hint) from None


def _models(one: WrittenFunction, span: Span) -> ast.ModelClause | None:
    if one.using is None:
        return None
    return ast.ModelClause((ast.ModelName(ast.Name(one.using, span), None, span),), False, span)
